package scenarios

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAConversationWithoutAnEndIsNotShownToIt(t *testing.T) {
	t.Parallel()
	var shown []Line
	r := &recorder{start: time.Now(), watch: func(l Line) { shown = append(shown, l) }}
	for range 2 * mostShown {
		r.keep(Line{From: "S", Text: "+OK"})
	}
	assert.Len(t, r.lines, most)
	assert.Len(t, shown, mostShown+1)
	assert.Equal(t, "+OK", shown[mostShown-1].Text)
	assert.Contains(t, shown[mostShown].Text, "what follows of it is not shown")
}
