package engine_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/engine"
)

// TestWakes lets a session without a connection answer its steps with the given wakes.
func TestWakes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		wakes []engine.Next // by step; the first step is at 1 s
		want  []string
	}{
		"none": {want: []string{"1s woken"}},
		"one":  {wakes: []engine.Next{{Wake: 3 * time.Second}}, want: []string{"1s woken", "3s woken"}},
		"now":  {wakes: []engine.Next{{Wake: time.Second}}, want: []string{"1s woken", "1s woken"}},
		"past": {wakes: []engine.Next{{Wake: 1}}, want: []string{"1s woken", "1s woken"}},
		"in turns": {wakes: []engine.Next{{Wake: 2e9}, {Wake: 2e9 + 1}}, want: []string{"1s woken", "2s woken",
			"2.000000001s woken"}},
		"close": {wakes: []engine.Next{{Wake: 3 * time.Second, Close: true}}, want: []string{"1s woken"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runHarness(t, func(t *testing.T, w *harness) {
				s := &probe{}
				s.do = func(time.Duration, engine.Event) (string, engine.Next) {
					if len(s.log) > len(test.wakes) {
						return "", engine.Next{}
					}
					return "", test.wakes[len(s.log)-1]
				}
				time.Sleep(time.Second)
				w.poke(s)
				time.Sleep(time.Hour)
				synctest.Wait()
				assert.Equal(t, test.want, s.log)
			})
		})
	}
}

func TestWakeIsReplaced(t *testing.T) {
	t.Parallel()
	runHarness(t, func(t *testing.T, w *harness) {
		wakes := []time.Duration{10 * time.Second, 5 * time.Second, 20 * time.Second, 0}
		s := &probe{}
		s.do = func(time.Duration, engine.Event) (string, engine.Next) {
			return "", engine.Next{Wake: wakes[min(len(s.log), len(wakes))-1]}
		}
		p := w.open(s)
		write(t, p, "a")
		time.Sleep(12 * time.Second) // past 5 s, where it was woken: 20 s is next
		write(t, p, "b")
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Equal(t, []string{"0s opened", "0s data a", "5s woken", "12s data b"}, s.log)
	})
}

func TestManyWakes(t *testing.T) {
	t.Parallel()
	runHarness(t, func(t *testing.T, w *harness) {
		const sessions = 1000
		var order []time.Duration
		all := make([]probe, sessions)
		w.do(func() {
			for i := range all {
				at := time.Duration(i*7919%sessions+1) * time.Millisecond
				all[i].do = func(now time.Duration, _ engine.Event) (string, engine.Next) {
					if now < at {
						return "", engine.Next{Wake: at}
					}
					assert.Equal(t, at, now)
					order = append(order, now)
					return "", engine.Next{}
				}
				w.loop.Poke(&all[i])
			}
		})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		assert.Len(t, order, sessions)
		assert.IsIncreasing(t, order)
	})
}

func TestPoke(t *testing.T) {
	t.Parallel()
	runHarness(t, func(t *testing.T, w *harness) {
		var order []string
		newProbe := func(name string, action func()) *probe {
			return &probe{do: func(_ time.Duration, ev engine.Event) (string, engine.Next) {
				order = append(order, name)
				action()
				return "", engine.Next{}
			}}
		}
		c := newProbe("c", func() {})
		a := newProbe("a", func() {})
		b := newProbe("b", func() { w.loop.Poke(a) })
		idle := newProbe("timer", func() {})
		w.do(func() {
			w.loop.Poke(idle)
			w.loop.Poke(b)
			w.loop.Poke(c)
			w.loop.Poke(b)
			assert.Empty(t, order, "not before Do's function has returned")
		})
		assert.Equal(t, []string{"timer", "b", "c", "a"}, order)
	})
}

func TestOffload(t *testing.T) {
	t.Parallel()
	runHarness(t, func(t *testing.T, w *harness) {
		var running, peak int
		var all []*probe
		work := func() {
			running++
			peak = max(peak, running)
			time.Sleep(time.Second)
			running--
		}
		w.do(func() {
			for range 3 {
				s := &probe{}
				all = append(all, s)
				w.loop.Offload(s, work)
			}
		})
		w.do(func() {}) // the loop is not held up
		time.Sleep(10 * time.Second)
		w.do(func() { w.loop.Offload(all[0], work) })
		time.Sleep(10 * time.Second)
		synctest.Wait()
		assert.Equal(t, 1, peak, "one at a time")
		for i, want := range [][]string{{"1s woken", "11s woken"}, {"2s woken"}, {"3s woken"}} {
			assert.Equal(t, want, all[i].log)
		}
	})
}

// TestEngineClose closes the engine with a session in each state; that nothing of it
// runs any more after it is what runHarness sees to.
func TestEngineClose(t *testing.T) {
	t.Parallel()
	tests := map[string]func(w *harness, s *talker){
		"never opened": func(*harness, *talker) {},
		"timer":        func(w *harness, s *talker) { s.next.Wake = time.Hour; w.poke(s) },
		"open":         func(w *harness, s *talker) { w.open(s) },
		"stuck": func(w *harness, s *talker) {
			w.open(s)
			s.text = strings.Repeat("a", large)
			w.poke(s)
		},
		"closing": func(w *harness, s *talker) {
			w.open(s)
			s.text, s.next.Close = strings.Repeat("a", large), true
			w.poke(s)
		},
		"closed": func(w *harness, s *talker) { w.open(s); s.next.Close = true; w.poke(s) },
		"ended":  func(w *harness, s *talker) { w.open(s).Close() },
		"aside": func(w *harness, s *talker) {
			work := func() { time.Sleep(time.Second) }
			w.do(func() { w.loop.Offload(s, work); w.loop.Offload(s, work) })
		},
	}
	for name, setUp := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runHarness(t, func(t *testing.T, w *harness) {
				s := newTalker()
				setUp(w, s)
				synctest.Wait()
				before := len(s.log)
				require.NoError(t, w.engine.Close())
				w.do(func() {
					if name == "never opened" {
						w.loop.Open(s)
					}
					w.loop.Poke(s)
					w.loop.Offload(s, func() { t.Error("worked after the end") })
				})
				time.Sleep(2 * time.Hour)
				assert.Len(t, s.log, before, "no more steps")
			})
		})
	}
}

func TestEngineCloseWhileDialling(t *testing.T) {
	t.Parallel()
	dials := map[string]func(ctx context.Context) (net.Conn, error){
		"that is given up": slowDial,
		"that succeeds late": func(ctx context.Context) (net.Conn, error) {
			return slowDial(context.WithoutCancel(ctx))
		},
	}
	for name, dial := range dials {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runHarnessWith(t, engine.Config{Dial: dial}, func(t *testing.T, w *harness) {
				s := &probe{}
				w.do(func() { w.loop.Open(s) })
				synctest.Wait()
				require.NoError(t, w.engine.Close())
				assert.Empty(t, s.log)
			})
		})
	}
}

func TestLoops(t *testing.T) {
	t.Parallel()
	runHarnessWith(t, engine.Config{Loops: 3}, func(t *testing.T, w *harness) {
		require.Len(t, w.engine.Loops(), 3)
		for i, l := range w.engine.Loops() {
			s := &probe{}
			w.engine.Do(i, func(now time.Duration) {
				assert.Equal(t, now, l.Now())
				l.Poke(s)
			})
			assert.Equal(t, []string{"0s woken"}, s.log)
			assert.Zero(t, w.engine.Busy(i), "in virtual time a step takes none")
		}
	})
}
