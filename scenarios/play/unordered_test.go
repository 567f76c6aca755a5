package play

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEveryLineFits(t *testing.T) {
	t.Parallel()
	const y, n = true, false
	tests := map[string]struct {
		fits [][]bool // by line and reply
		want bool
	}{
		"no line":                           {nil, true},
		"as they stand":                     {[][]bool{{y, n}, {n, y}}, true},
		"crossed":                           {[][]bool{{n, y}, {y, n}}, true},
		"a line that fits nothing":          {[][]bool{{y, y}, {n, n}}, false},
		"two lines for one reply":           {[][]bool{{n, y}, {n, y}}, false},
		"the first has to make way":         {[][]bool{{y, y}, {y, n}}, true},
		"two have to make way":              {[][]bool{{y, y, n}, {y, n, y}, {y, n, n}}, true},
		"three lines, and two replies only": {[][]bool{{y, y, n}, {y, y, n}, {y, y, n}}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, everyLineFits(test.fits))
		})
	}
}
