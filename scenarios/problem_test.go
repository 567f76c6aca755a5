package scenarios

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAProblemShowsItsPlaceHarmlessly(t *testing.T) {
	t.Parallel()
	far := strings.Repeat("x", 250)
	for _, test := range []struct {
		source     string
		col, width int
		want       string
	}{
		{"S: +OK", 4, 3, "    S: +OK\n       ^^^"},
		{"S:\t+OK", 7, 1, "    S: +OK\n          ^"},
		{"S: \x1b[2J\u202e+OK", 9, 3, "    S: \\x1b[2J\\u202e+OK\n                    ^^^"},
		{far + "y" + far, 251, 1, "    …" + far[:200] + "y" + far[:200] + "…\n" + strings.Repeat(" ", 205) + "^"},
		{"", 9, 0, "    \n    ^"},
	} {
		p := &Problem{File: "a.fwp", Pos: Pos{Line: 2, Col: test.col, Width: test.width}, Source: test.source, Message: "why"}
		assert.Equal(t, "a.fwp:2:"+strings.TrimPrefix(p.Error(), "a.fwp:2:"), p.Error())
		_, shown, _ := strings.Cut(p.Error(), "why\n")
		assert.Equal(t, test.want, shown)
	}
}
