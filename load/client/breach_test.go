package client

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestWholeSecondsWithReplies(t *testing.T) {
	t.Parallel()
	var p pulse
	for _, at := range []time.Duration{100 * time.Millisecond, 1900 * time.Millisecond, 4 * time.Second,
		90 * time.Second} {
		p.beat(at)
	}
	cases := []struct {
		from, to time.Duration
		want     int
	}{
		{0, time.Second, 1},
		{0, 999 * time.Millisecond, 0},
		{time.Millisecond, 2 * time.Second, 1},
		{0, 5 * time.Second, 3},
		{2 * time.Second, 4 * time.Second, 0},
		{4 * time.Second, 5 * time.Second, 1},
		{26 * time.Second, 27 * time.Second, 0}, // a minute and a bit before the latest one
		{90 * time.Second, 91 * time.Second, 1},
		{5 * time.Second, 4 * time.Second, 0},
	}
	for _, test := range cases {
		assert.Equal(t, test.want, p.whole(test.from, test.to), "%v to %v", test.from, test.to)
	}
}
