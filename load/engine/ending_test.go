package engine_test

import (
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/engine"
)

// newEndProbe is a session that, when it is poked, sends so many bytes and ends like that.
func newEndProbe(size int, next engine.Next) *probe {
	return &probe{do: func(_ time.Duration, ev engine.Event) (string, engine.Next) {
		if ev.Kind != engine.Woken {
			return "", engine.Next{}
		}
		return strings.Repeat("x", size), next
	}}
}

// A half-close reaches the peer after what was sent, however long that takes to go, and
// what the peer sends afterwards is still heard.
func TestCloseWrite(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 100, 1 << 20} {
		runHarness(t, func(t *testing.T, w *harness) {
			s := newEndProbe(size, engine.Next{CloseWrite: true})
			p := w.open(s)
			w.poke(s)
			w.poke(s) // what is sent after it is dropped
			got, err := io.ReadAll(p)
			require.NoError(t, err)
			assert.Len(t, got, size)
			write(t, p, "still here")
			p.Close()
			synctest.Wait()
			assert.Equal(t, []string{"0s data still here", "0s ended"}, s.log[len(s.log)-2:])
		})
	}
}

// A reset loses what has not gone, and the session gets no more steps.
func TestReset(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1 << 20} {
		runHarness(t, func(t *testing.T, w *harness) {
			s := newEndProbe(size, engine.Next{Close: true, Reset: true})
			p := w.open(s)
			w.poke(s)
			got, err := io.ReadAll(p)
			require.ErrorIs(t, err, syscall.ECONNRESET)
			assert.Less(t, len(got), max(1, size))
			assert.Equal(t, "0s woken", s.log[len(s.log)-1])
			w.open(s)
			assert.Equal(t, "0s opened", s.log[len(s.log)-1], "it can be opened again")
		})
	}
}

// A session that resets while it is being opened gives the dial up.
func TestResetOfADial(t *testing.T) {
	t.Parallel()
	runHarness(t, func(t *testing.T, w *harness) {
		s := newEndProbe(0, engine.Next{Close: true, Reset: true})
		w.do(func() {
			w.loop.Open(s)
			w.loop.Poke(s)
		})
		synctest.Wait()
		assert.Equal(t, []string{"0s woken"}, s.log)
	})
}
