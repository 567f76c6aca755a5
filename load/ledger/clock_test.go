package ledger

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestTheClockOfTheServer(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for name, test := range map[string]struct {
		stamps [][2]time.Duration // at least and at most
		ahead  time.Duration
		agrees bool
	}{
		"nothing is known":           {},
		"no difference is needed":    {[][2]time.Duration{{-5 * s, 3 * s}, {-s, 2 * s}}, 0, true},
		"ahead":                      {[][2]time.Duration{{90 * s, 91 * s}, {85 * s, 95 * s}}, 90 * s, true},
		"behind":                     {[][2]time.Duration{{-31 * s, -30 * s}, {-40 * s, -20 * s}}, -30 * s, true},
		"they contradict each other": {[][2]time.Duration{{0, 0}, {90 * s, 90 * s}}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := New()
			for _, stamp := range test.stamps {
				l.BookStamp(stamp[0], stamp[1])
			}
			assert.Equal(t, test.ahead, l.Clock().Offset())
			assert.Equal(t, test.agrees, l.Clock().Agrees())
		})
	}
}
