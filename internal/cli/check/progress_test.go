package check

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/vbauerster/mpb/v8/decor"
)

func TestBar(t *testing.T) {
	t.Parallel()
	b := newBar(io.Discard, 2)
	b.show(1, 2, "hello/one")
	assert.Equal(t, " hello/one", b.words(decor.Statistics{}))
	b.show(2, 2, "hello/two")
	assert.Contains(t, b.words(decor.Statistics{}), "finishing")
	assert.True(t, b.bar.IsRunning(), "checks may still be tried again")
	b.end()
	assert.False(t, b.bar.IsRunning())
}

func TestBarThatIsNotFilled(t *testing.T) {
	t.Parallel()
	b := newBar(io.Discard, 2)
	b.show(1, 2, "hello/one")
	b.end() // returns
}
