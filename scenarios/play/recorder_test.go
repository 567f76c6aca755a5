package play

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/transcript"
)

func TestAConversationWithoutAnEndIsNotShownToIt(t *testing.T) {
	t.Parallel()
	var shown []Line
	r := &recorder{start: time.Now(), watch: func(l Line) { shown = append(shown, l) }}
	for i := range 2 * mostShown {
		r.keep(Line{From: "S", Text: []string{"+OK", "-ERR"}[i%2]})
	}
	assert.Len(t, r.lines, most)
	assert.Len(t, shown, mostShown+1)
	assert.Equal(t, "-ERR", shown[mostShown-1].Text)
	assert.Contains(t, shown[mostShown].Text, "the rest is not shown")
}

// What -v prints of a conversation can be read by the tests of a law or a fake.
func TestALineIsPrintedAsTestsReadIt(t *testing.T) {
	t.Parallel()
	for _, l := range []Line{
		{At: 2005 * time.Millisecond, Conn: "a", From: "C", Text: "FETCH q"}, {From: "S", Text: "$-1"},
		{Conn: "a", From: "--", Text: "the server is restarted"},
	} {
		var want []transcript.Event
		if l.From != "--" {
			kind := map[string]transcript.Kind{"C": transcript.Client, "S": transcript.Server}[l.From]
			want = []transcript.Event{{At: l.At, Conn: l.Conn, Kind: kind, Bytes: []byte(l.Text + "\r\n")}}
		}
		events, err := transcript.Parse(l.String())
		require.NoError(t, err)
		assert.Equal(t, want, events, l)
	}
}

func TestTheSameLineAgainAndAgainIsLeftOut(t *testing.T) {
	t.Parallel()
	r := &recorder{start: time.Now()}
	for _, from := range []string{"C", "S"} { // each is asked for
		for range 10 * mostAlike {
			r.keep(Line{From: from, Conn: "a", Text: "+OK"})
		}
	}
	asked := len(r.lines)
	assert.Equal(t, 20*mostAlike, asked)
	for range 10 * mostAlike {
		r.keep(Line{From: "S", Conn: "a", Text: "+OK"})
		r.keep(Line{From: "S", Conn: "b", Text: "+OK"})
	}
	r.keep(Line{From: "S", Conn: "a", Text: "the connection was closed", Ended: true})
	assert.Len(t, r.lines, asked+2*mostAlike+1)
	assert.Contains(t, r.lines[len(r.lines)-2].Text, "+OK (further ones are left out)")
}
