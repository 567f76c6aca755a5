package engine_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/load/engine"
)

// pinger sends inline PINGs, one after the other, until the crew has sent enough.
type pinger struct {
	engine.Link
	crew *pingers
	got  int // bytes of the reply that have come
}

const pong = "+PONG\r\n"

func (p *pinger) Step(_ time.Duration, ev engine.Event, out []byte) ([]byte, engine.Next) {
	switch ev.Kind {
	case engine.Opened:
		p.crew.opened.Done()
		return out, engine.Next{}
	case engine.Woken:
		return p.ping(out)
	case engine.Data:
		p.got += len(ev.In)
		if p.got < len(pong) {
			return out, engine.Next{}
		}
		p.got = 0
		return p.ping(out)
	case engine.Failed, engine.Ended:
		p.crew.lost(ev.Err)
	}
	return out, engine.Next{}
}

func (p *pinger) ping(out []byte) ([]byte, engine.Next) {
	if p.crew.left == 0 {
		p.crew.finished.Done()
		return out, engine.Next{}
	}
	p.crew.left--
	return append(out, "PING\r\n"...), engine.Next{}
}

// pingers share a loop.
type pingers struct {
	left             int // PINGs to send
	opened, finished sync.WaitGroup
	lost             func(error)
}

// open opens as many connections as asked for, a few at a time, and returns them when
// they are all there.
func (c *pingers) open(e engine.Engine, connections int) []engine.Session {
	all := make([]engine.Session, 0, connections)
	for len(all) < connections {
		e.Do(0, func(time.Duration) {
			for range min(64, connections-len(all)) {
				p := &pinger{crew: c}
				all = append(all, p)
				c.opened.Add(1)
				e.Loops()[0].Open(p)
			}
		})
		c.opened.Wait()
	}
	return all
}

// run sends n PINGs and awaits their replies.
func (c *pingers) run(e engine.Engine, all []engine.Session, n int) {
	c.finished.Add(len(all))
	e.Do(0, func(time.Duration) {
		c.left = n
		for _, p := range all {
			e.Loops()[0].Poke(p)
		}
	})
	c.finished.Wait()
}

// order is what a benchmark asks of a generator, and measured what that answers.
type order struct {
	Answer      string // the file to write it to
	Address     string
	Connections int
	Pings       int
	Memory      bool // to be measured, which takes processor time
	Ticks       int  // to be woken so often
	Coarse      bool // to sleep so
	Epoll       bool // to be that engine
}

// build makes the engine that the order is for.
func (o order) build() (engine.Engine, error) {
	var config engine.Config
	if o.Address != "" {
		address, err := netip.ParseAddrPort(o.Address)
		if err != nil {
			return nil, err
		}
		config = connecting(address)
	}
	config.Coarse = o.Coarse
	if o.Epoll {
		return engine.NewEpoll(config)
	}
	return engine.NewPortable(config), nil
}

type measured struct {
	HeapAndStack uint64 // bytes in use with all connections idle, beyond those before
	Resident     uint64 // the same of the process, as the system sees it
	Busy         time.Duration
	Took         time.Duration
	LateP50      time.Duration
	LateP99      time.Duration
}

// generate is the generator's main.
func generate(job string) error {
	var o order
	if err := json.Unmarshal([]byte(job), &o); err != nil {
		return err
	}
	runtime.GOMAXPROCS(1) // as the tool chooses on two cores with a local target
	e, err := o.build()
	if err != nil {
		return err
	}
	var before, residentBefore uint64
	if o.Memory {
		before, residentBefore = memory(), resident()
	}
	crew := &pingers{lost: func(err error) { panic(fmt.Sprint("connection lost: ", err)) }}
	all := crew.open(e, o.Connections)
	var m measured
	began := time.Now()
	crew.run(e, all, o.Pings)
	if o.Ticks > 0 {
		m.LateP50, m.LateP99 = tick(e, o.Ticks)
	}
	m.Took = time.Since(began)
	m.Busy = e.Busy(0)
	if o.Memory {
		m.HeapAndStack, m.Resident = memory()-before, resident()-residentBefore
	}
	runtime.KeepAlive(all)
	answer, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return os.WriteFile(o.Answer, answer, 0o600)
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
