package transcript_test

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/transcript"
)

// What a line means, and how it is printed.
func TestLines(t *testing.T) {
	t.Parallel()
	for line, test := range map[string]struct {
		want   transcript.Event
		output string // "": the line itself
	}{
		`2.005 s a C: FETCH q`: {want: transcript.Event{
			At: 2005 * time.Millisecond, Conn: "a", Kind: transcript.Client, Bytes: []byte("FETCH q\r\n"),
		}},
		`0.000 s S: ${"a":"\\n\u2028"}`: {want: transcript.Event{
			Kind: transcript.Server, Bytes: []byte(`${"a":"\n` + "\u2028" + `"}` + "\r\n"),
		}},
		`>     5.007 s  worker  S:  $-1`: {
			transcript.Event{
				At: 5007 * time.Millisecond, Conn: "worker", Kind: transcript.Server, Bytes: []byte("$-1\r\n"), IsMarked: true,
			}, "> 5.007 s worker S: $-1",
		},
		`0.000 s C: add 4\r\nping`: {want: transcript.Event{Kind: transcript.Client, Bytes: []byte("add 4\r\nping\r\n")}},
		`0.000 s C: "IN\xff"`:      {want: transcript.Event{Kind: transcript.Client, Bytes: []byte("IN\xff")}},
		`0.000 s C: " INFO\r\n"`:   {want: transcript.Event{Kind: transcript.Client, Bytes: []byte(" INFO\r\n")}},
		`C: "\"INFO\"\r\n"`: {
			transcript.Event{Kind: transcript.Client, Bytes: []byte("\"INFO\"\r\n")}, `0.000 s C: ""INFO"\r\n"`,
		},
		`0.000 s 12 C: <reset>`: {want: transcript.Event{
			Conn: "12", Kind: transcript.ClientEnd, Bytes: []byte("reset"),
		}},
		`S:  the connection was closed (orderly, FIN)`: {
			transcript.Event{Kind: transcript.ServerEnd, Bytes: []byte("fin")}, "0.000 s S: <fin>",
		},
		`S: the connection was reset`: {
			transcript.Event{Kind: transcript.ServerEnd, Bytes: []byte("reset")}, "0.000 s S: <reset>",
		},
		`a open`:           {transcript.Event{Conn: "a", Bytes: []byte("open")}, "0.000 s a open"},
		`signal w-1 quiet`: {transcript.Event{Bytes: []byte("signal w-1 quiet")}, "0.000 s signal w-1 quiet"},
		`C: \q`:            {output: "error"},
		"C: \xff":          {output: "error"},
		`C: a … (999 bytes in all, SHA-256 0123456789abcdef) … b`: {output: "error"},
		`+2 s`: {output: "error"},
	} {
		events, err := transcript.Parse(line)
		if test.output == "error" {
			require.Error(t, err, line)
			continue
		}
		require.NoError(t, err, line)
		assert.Equal(t, []transcript.Event{test.want}, events, line)
		if test.output == "" {
			test.output = line
		}
		assert.Equal(t, test.output, events[0].String())
	}
}

// A conversation of a report is one that is read, with what the report adds left out.
func TestWhatReportsPrint(t *testing.T) {
	t.Parallel()
	events, err := transcript.Parse(`
		# of a run
		0.004 s  a  --  the server restarts
		0.005 s  a  C:  FETCH q
		a open
	>   2.005 s  a  S:  +OK
	                ^^  expected null
		+2s
		b C: INFO`)
	require.NoError(t, err)
	assert.Equal(t, "0.005 s a C: FETCH q\n0.005 s a open\n> 2.005 s a S: +OK\n4.005 s b C: INFO\n",
		transcript.Text(events))
	_, err = transcript.Parse("a open\n+x")
	require.ErrorContains(t, err, "line 2: ")
	require.ErrorContains(t, err, ": +x")
}

func TestParseAll(t *testing.T) {
	t.Parallel()
	all, err := transcript.ParseAll("# two\n== one\na open\n\n== none")
	require.NoError(t, err)
	events := []transcript.Event{{Conn: "a", Bytes: []byte("open")}}
	assert.Equal(t, map[string][]transcript.Event{"one": events, "none": nil}, all)
	_, err = transcript.ParseAll("== one\na open\n== two\n\n+x")
	require.ErrorContains(t, err, "two: line 2: ")
}

// What clients say and a server answers, in the order of time and connections.
func TestTalk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		place := memnet.NewPlace()
		l := place.MustListen()
		go func() {
			for nc, err := l.Accept(); err == nil; nc, err = l.Accept() {
				go func() {
					_, _ = io.WriteString(nc, "+H")
					_, _ = io.WriteString(nc, "I\r\n")
					_, _ = io.Copy(nc, nc)
					if c, ok := nc.(interface{ SetLinger(sec int) error }); ok {
						_ = c.SetLinger(0)
					}
					nc.Close()
				}()
			}
		}()
		events, err := transcript.Parse("b open\na C: \"IN\"\na C: FO\n+1s\na C: <fin>\nb C: <close>\nc C: <reset>\nrestart")
		require.NoError(t, err)
		log := transcript.NewLog()
		k := transcript.Clients{
			Log: log, Dial: place.MustDial, Wait: synctest.Wait,
			Other: func(e transcript.Event) { log.Add(e.Conn, e.Kind, append(e.Bytes, " done"...)) },
		}
		k.Hold(events)
		k.Close()
		require.NoError(t, l.Close())
		assert.Equal(t, `0.000 s a S: +HI
0.000 s a C: "IN"
0.000 s a S: "IN"
0.000 s a C: FO
0.000 s a S: FO
0.000 s b S: +HI
1.000 s restart done
1.000 s a C: <fin>
1.000 s a S: <reset>
1.000 s b C: <close>
1.000 s c S: +HI
1.000 s c C: <reset>
`, transcript.Text(log.Events()))
	})
}
