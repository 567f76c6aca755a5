package explore

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNothingOfOthersIsTouched(t *testing.T) {
	t.Parallel()
	tests := []struct {
		bytes               string
		shared, alone, full bool
	}{
		{"FETCH fwp-q1\r\n", false, false, false},
		{"FETCH fwp-q1 fwp-q2\r\n", false, false, false},
		{"FETCH\r\n", true, false, false},
		{"FETCH \r\n", true, false, false},
		{"fetch default\r\n", true, false, false},
		{"FETCH fwp-q1 5\r\n", true, false, false},
		{"INFO\r\nFETCH default\r\n", true, false, false},
		{"PUSH {\"jid\":\"FETCH\"}\r\n", false, false, false},
		{"FLUSH\r\n", true, true, false},
		{"BEAT {}\nFLUSH x\r\n", true, true, false},
		{"", false, false, false},
	}
	for _, test := range tests {
		play := func(c config) *play { return newPlay(&c, "fwp") }
		assert.Equal(t, test.shared, play(config{}).meddles([]byte(test.bytes)), test.bytes)
		assert.Equal(t, test.alone, play(config{alone: true}).meddles([]byte(test.bytes)), test.bytes)
		assert.Equal(t, test.full, play(config{alone: true, flush: true}).meddles([]byte(test.bytes)), test.bytes)
	}
}
