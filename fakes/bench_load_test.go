//go:build unix

package fakes_test

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkRoundTrip is PUSH, FETCH and ACK of a job on each of many connections, over
// TCP, to a server in another process. Each of the two processes has a file descriptor
// for each connection.
func BenchmarkRoundTrip(b *testing.B) {
	benchmark(b, 0, (*client).roundTrips)
}

// BenchmarkHandOver has every fifth connection PUSH what the others fetch and
// acknowledge, so that nearly every FETCH waits for a job.
func BenchmarkHandOver(b *testing.B) {
	benchmark(b, 0.2, func(c *client, n int) error {
		if c.number%5 == 0 {
			return c.pushes(4 * n)
		}
		return c.works(n)
	})
}

func benchmark(b *testing.B, producers float64, play func(c *client, n int) error) {
	b.Helper()
	for _, connections := range []int{50, 1000, 10000} {
		b.Run(fmt.Sprintf("connections=%d", connections), func(b *testing.B) {
			load(b, connections, connections-int(producers*float64(connections)), play)
		})
	}
}

// load has each of so many connections that work take its share of b.N jobs.
func load(b *testing.B, connections, workers int, play func(c *client, n int) error) {
	b.Helper()
	p := startProcess(b)
	_, empty := p.usage(b)
	clients := make([]*client, connections)
	for i := range clients {
		clients[i] = newClient(b, p.addr, i)
	}
	_, idleMemory := p.usage(b)
	run(b, clients, 2, play) // everything that grows has grown
	jobsPerClient := (b.N + workers - 1) / workers
	runtime.GC()
	before, _ := p.usage(b)
	b.ResetTimer()
	run(b, clients, jobsPerClient, play)
	b.StopTimer()
	after, busyMemory := p.usage(b)
	jobs := float64(jobsPerClient * workers)
	b.ReportMetric(jobs/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric(float64(after-before)/jobs, "server-ns/job")
	b.ReportMetric(float64(idleMemory-empty)/float64(connections), "idle-B/conn")
	b.ReportMetric(float64(busyMemory-empty)/float64(connections), "busy-B/conn")
}

func run(b *testing.B, clients []*client, jobsPerClient int, play func(c *client, n int) error) {
	b.Helper()
	var wg sync.WaitGroup
	errs := make(chan error, len(clients))
	for _, c := range clients {
		wg.Go(func() {
			if err := play(c, jobsPerClient); err != nil {
				errs <- err
			}
		})
	}
	wg.Wait()
	select {
	case err := <-errs:
		b.Fatal(err)
	default:
	}
}

// client is the least that loads a server.
type client struct {
	number int
	conn   net.Conn
	push   []byte
	ack    []byte
	in     []byte
}

const jidMark = `"jid":"`

func newClient(b *testing.B, addr string, n int) *client {
	b.Helper()
	conn, err := new(net.Dialer).DialContext(b.Context(), "tcp", addr)
	require.NoError(b, err)
	b.Cleanup(func() { conn.Close() })
	c := &client{number: n, conn: conn, in: make([]byte, 512)}
	jid := fmt.Sprintf("%020d", n)
	c.push = fmt.Appendf(nil, `PUSH {"jid":"%s","jobtype":"bench","args":[1,2,3],"queue":"bench"}`+"\r\n", jid)
	_, err = c.read()
	require.NoError(b, err)
	got, err := c.do([]byte("HELLO {\"v\":2}\r\n"))
	require.NoError(b, err)
	require.Equal(b, "+OK\r\n", string(got))
	return c
}

func (c *client) do(line []byte) ([]byte, error) {
	if _, err := c.conn.Write(line); err != nil {
		return nil, err
	}
	return c.read()
}

// read returns a reply unparsed; it finds only where the reply ends.
func (c *client) read() ([]byte, error) {
	for n := 0; ; {
		m, err := c.conn.Read(c.in[n:])
		if err != nil {
			return nil, err
		}
		n += m
		if isComplete(c.in[:n]) {
			return c.in[:n], nil
		}
	}
}

func isComplete(reply []byte) bool {
	text := string(reply)
	if !strings.HasSuffix(text, "\r\n") {
		return false
	}
	if text[0] != '$' || text == "$-1\r\n" {
		return true
	}
	head, payload, _ := strings.Cut(text, "\r\n")
	size, err := strconv.Atoi(head[1:])
	return err != nil || len(payload) >= size+2
}

func (c *client) ok(line []byte) error {
	got, err := c.do(line)
	if err == nil && string(got) != "+OK\r\n" {
		err = fmt.Errorf("%s: %s", line, got)
	}
	return err
}

func (c *client) roundTrips(n int) error {
	for range n {
		if err := errors.Join(c.pushes(1), c.works(1)); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) pushes(n int) error {
	for range n {
		if err := c.ok(c.push); err != nil {
			return err
		}
	}
	return nil
}

// works fetches n jobs and acknowledges them.
func (c *client) works(n int) error {
	for range n {
		if err := c.work(); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) work() error {
	got, err := c.do([]byte("FETCH bench\r\n"))
	if err == nil && string(got) == "$-1\r\n" {
		return c.work()
	}
	if err != nil {
		return err
	}
	_, rest, ok := strings.Cut(string(got), jidMark)
	jid, _, _ := strings.Cut(rest, `"`)
	if !ok {
		return fmt.Errorf("FETCH: %s", got)
	}
	c.ack = append(c.ack[:0], `ACK {"jid":"`...)
	c.ack = append(append(c.ack, jid...), "\"}\r\n"...)
	return c.ok(c.ack)
}
