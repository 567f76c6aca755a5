package engine_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/load/engine"
	"github.com/fwpsuite/fwp/load/measure"
)

// pinger sends inline PINGs, one after the other, until the crew has sent enough.
type pinger struct {
	engine.Link
	crew  *pingers
	got   int            // bytes of the reply that have come
	times measure.Timing // of the PING that is under way, or next
}

const ping measure.Op = "ping"

const pong = "+PONG\r\n"

func (p *pinger) Step(now time.Duration, ev engine.Event, out []byte) ([]byte, engine.Next) {
	switch ev.Kind {
	case engine.Opened:
		p.crew.openGroup.Done()
		return out, engine.Next{}
	case engine.Woken:
		if !p.crew.isPaced() || p.times.Intended == 0 {
			p.times = measure.Timing{Intended: p.crew.turn(now), Free: now}
		}
		return p.ping(now, out)
	case engine.Data:
		p.got += len(ev.In)
		if p.got < len(pong) {
			return out, engine.Next{}
		}
		p.got = 0
		p.times.Replied, p.crew.last = now, now
		p.crew.recorder.Command(ping, p.times)
		p.times = measure.Timing{Intended: p.times.Intended + p.crew.every, Free: now}
		if !p.crew.isPaced() {
			p.times.Intended = now
		}
		return p.ping(now, out)
	case engine.Failed, engine.Ended:
		p.crew.onLoss(ev.Err)
	}
	return out, engine.Next{}
}

// ping sends the next PING, or waits until it is due.
func (p *pinger) ping(now time.Duration, out []byte) ([]byte, engine.Next) {
	switch {
	case p.crew.remaining == 0:
		p.crew.finishGroup.Done()
		return out, engine.Next{}
	case now < p.times.Intended:
		return out, engine.Next{Wake: p.times.Intended}
	}
	p.crew.remaining--
	p.times.Sent = now
	return append(out, "PING\r\n"...), engine.Next{}
}

// pingers share a loop.
type pingers struct {
	remaining              int           // PINGs to send
	every                  time.Duration // between two PINGs of a connection; 0: the next one follows the reply
	interval               time.Duration // between two PINGs of all
	turns                  int           // connections that have begun
	start, last            time.Duration // when the first PING was due, and of the last reply
	recorder               measure.Recorder
	openGroup, finishGroup sync.WaitGroup
	onLoss                 func(error)
}

// isPaced reports whether the PINGs are due at a fixed rate.
func (c *pingers) isPaced() bool { return c.every > 0 }

// open opens as many connections as asked for, a few at a time, and returns them when
// they are all there.
func (c *pingers) open(e engine.Engine, connections int) []engine.Session {
	all := make([]engine.Session, 0, connections)
	for len(all) < connections {
		e.Do(0, func(time.Duration) {
			for range min(64, connections-len(all)) {
				p := &pinger{crew: c}
				all = append(all, p)
				c.openGroup.Add(1)
				e.Loops()[0].Open(p)
			}
		})
		c.openGroup.Wait()
	}
	return all
}

// run sends n PINGs, rate of them a second if that is not 0, and awaits their replies.
func (c *pingers) run(e engine.Engine, all []engine.Session, n, rate int) {
	c.finishGroup.Add(len(all))
	e.Do(0, func(now time.Duration) {
		c.remaining, c.start = n, now
		if rate > 0 {
			c.interval = time.Second / time.Duration(rate)
			c.every = c.interval * time.Duration(len(all))
		}
		for _, s := range all {
			e.Loops()[0].Poke(s)
		}
	})
	c.finishGroup.Wait()
}

// turn returns when the next connection begins, so that their PINGs are evenly spaced.
func (c *pingers) turn(now time.Duration) time.Duration {
	c.turns++
	return now + c.interval*time.Duration(c.turns-1)
}

// times returns the times of all PINGs.
func (c *pingers) times(e engine.Engine) (set *measure.Set) {
	e.Do(0, func(now time.Duration) { set = c.recorder.Take(now) })
	return set
}

// sleep sends PINGs at a fixed rate as many load generators do: in a goroutine for each connection, which sleeps until
// the next one is due.
func sleep(o order) (*measure.Set, error) {
	interval := time.Second / time.Duration(o.Rate)
	recorders := make([]measure.Recorder, o.Connections)
	errs := make(chan error)
	start := time.Now()
	for i := range recorders {
		go func() { errs <- sleeper(o, &recorders[i], start.Add(interval*time.Duration(i))) }()
	}
	var all measure.Set
	for range recorders {
		if err := <-errs; err != nil {
			return nil, err
		}
	}
	for i := range recorders {
		all.Add(recorders[i].Take(time.Since(start)))
	}
	return &all, nil
}

