package fakes_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

func TestTheHookSeesEverySeam(t *testing.T) {
	var mu sync.Mutex
	var points []fakes.Point
	hook := func(e *fakes.Event) {
		mu.Lock()
		defer mu.Unlock()
		points = append(points, e.Point)
	}
	seen := func() []fakes.Point {
		mu.Lock()
		defer mu.Unlock()
		was := points
		points = nil
		return slices.DeleteFunc(was, func(p fakes.Point) bool {
			return p == fakes.Received || p == fakes.LineRead || p == fakes.Parsed || p == fakes.Ran || p == fakes.Writing
		})
	}
	inMemory(t, fakes.Config{Hook: hook, FetchBlock: time.Hour}, func(t *testing.T, _ *fakes.Server, dial func() *wire) {
		w := dial()
		w.read()
		assert.Equal(t, []fakes.Point{fakes.Accepted, fakes.Greeting}, seen())
		w.do(strings.Replace(consumer, "%s", "w", 1))
		w.do(job("a", `"reserve_for":60`))
		assert.Equal(t, []fakes.Point{fakes.Judged, fakes.Judged, fakes.Defaulted, fakes.Enqueued}, seen())
		w.do("FETCH")
		w.do("FETCH")
		w.do(`FAIL {"jid":"a"}`)
		assert.Equal(t, []fakes.Point{fakes.Judged, fakes.Reserved, fakes.Delivered, fakes.Judged, fakes.Expired, fakes.Scheduled,
			fakes.Due, fakes.Enqueued, fakes.Reserved, fakes.Delivered, fakes.Judged, fakes.Failed, fakes.Scheduled}, seen())
		w.do("FETCH")
		seen()
		w.do(`ACK {"jid":"a"}`)
		w.do(`BEAT {"wid":"w"}`)
		w.do("FLUSH")
		w.send("FETCH\r\n")
		synctest.Wait()
		w.conn.Close()
		synctest.Wait()
		assert.Equal(t, []fakes.Point{fakes.Judged, fakes.Acked, fakes.Judged, fakes.Told, fakes.Judged, fakes.Flushed, fakes.Judged, fakes.Gone}, seen())
	})
}

// What is asked of servers that differ and are right, in the words of the hook.
func TestWhatAHookCanSay(t *testing.T) {
	tests := map[string]struct {
		hook func(*fakes.Event)
		test func(t *testing.T, w *wire)
	}{
		"pieces and latency": {
			func(e *fakes.Event) {
				if e.Point == fakes.Writing {
					e.Chunk, e.Pause, e.Delay = 1, time.Millisecond, 30*time.Millisecond
				}
			},
			func(t *testing.T, w *wire) {
				begin := time.Now()
				assert.Equal(t, "+OK", w.do("FLUSH"))
				assert.Equal(t, 34*time.Millisecond, since(begin))
			},
		},
		"a producer that is idle is closed": {
			func(e *fakes.Event) {
				if e.Point == fakes.Writing {
					e.Later = &fakes.Later{After: time.Minute, Close: true}
				}
			},
			func(t *testing.T, w *wire) {
				time.Sleep(59 * time.Second)
				assert.Equal(t, "+OK", w.do("FLUSH"))
				begin := time.Now()
				w.ended()
				assert.Equal(t, time.Minute, since(begin))
			},
		},
		"waking on any queue": {
			func(e *fakes.Event) {
				if e.Point == fakes.Judged {
					e.Block = e.Queues
				}
				if e.Point == fakes.Parsed && e.Command.Verb == "TELL" {
					e.Command = fwp.Command{Verb: "PUSH", Args: []byte(`{"jid":"told","jobtype":"t","args":[],"queue":"b"}`)}
				}
			},
			func(t *testing.T, w *wire) {
				w.send(job("j", `"queue":"b","at":"`+time.Now().Add(time.Second).Format(time.RFC3339Nano)+`"`) + "\r\n")
				require.Equal(t, "+OK", w.read())
				assert.Contains(t, w.do("FETCH a b"), `"j"`)
				assert.Equal(t, "+OK", w.do("TELL"))
				assert.Contains(t, w.do("FETCH a b"), `"told"`)
			},
		},
		"unknown jids taken, bad UTF-8 mended, short reserve_for raised": {
			func(e *fakes.Event) {
				r, ok := e.Err.(*fakes.Refusal)
				switch {
				case !ok:
				case e.Point == fakes.LineRead && r.About == fakes.AboutUTF8:
					e.Line, e.Err = []byte(strings.ToValidUTF8(string(e.Line), "\ufffd")), nil
				case e.Point == fakes.Judged && r.About == "reserve_for":
					e.Object.Set("reserve_for", "60")
					e.Err, e.Skip = nil, false
				case e.Point == fakes.Ran && r.About == fakes.AboutJob:
					e.Err, e.Reply = nil, fwp.Reply{Kind: fwp.SimpleString, Text: []byte("OK")}
				}
			},
			func(t *testing.T, w *wire) {
				assert.Equal(t, "+OK", w.do(`ACK {"jid":"unknown"}`))
				assert.Equal(t, "+OK", w.do(job("a\xff", `"reserve_for":5`)))
				got := w.do("FETCH")
				assert.Contains(t, got, "\"a\ufffd\"")
				assert.Contains(t, got, `"reserve_for":60`)
			},
		},
		"the connection is closed instead": {
			func(e *fakes.Event) {
				if e.Point == fakes.Writing && e.Command.Verb == fwp.INFO {
					e.Bytes, e.Close = e.Bytes[:3], true
				}
			},
			func(t *testing.T, w *wire) {
				w.send("INFO\r\n")
				_, err := w.try()
				assert.Error(t, err)
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			inMemory(t, fakes.Config{Hook: test.hook}, func(t *testing.T, _ *fakes.Server, dial func() *wire) {
				test.test(t, dial().greet(producer))
			})
		})
	}
}

func TestRepliesOfTwoConnectionsSwapped(t *testing.T) {
	i := slices.IndexFunc(fakes.Faults(), func(f fakes.Fault) bool { return f.Name == "reply-swapped" })
	inMemory(t, fakes.Config{Hook: fakes.Faults()[i].Hook()}, func(t *testing.T, _ *fakes.Server, dial func() *wire) {
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
