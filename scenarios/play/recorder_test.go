package play

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/transcript"
	"github.com/fwpsuite/fwp/reports"
)

func TestAConversationWithoutAnEndIsNotShownToIt(t *testing.T) {
	t.Parallel()
	var lines []reports.Line
	r := &recorder{start: time.Now(), watch: func(l reports.Line) { lines = append(lines, l) }}
	for i := range 2 * maxWatched {
		r.keep(reports.Line{From: reports.FromServer, Text: []string{"+OK", "-ERR"}[i%2]})
	}
	assert.Len(t, r.lines, maxLines)
	assert.Len(t, lines, maxWatched+1)
	assert.Equal(t, "-ERR", lines[maxWatched-1].Text)
	assert.Contains(t, lines[maxWatched].Text, "the rest is not shown")
}

// What -v prints of a conversation can be read by the tests of a law or a fake.
func TestALineIsPrintedAsTestsReadIt(t *testing.T) {
	t.Parallel()
	for _, l := range []reports.Line{
		{At: 2005 * time.Millisecond, Conn: "a", From: reports.FromClient, Text: "FETCH q"},
		{From: reports.FromServer, Text: "$-1"},
		{Conn: "a", From: reports.FromSuite, Text: "the server is restarted"},
	} {
		var want []transcript.Event
		if l.From != reports.FromSuite {
			want = []transcript.Event{{At: l.At, Conn: l.Conn, Kind: transcript.Client, Bytes: []byte(l.Text + "\r\n")}}
		}
		if l.From == reports.FromServer {
			want[0].Kind = transcript.Server
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
		for range 10 * maxRepetitions {
			r.keep(reports.Line{From: from, Conn: "a", Text: "+OK"})
		}
	}
	count := len(r.lines)
	assert.Equal(t, 20*maxRepetitions, count)
	for range 10 * maxRepetitions {
		r.keep(reports.Line{From: reports.FromServer, Conn: "a", Text: "+OK"})
		r.keep(reports.Line{From: reports.FromServer, Conn: "b", Text: "+OK"})
	}
	r.keep(reports.Line{From: reports.FromServer, Conn: "a", Text: "the connection was closed", IsEnd: true})
	assert.Len(t, r.lines, count+2*maxRepetitions+1)
	assert.Contains(t, r.lines[len(r.lines)-2].Text, "+OK (further ones are left out)")
}