// sleeper sends the PINGs of one connection.
func sleeper(o order, to *measure.Recorder, next time.Time) error {
	nc, err := net.Dial("tcp", o.Address) //nolint:noctx // the process ends if it fails
	if err != nil {
		return err
	}
	defer nc.Close()
	start, reply := next, make([]byte, len(pong))
	for range o.Pings / o.Connections {
		t := measure.Timing{Intended: next.Sub(start), Free: time.Since(start)}
		time.Sleep(time.Until(next))
		t.Sent = time.Since(start)
		if _, err := nc.Write([]byte("PING\r\n")); err != nil {
			return err
		}
		if _, err := io.ReadFull(nc, reply); err != nil {
			return err
		}
		t.Replied = time.Since(start)
		to.Command(ping, t)
		next = next.Add(time.Second * time.Duration(o.Connections) / time.Duration(o.Rate))
	}
	return nil
}

// order is what a benchmark asks of a generator, and measured what that answers.
type order struct {
	Answer       string // the file to write it to
	Address      string
	Connections  int
	Pings        int
	Rate         int  // of them a second; 0 for as many as possible
	UseSleepers  bool // in goroutines that sleep, without an engine
	Memory       bool // to be measured, which takes processor time
	Ticks        int  // to be woken so often
	CoarseTimers bool // to sleep so
	Epoll        bool // to be that engine
	Client       bool // to send them through load/client, as the jobs of a load
}

// build makes the engine that the order is for.
func (o order) build() (engine.Engine, error) {
	var config engine.Config
	if o.Address != "" {
		address, err := netip.ParseAddrPort(o.Address)
		if err != nil {
			return nil, err
		}
		config = configFor(address)
	}
	config.CoarseTimers, config.KeepProcessors = o.CoarseTimers, o.Epoll
	if o.Epoll {
		return engine.NewEpoll(config)
	}
	return engine.NewPortable(config), nil
}

type measurement struct {
	HeapAndStack uint64 // bytes in use with all connections idle, beyond those before
	Resident     uint64 // the same of the process, as the system sees it
	Busy         time.Duration
	Elapsed      time.Duration
	Span         time.Duration // from when the first PING was due until the last reply
	LatenessP50  time.Duration
	LatenessP99  time.Duration
	Response     percentiles // of the PINGs
	Service      percentiles
	Lateness     percentiles
}

type percentiles struct{ P50, P99 time.Duration }

// note writes down the times of the PINGs.
func (m *measurement) note(set *measure.Set) {
	percentilesOf := func(kind measure.Measure) percentiles {
		series := measure.SeriesOf(ping, kind)
		return percentiles{percentileOf(set, series, 50), percentileOf(set, series, 99)}
	}
	m.Response, m.Service, m.Lateness = percentilesOf(measure.Response), percentilesOf(measure.Service), percentilesOf(measure.Lateness)
}

// generate is the generator's main.
func generate(job string) error {
	var o order
	if err := json.Unmarshal([]byte(job), &o); err != nil {
		return err
	}
	runtime.GOMAXPROCS(1) // as the tool chooses on two cores with a local target
	if o.Epoll {
		runtime.GOMAXPROCS(2)
	}
	work := drive
	if o.Client {
		work = client
	}
	if o.UseSleepers {
		work = func(o order) (m measurement, err error) {
			start := time.Now()
			set, err := sleep(o)
			if err == nil {
				m.note(set)
			}
			m.Elapsed = time.Since(start)
			return m, err
		}
	}
	m, err := work(o)
	if err != nil {
		return err
	}
	answer, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return os.WriteFile(o.Answer, answer, 0o600)
}

// drive carries out an order with an engine.
func drive(o order) (m measurement, err error) {
	e, err := o.build()
	if err != nil {
		return m, err
	}
	var before, residentBefore uint64
	if o.Memory {
		before, residentBefore = memory(), resident()
	}
	crew := &pingers{onLoss: func(err error) { panic(fmt.Sprint("connection lost: ", err)) }}
	all := crew.open(e, o.Connections)
	start := time.Now()
	crew.run(e, all, o.Pings, o.Rate)
	if o.Ticks > 0 {
		m.LatenessP50, m.LatenessP99 = tick(e, o.Ticks)
	}
	m.Elapsed = time.Since(start)
	m.Busy = e.Busy(0)
	if o.Memory {
		m.HeapAndStack, m.Resident = memory()-before, resident()-residentBefore
	}
	m.note(crew.times(e))
	m.Span = crew.last - crew.start
	runtime.KeepAlive(all)
	return m, nil
}

// memory returns the bytes of heap and stacks that are in use.
func memory() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// resident returns the resident set of this process in bytes, 0 where it cannot be had.
func resident() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages uint64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		return 0
	}
	return pages * uint64(os.Getpagesize())
}

func percentileOf(s *measure.Set, series measure.Series, p float64) time.Duration {
	lower, _ := s.Times(series).Percentile(p)
	return lower
}
