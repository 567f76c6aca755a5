package fakeworker

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fwpsuite/fwp/internal/memnet"
)

// day is what happens to a worker in a test, on a server that does what the day says. The zero day is one without jobs
// that ends after a minute with SIGTERM.
type day struct {
	hi       string   // the greeting
	password string   // in the worker's URL
	jobs     []string // delivered one a FETCH
	pushes   []string // of a producer: the worker is one if there are any

	// answer returns the reply to the nth command of a verb, from 1; none for the usual one, "close" for the end of the
	// connection without a reply.
	answer func(verb string, n int) string
	losses []time.Duration // when all connections are closed
	signal string          // that comes first, at signalAt
	at     time.Duration
	ends   time.Duration // when SIGTERM comes; a minute if zero
	late   string        // a job that is there from 16 s on, which a FETCH of 14 s gets
	pieces bool          // the server writes byte by byte

	configure func(*Config)
}

// server plays the server of a day, and writes down what it receives.
type server struct {
	day
	began time.Time

	mu    sync.Mutex
	lines []string // "12.5s FETCH default\r\n": the time, and the line received, as Go writes it
	same  map[string]int
	count map[string]int
	conns map[net.Conn]bool

	serving sync.WaitGroup
}

// play has a worker live through a day, in virtual time, and returns what the server received, and "exit CODE".
func (d day) play(t *testing.T, configure func(*Config)) string {
	t.Helper()
	var transcript string
	synctest.Test(t, func(t *testing.T) {
		nw := memnet.New()
		ln := nw.At("server:7419").MustListen()
		s := &server{day: d, began: time.Now(), count: map[string]int{}, same: map[string]int{}, conns: map[net.Conn]bool{}}
		s.serving.Go(func() { s.accept(ln) })
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		code := d.run(ctx, nw, s, configure)
		time.Sleep(time.Second)
		ln.Close()
		s.lose()
		s.serving.Wait()
		s.log(fmt.Sprintf("exit %d", code))
		transcript = strings.Join(s.lines, "\n")
	})
	return transcript
}

// run runs the worker, or the producer, until it has ended or ten minutes are over.
func (d day) run(ctx context.Context, nw *memnet.Network, s *server, configure func(*Config)) int {
	c := Config{
		Lookup: func(name string) (string, bool) {
			value := map[string]string{
				"FAKTORY_PROVIDER": "JOBS_URL", "JOBS_URL": "tcp://:" + d.password + "@server", "FAKTORY_URL": "tcp://nobody",
			}[name]
			return value, value != ""
		},
		Queues: []string{"high", "low"}, WID: "w-1", Hostname: "host", PID: 7, Labels: []string{"go"}, Concurrency: 2,
	}
	if d.configure != nil {
		d.configure(&c)
	}
	if configure != nil {
		configure(&c)
	}
	c.Dial = nw.DialContext
	w := New(c)
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	for _, at := range d.losses {
		defer time.AfterFunc(at, s.lose).Stop()
	}
	if d.signal != "" {
		defer time.AfterFunc(d.at, func() { w.Signal(d.signal) }).Stop()
	}
	if d.pushes != nil {
		in := strings.NewReader(strings.Join(d.pushes, "\n"))
		return w.Produce(ctx, in, func(line string) { s.log(line) })
	}
	end := d.ends
	if end == 0 {
		end = time.Minute
	}
	defer time.AfterFunc(end, func() { w.Signal("TERM") }).Stop()
	return w.Run(ctx)
}

// log writes down a received line. Where a line is received again at the same time, its number follows: " #2".
func (s *server) log(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text = strings.ReplaceAll(strings.Trim(strconv.Quote(text), `"`), `\"`, `"`)
	line := fmt.Sprintf("%.1fs %s", time.Since(s.began).Seconds(), text)
	if s.same[line]++; s.same[line] > 1 {
		line = fmt.Sprintf("%s #%d", line, s.same[line])
	}
	s.lines = append(s.lines, line)
}

func (s *server) accept(ln net.Listener) {
	for {
		nc, err := ln.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns[nc] = true
		s.mu.Unlock()
		s.serving.Go(func() { s.serve(nc) })
	}
}

// lose closes all connections.
func (s *server) lose() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for nc := range s.conns {
		nc.Close()
	}
	clear(s.conns)
}

// serve greets, 100 ms late so that a HELLO before that shows, and answers commands.
func (s *server) serve(nc net.Conn) {
	defer nc.Close()
	in := bufio.NewReader(nc)
	greeted := make(chan struct{})
	time.AfterFunc(100*time.Millisecond, func() {
		defer close(greeted)
		hi := s.hi
		if hi == "" {
			hi = `+HI {"v":2}`
		}
		_, _ = nc.Write([]byte(hi + "\r\n"))
	})
	defer func() { <-greeted }()
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			if line != "" {
				s.log(line)
			}
			s.log("closed")
			return
		}
		s.log(line)
		<-greeted
		reply := s.reply(line)
		if reply == "close" {
			return
		}
		if s.write(nc, reply) != nil {
			return
		}
	}
}

func (s *server) write(nc net.Conn, reply string) (err error) {
	if !s.pieces {
		_, err = nc.Write([]byte(reply))
		return err
	}
	for i := 0; i < len(reply) && err == nil; i++ {
		_, err = nc.Write([]byte{reply[i]})
		time.Sleep(time.Microsecond)
	}
	return err
}

// reply returns the reply to a line.
func (s *server) reply(line string) string {
	verb, _, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
	s.mu.Lock()
	s.count[verb]++
	n := s.count[verb]
	s.mu.Unlock()
	if s.answer != nil {
		if reply := s.answer(verb, n); reply != "" {
			return reply
		}
	}
	switch verb {
	case "FETCH":
		return s.next()
	case "INFO":
		return "$2\r\n{}\r\n"
	case "":
		return "-ERR empty line\r\n"
	}
	return "+OK\r\n"
}

// next returns the next job, or after two seconds none.
func (s *server) next() string {
	s.mu.Lock()
	if len(s.jobs) > 0 {
		job := s.jobs[0]
		s.jobs = slices.Clone(s.jobs[1:])
		s.mu.Unlock()
		return bulk(job)
	}
	s.mu.Unlock()
	time.Sleep(2 * time.Second)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.late != "" && time.Since(s.began) > 16*time.Second {
		defer func() { s.late = "" }()
		return bulk(s.late)
	}
	return "$-1\r\n"
}

func bulk(text string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text) }

// unit returns a work unit.
func unit(jid, jobtype, args string) string {
	return fmt.Sprintf(`{"jid":%q,"jobtype":%q,"args":%s}`, jid, jobtype, args)
}
