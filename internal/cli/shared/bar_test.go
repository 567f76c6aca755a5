package shared

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

func TestProgressLineFitsTheTerminal(t *testing.T) {
	t.Parallel()
	parts := []string{"measure", "12 s left", "1,216 of 2,000 /s", "no errors", "7,804 queued", "péage\x1b[2J"}
	assert.Equal(t, "[======       ] measure, 12 s left, 1,216 of 2,000 /s, no errors, 7,804 queued",
		progressLine(parts, 0.5, 80))
	assert.Equal(t, "measure, 12 s left, 1,216 of 2,000 /s", progressLine(parts, 0.5, 40))
	assert.Equal(t, "measure", progressLine(parts, 0.5, 10))
	assert.NotContains(t, progressLine(parts, 0.5, barWidth+minWords-1), "[")
	assert.Contains(t, progressLine(parts, 0.5, barWidth+minWords), "[")
	for columns := range 200 {
		line := progressLine(parts, float64(columns)/100, columns)
		assert.LessOrEqual(t, utf8.RuneCountInString(line), columns)
		_, words, _ := strings.Cut(line, "] ")
		assert.NotContains(t, line, "\x1b")
		assert.True(t, columns > 90 || strings.HasPrefix(strings.Join(parts, ", "), words), "%q", line)
	}
}

func TestBar(t *testing.T) {
	t.Parallel()
	var out lockedBuilder
	p := terminalProcess(true, nil)
	p.Err = &out
	bar := p.NewBar(true)
	p.Logf("before")
	assert.Equal(t, ": before\n", out.take())
	drawn := make(chan struct{}, 100)
	bar.Begin(func() (float64, []string) {
		select {
		case drawn <- struct{}{}:
		default:
		}
		return 0.5, []string{"half", "12 s"}
	})
	<-drawn
	p.Logf("a message")
	<-drawn
	<-drawn
	bar.End()
	output := out.take()
	assert.Contains(t, output, "[======       ] half, 12 s")
	assert.Contains(t, output, ": a message\n")
	bar.End()
	p.Logf("after")
	assert.Equal(t, ": after\n", out.take())
}

// lockedBuilder is a strings.Builder for several goroutines.
type lockedBuilder struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuilder) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(text)
}

// take returns what was written since the last call.
func (b *lockedBuilder) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.text.Reset()
	return b.text.String()
}

func TestNoBar(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		isEnabled, isTerminal bool
		env                   map[string]string
	}{
		{isEnabled: true},
		{isTerminal: true},
		{isEnabled: true, isTerminal: true, env: map[string]string{"CI": "true"}},
		{isEnabled: true, isTerminal: true, env: map[string]string{"TERM": "dumb"}},
	} {
		p := terminalProcess(test.isTerminal, test.env)
		p.Err = io.Discard
		bar := p.NewBar(test.isEnabled)
		bar.Begin(func() (float64, []string) { panic("drawn") })
		bar.End()
		assert.Nil(t, bar.progress, fmt.Sprint(test))
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0 s", 12*time.Second + 400*time.Millisecond: "12 s", 59*time.Second + 600*time.Millisecond: "1m 0s",
		80 * time.Second: "1m 20s", 2*time.Hour + 5*time.Minute + time.Second: "2h 5m",
	} {
		assert.Equal(t, want, Clock(d))
	}
}
