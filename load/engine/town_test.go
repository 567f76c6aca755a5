package engine_test

import (
	"fmt"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/load/engine"
)

// probe is a session that writes down what happens to it, and does what it is told.
type probe struct {
	engine.Link
	log []string
	do  func(now time.Duration, ev engine.Event) (send string, next engine.Next)
}

func (p *probe) Step(now time.Duration, ev engine.Event, out []byte) ([]byte, engine.Next) {
	line := fmt.Sprintf("%v %v", now, ev.Kind)
	if len(ev.In) > 0 {
		line += " " + string(ev.In)
	}
	if ev.Err != nil {
		line += ": " + ev.Err.Error()
	}
	p.log = append(p.log, line)
	if p.do == nil {
		return out, engine.Next{}
	}
	send, next := p.do(now, ev)
	return append(out, send...), next
}

// peer is the other end of a connection, as memnet and package net have it.
type peer interface {
	net.Conn
	CloseWrite() error
	SetLinger(seconds int) error
}

func reset(p peer) {
	_ = p.SetLinger(0)
	p.Close()
}

// harness is an engine of one loop and a listener that it dials.
type harness struct {
	t        *testing.T
	engine   engine.Engine
	loop     engine.Loop
	listener net.Listener
}

// runHarness runs a test in virtual time, in an in-memory network. The bubble does not end
// before all goroutines have, so that every such test finds what leaks.
func runHarness(t *testing.T, test func(t *testing.T, h *harness)) {
	t.Helper()
	runHarnessWith(t, engine.Config{}, test)
}

func runHarnessWith(t *testing.T, config engine.Config, test func(t *testing.T, h *harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		place := memnet.NewPlace()
		listener := place.MustListen()
		if config.Dial == nil {
			config.Dial = place.Dial
		}
		config.CoarseTimers = true
		e := engine.NewPortable(config)
		test(t, &harness{t, e, e.Loops()[0], listener})
		require.NoError(t, e.Close())
		listener.Close()
	})
}

// open opens a session, and returns the other end once both are there.
func (w *harness) open(s engine.Session) peer {
	w.t.Helper()
	w.do(func() { w.loop.Open(s) })
	p := w.accept()
	synctest.Wait()
	return p
}

func (w *harness) accept() peer {
	w.t.Helper()
	conn, err := w.listener.Accept()
	require.NoError(w.t, err)
	return conn.(peer)
}

// do calls fn inside the loop.
func (w *harness) do(fn func()) { w.engine.Do(0, func(time.Duration) { fn() }) }

// poke pokes a session and waits until nothing moves any more.
func (w *harness) poke(s engine.Session) {
	w.do(func() { w.loop.Poke(s) })
	synctest.Wait()
}

func write(t *testing.T, p net.Conn, text string) {
	t.Helper()
	_, err := p.Write([]byte(text))
	require.NoError(t, err)
}

// read reads n bytes.
func read(t *testing.T, p net.Conn, n int) string {
	t.Helper()
	b := make([]byte, n)
	_, err := io.ReadFull(p, b)
	require.NoError(t, err)
	return string(b)
}
