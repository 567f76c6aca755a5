package lag

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestByHowMuchAConversationIsBehind(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	type line struct{ ready, written time.Duration }
	for name, test := range map[string]struct {
		lines []line
		since time.Duration
		want  time.Duration
	}{
		"nothing was written":        {nil, 0, 0},
		"in time":                    {[]line{{100 * ms, 100 * ms}}, 0, 0},
		"one after the other":        {[]line{{0, 30 * ms}, {100 * ms, 150 * ms}}, 0, 80 * ms},
		"side by side":               {[]line{{0, 30 * ms}, {10 * ms, 40 * ms}, {5 * ms, 20 * ms}}, 0, 40 * ms},
		"many that are hardly late":  {[]line{{0, ms / 2}, {ms, ms * 3 / 2}, {2 * ms, ms * 5 / 2}}, 0, ms * 3 / 2},
		"before the moment":          {[]line{{0, 30 * ms}, {100 * ms, 150 * ms}}, 100 * ms, 50 * ms},
		"before the moment, and all": {[]line{{0, 30 * ms}}, 31 * ms, 0},
	} {
		var d Delay
		start := time.Now()
		for _, l := range test.lines {
			d.Note(start.Add(l.ready), start.Add(l.written))
		}
		assert.Equal(t, test.want, d.Since(start.Add(test.since)), name)
	}
}
