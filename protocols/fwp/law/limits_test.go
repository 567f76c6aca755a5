package law

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"a":1,"b":2}`: false, `{"a":1,"a":1}`: true, `{"a":"a","b":"a"}`: false,
		`{"a":{"a":1},"b":[{"a":1},{"a":2}]}`: false, `{"a":[[],{"b":{},"b":1}]}`: true,
		`{"a":{"b":1},"c":2,"a":3}`: true, `{"a":"b:c\":d","e":1}`: false, `["a","a"]`: false, `{"a":`: false, ``: false,
		`[9223372036854775807,-9223372036854775808]`: false, `[9223372036854775808]`: true,
		`[1e308,1e-400,9223372036854775808.5]`: false, `[1e309]`: true, `["1e309","\\u0000"]`: false,
		`["a\u0000"]`: true, `{"\u0000":1}`: true,
		strings.Repeat("[", 32) + strings.Repeat("]", 32): false, strings.Repeat("[", 33) + strings.Repeat("]", 33): true,
	} {
		l := ReadLine([]byte("PUSH " + text))
		hasDuplicate, isExtreme := l.limits()
		assert.Equal(t, want, hasDuplicate || isExtreme, text)
	}
}
