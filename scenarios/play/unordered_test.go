package play

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMatching(t *testing.T) {
	t.Parallel()
	const y, n = true, false
	tests := map[string]struct {
		fits  [][]bool // by line and reply
		order []int
		all   bool
	}{
		"no line":                    {nil, []int{}, true},
		"as they stand":              {[][]bool{{y, n}, {n, y}}, []int{0, 1}, true},
		"crossed":                    {[][]bool{{n, y}, {y, n}}, []int{1, 0}, true},
		"a line that fits nothing":   {[][]bool{{y, y}, {n, n}}, []int{0, 1}, false},
		"the reply of another line":  {[][]bool{{n, y}, {n, n}}, []int{1, 0}, false},
		"two lines for one reply":    {[][]bool{{n, y}, {n, y}}, []int{1, 0}, false},
		"the first has to make way":  {[][]bool{{y, y}, {y, n}}, []int{1, 0}, true},
		"two have to make way":       {[][]bool{{y, y, n}, {y, n, y}, {y, n, n}}, []int{1, 2, 0}, true},
		"one line, two of its kind":  {[][]bool{{n, y, y}, {y, n, n}, {y, n, n}}, []int{1, 0, 2}, false},
		"three lines, but two reply": {[][]bool{{y, y, n}, {y, y, n}, {y, y, n}}, []int{1, 0, 2}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			order, all := matching(test.fits)
			assert.Equal(t, test.all, all)
			assert.Equal(t, test.order, order)
		})
	}
}
