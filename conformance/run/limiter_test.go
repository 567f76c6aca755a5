package run

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/scenarios/play"
)

func TestConnLimiter(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		begun, all int
		want       connLimiter
	}{
		"begun under this limit":     {0, 400, connLimiter{limit: 300, lowered: 1}},
		"fewer were open":            {0, 10, connLimiter{limit: 10, lowered: 1}},
		"begun under an earlier one": {-1, 350, connLimiter{limit: 350}},
		"none were open":             {0, 0, connLimiter{limit: 1, lowered: 1}},
	}
	for name, test := range tests {
		l := connLimiter{limit: mostConnections}
		l.lower(test.begun, &play.Refusal{All: test.all})
		assert.Equal(t, test.want, l, name)
		for range lonely {
			assert.False(t, l.refusesAll, "it may not have noticed yet that others were closed")
			l.refusedLone()
		}
		assert.Equal(t, mostConnections, l.limit)
		assert.True(t, l.refusesAll)
	}
}
