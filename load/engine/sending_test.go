package engine_test

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/engine"
)

// large does not fit into any socket's buffer.
const large = 8 << 20

// talker sends what it is given on the next Woken.
type talker struct {
	probe
	text string
	next engine.Next
}

func newTalker() *talker {
	s := &talker{}
	s.do = func(_ time.Duration, ev engine.Event) (string, engine.Next) {
		if ev.Kind != engine.Woken {
			return "", engine.Next{}
		}
		return s.text, s.next
	}
	return s
}

func TestSlowPeer(t *testing.T) {
	t.Parallel()
	runHarness(t, func(t *testing.T, w *harness) {
		slow, other := newTalker(), &probe{do: echo}
		slowPeer, otherPeer := w.open(slow), w.open(other)
		slow.text = strings.Repeat("a", large)
		w.poke(slow)
		slow.text = "b"
		w.poke(slow)
		time.Sleep(time.Hour)
		write(t, otherPeer, "hello")
		assert.Equal(t, "hello", read(t, otherPeer, 5))

		write(t, slowPeer, "still here")
		synctest.Wait()
		assert.Equal(t, "1h0m0s data still here", slow.log[len(slow.log)-1], "it is read meanwhile")
		assert.Equal(t, strings.Repeat("a", large)+"b", read(t, slowPeer, large+1), "in the order of sending")
		slow.text = "c"
		w.poke(slow)
		assert.Equal(t, "c", read(t, slowPeer, 1))
	})
}

func TestCloseAfterSend(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"nothing": "", "little": "bye", "much": strings.Repeat("a", large)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runHarness(t, func(t *testing.T, w *harness) {
				s := newTalker()
				p := w.open(s)
				s.text, s.next = text, engine.Next{Close: true, Wake: time.Second}
				w.poke(s)
				time.Sleep(2 * time.Second)
				if len(text) == large {
					write(t, p, "to nobody") // else the connection is gone already
				}
				all, err := io.ReadAll(p)
				require.NoError(t, err)
				assert.Len(t, all, len(text))
				w.poke(s)
				assert.Equal(t, []string{"0s opened", "0s woken"}, s.log, "no more steps")
			})
		})
	}
}

func TestLinger(t *testing.T) {
	t.Parallel()
	runHarnessWith(t, engine.Config{Linger: time.Minute}, func(t *testing.T, w *harness) {
		s := newTalker()
		p := w.open(s)
		s.text, s.next = strings.Repeat("a", large), engine.Next{Close: true}
		w.poke(s)
		time.Sleep(59 * time.Second)
		write(t, p, "x")
		time.Sleep(time.Second)
		synctest.Wait()
		_, err := p.Write([]byte("x"))
		require.Error(t, err, "the connection was given up")
		assert.Equal(t, []string{"0s opened", "0s woken"}, s.log)
	})
}
