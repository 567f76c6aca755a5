package oracle

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNamesTwice(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"a":1,"b":2}`: false, `{"a":1,"a":1}`: true, `{"a":"a","b":"a"}`: false,
		`{"a":{"a":1},"b":[{"a":1},{"a":2}]}`: false, `{"a":[[],{"b":{},"b":1}]}`: true,
		`{"a":{"b":1},"c":2,"a":3}`: true, `["a","a"]`: false, `{"a":`: false, ``: false,
	} {
		assert.Equal(t, want, namesTwice([]byte(text)), text)
	}
}
