package fakes_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/bugs"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// seams records the points at which a hook was called, without those that every command
// passes.
type seams struct {
	mu     sync.Mutex
	points []fakes.Point
}

func (s *seams) hook(e *fakes.Event) {
	switch e.Point {
	case fakes.Received, fakes.LineRead, fakes.Unfinished, fakes.Parsed, fakes.Ran, fakes.Writing:
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.points = append(s.points, e.Point)
}

// takePoints returns the points since its last call.
func (s *seams) takePoints() []fakes.Point {
	s.mu.Lock()
	defer s.mu.Unlock()
	points := s.points
	s.points = nil
	return points
}

func TestTheHookSeesEverySeam(t *testing.T) {
	t.Parallel()
	var s seams
	withMemoryServer(t, fakes.Config{Hook: s.hook, FetchBlock: time.Hour}, func(t *testing.T, _ *fakes.Server, dial func() *wire) {
		w := dial()
		w.read()
		assert.Equal(t, []fakes.Point{fakes.Accepted, fakes.Greeting}, s.takePoints())
		w.do(strings.Replace(consumer, "%s", "w", 1))
		w.do(job("a", `"reserve_for":60`))
		assert.Equal(t, []fakes.Point{fakes.Checked, fakes.Checked, fakes.Defaulted, fakes.Enqueued}, s.takePoints())
		w.do("FETCH")
		w.do("FETCH")
		w.do(`FAIL {"jid":"a"}`)
		assert.Equal(t, []fakes.Point{fakes.Checked, fakes.Reserved, fakes.Delivered, fakes.Checked, fakes.Expired,
			fakes.Scheduled,
			fakes.ComingDue, fakes.Enqueued, fakes.Reserved, fakes.Delivered, fakes.Checked, fakes.Failed, fakes.Scheduled}, s.takePoints())
		w.do("FETCH")
		s.takePoints()
		w.do(`ACK {"jid":"a"}`)
		w.do(`BEAT {"wid":"w"}`)
		w.do("FLUSH")
		w.send("FETCH\r\n")
		synctest.Wait()
		w.conn.Close()
		synctest.Wait()
		assert.Equal(t, []fakes.Point{fakes.Checked, fakes.Acked, fakes.Checked, fakes.Notified, fakes.Checked, fakes.Flushed,
			fakes.Checked, fakes.Disconnected}, s.takePoints())
	})
}

func TestALineWithoutAnEnd(t *testing.T) {
	t.Parallel()
	for isCommand, want := range map[bool]string{false: "", true: "-ERR HELLO must come first\r\n"} {
		hook := func(e *fakes.Event) {
			if e.Point == fakes.Unfinished {
				assert.Equal(t, "INFO", string(e.Line))
				e.Skip = !isCommand
			}
		}
		withMemoryServer(t, fakes.Config{Hook: hook}, func(t *testing.T, _ *fakes.Server, dial func() *wire) {
			w := dial()
			w.read()
			w.send("INFO")
			require.NoError(t, w.conn.(interface{ CloseWrite() error }).CloseWrite())
			rest, err := io.ReadAll(w.in)
			require.NoError(t, err)
			assert.Equal(t, want, string(rest))
		})
	}
}

// hooked runs a test with a producer at a server with a hook.
func hooked(t *testing.T, hook func(*fakes.Event), test func(t *testing.T, w *wire)) {
	t.Helper()
	withMemoryServer(t, fakes.Config{Hook: hook}, func(t *testing.T, _ *fakes.Server, dial func() *wire) {
		test(t, dial().greet(producer))
	})
}

func TestAHookCanWriteInPiecesAndLate(t *testing.T) {
	t.Parallel()
	slowHook := func(e *fakes.Event) {
		if e.Point == fakes.Writing {
			e.Chunk, e.ChunkPause, e.Delay = 1, time.Millisecond, 30*time.Millisecond
		}
	}
	hooked(t, slowHook, func(t *testing.T, w *wire) {
		begin := time.Now()
		assert.Equal(t, "+OK", w.do("FLUSH"))
		assert.Equal(t, 34*time.Millisecond, elapsed(begin))
	})
}

func TestAHookCanCloseAProducerThatIsIdle(t *testing.T) {
	t.Parallel()
	closeHook := func(e *fakes.Event) {
		if e.Point == fakes.Writing {
			e.DelayedWrite = &fakes.DelayedWrite{After: time.Minute, Close: true}
		}
	}
	hooked(t, closeHook, func(t *testing.T, w *wire) {
		time.Sleep(59 * time.Second)
		assert.Equal(t, "+OK", w.do("FLUSH"))
		begin := time.Now()
		w.expectEnd()
		assert.Equal(t, time.Minute, elapsed(begin))
	})
}

func TestAHookCanWakeOnAnyQueue(t *testing.T) {
	t.Parallel()
	waking := func(e *fakes.Event) {
		if e.Point == fakes.Checked {
			e.WaitQueues = e.Queues
		}
		if e.Point == fakes.Parsed && e.Command.Verb == "TELL" {
			e.Command = fwp.Command{Verb: "PUSH", Args: []byte(`{"jid":"told","jobtype":"t","args":[],"queue":"b"}`)}
		}
	}
	hooked(t, waking, func(t *testing.T, w *wire) {
		at := time.Now().Add(time.Second).Format(time.RFC3339Nano)
		require.Equal(t, "+OK", w.do(job("j", `"queue":"b","at":"`+at+`"`)))
		assert.Contains(t, w.do("FETCH a b"), `"j"`)
		assert.Equal(t, "+OK", w.do("TELL"))
		assert.Contains(t, w.do("FETCH a b"), `"told"`)
	})
}

func TestAHookCanForgive(t *testing.T) {
	t.Parallel()
	lenient := func(e *fakes.Event) {
		r, ok := errors.AsType[*fakes.Refusal](e.Err)
		switch {
		case !ok:
		case e.Point == fakes.LineRead && r.About == fakes.AboutUTF8:
			e.Line, e.Err = []byte(strings.ToValidUTF8(string(e.Line), "\ufffd")), nil
		case e.Point == fakes.Checked && r.About == "reserve_for":
			e.Object.Set("reserve_for", "60")
			e.Err, e.Skip = nil, false
		case e.Point == fakes.Ran && r.About == fakes.AboutJob:
			e.Err, e.Reply = nil, fwp.Reply{Kind: fwp.SimpleString, Text: []byte("OK")}
		}
	}
	hooked(t, lenient, func(t *testing.T, w *wire) {
		assert.Equal(t, "+OK", w.do(`ACK {"jid":"unknown"}`))
		assert.Equal(t, "+OK", w.do(job("a\xff", `"reserve_for":5`)))
		got := w.do("FETCH")
		assert.Contains(t, got, "\"a\ufffd\"")
		assert.Contains(t, got, `"reserve_for":60`)
	})
}

func TestAHookCanCloseInsteadOfAnswering(t *testing.T) {
	t.Parallel()
	cutHook := func(e *fakes.Event) {
		if e.Point == fakes.Writing && e.Command.Verb == fwp.INFO {
			e.Bytes, e.Close = e.Bytes[:3], true
		}
	}
	hooked(t, cutHook, func(t *testing.T, w *wire) {
		w.send("INFO\r\n")
		_, err := w.try()
		assert.Error(t, err)
	})
}

func TestRepliesOfTwoConnectionsSwapped(t *testing.T) {
	t.Parallel()
	i := slices.IndexFunc(bugs.All(), func(f fakes.Bug) bool { return f.Name == "reply-swapped" })
	withMemoryServer(t, fakes.Config{Hook: bugs.All()[i].Hook()}, func(t *testing.T, _ *fakes.Server, dial func() *wire) {
		a, b := dial().greet(producer), dial().greet(producer)
		for range 49 {
			require.Equal(t, "+OK", a.do(job("a", `"queue":"a"`)))
			require.Contains(t, a.do("FETCH a"), `"queue":"a"`)
		}
		a.do(job("a", `"queue":"a"`))
		b.do(job("b", `"queue":"b"`))
		a.send("FETCH a\r\n")
		synctest.Wait()
		assert.Contains(t, b.do("FETCH b"), `"queue":"a"`)
		assert.Contains(t, a.read(), `"queue":"b"`)
	})
}

// TestCloseHasABound: a hook that waits for ever does not hold up who closes the server.
func TestCloseHasABound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s, dial := memory(t, fakes.Config{Hook: func(e *fakes.Event) {
			if e.Point == fakes.Enqueued { // it holds the lock of the store
				<-release
			}
		}})
		dial().greet(producer).send(job("1", "") + "\r\n")
		synctest.Wait()
		begin := time.Now()
		s.Close()
		assert.Equal(t, 10*time.Second, elapsed(begin))
		close(release)
	})
}
