package clientrules

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// What has ended is forgotten: a Watch can stand in front of a server for days.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	w := NewWatch(Config{JudgesServer: true})
	b := NewBuilder(func(e Event) { w.See(e) })
	at := time.Duration(0)
	const rounds = 2000
	for n := 1; n <= rounds; n++ {
		at += 10 * time.Millisecond
		send := func(line string) { b.Client(at, n, []byte(line+"\r\n")) }
		reply := func(line string) { b.Server(at, n, []byte(line+"\r\n")) }
		b.Open(at, n, 0)
		reply(`+HI {"v":2}`)
		send(fmt.Sprintf(`HELLO {"v":2,"hostname":"h","wid":"w%d","pid":1,"labels":[]}`, n))
		reply("+OK")
		for _, jid := range []string{fmt.Sprintf("done%d", n), fmt.Sprintf("held%d", n)} {
			send("FETCH")
			job := `{"jid":"` + jid + `","jobtype":"t","args":[]}`
			reply(fmt.Sprintf("$%d\r\n%s", len(job), job))
		}
		send(fmt.Sprintf(`ACK {"jid":"done%d"}`, n))
		reply("+OK")
		send(fmt.Sprintf(`PUSH {"jid":"push%d","jobtype":"t","args":[]}`, n))
		reply("+OK")
		b.Close(at, n, Server, true)
	}
	w.See(Event{At: at + 2*absenceLimit, Kind: TimePassage})
	assert.Empty(t, b.conns)
	assert.Empty(t, w.world.conns)
	assert.Empty(t, w.world.workers)
	assert.Empty(t, w.world.jobs)
	for _, r := range w.Results() {
		assert.LessOrEqual(t, len(r.Examples), maxExamples)
	}
}

func TestRecentForgetsTheOldest(t *testing.T) {
	t.Parallel()
	r := newRecentSet(100)
	for n := range 1000 {
		r.add(fmt.Sprint(n))
		assert.LessOrEqual(t, len(r.current)+len(r.previous), 100)
	}
	assert.True(t, r.has("960"), "at least half of the limit is kept")
	assert.False(t, r.has("1"))
	r.drop("960")
	assert.False(t, r.has("960"))
}

// How bytes are cut into segments has no influence on the events.
func TestSegmentsDoNotMatter(t *testing.T) {
	t.Parallel()
	client := "HELLO {\"v\":2}\r\nINFO\nPUSH {\"jid\":\"\xff\"}\r\n\r\nFETCH a b\r\nhalf"
	server := "+HI {\"v\":2}\r\n+OK\r\n$7\r\n{\"a\":1}\r\n-ERR x\r\n$-1\r\n:5\r\n$3\r\nab"
	events := func(cut func(rest int) int) (texts []string) {
		b := NewBuilder(func(e Event) {
			texts = append(texts, fmt.Sprint(e.Kind, e.ReplyVerb, e.IsExtra, e.Mistakes, e.Moment().Text))
		})
		b.Open(0, 1, 0)
		for text := client; text != ""; {
			n := cut(len(text))
			b.Client(0, 1, []byte(text[:n]))
			text = text[n:]
		}
		for text := server; text != ""; {
			n := cut(len(text))
			b.Server(0, 1, []byte(text[:n]))
			text = text[n:]
		}
		b.Close(0, 1, Client, false)
		return texts
	}
	want := events(func(rest int) int { return rest })
	assert.Len(t, want, 1+5+6+1)
	assert.Equal(t, want, events(func(int) int { return 1 }))
	draw := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // not for secrets
	for range 50 {
		assert.Equal(t, want, events(func(rest int) int { return 1 + draw.IntN(rest) }))
	}
}

// A line and a reply that are too long are not kept, and what follows is judged again.
func TestWhatIsTooLong(t *testing.T) {
	t.Parallel()
	var kinds []string
	b := NewBuilder(func(e Event) { kinds = append(kinds, fmt.Sprint(e.Kind, " ", e.Verb(), " ", e.IsUnread)) })
	b.Open(0, 1, 0)
	b.Client(0, 1, []byte("PUSH {"))
	piece := make([]byte, 1<<20)
	for range 3 * MaxMessage / 2 / len(piece) {
		b.Client(0, 1, piece)
		assert.LessOrEqual(t, cap(b.conns[1].clientBytes), 2*MaxMessage)
	}
	b.Client(0, 1, []byte("}\r\nINFO\r\n"))
	assert.Equal(t, []string{"opened  false", "line PUSH true", "line INFO false"}, kinds)
}

// TestRepliesBeyondLimits: a reply that is too long to be read is a breach if no reply to its command can be of its
// kind.
func TestRepliesBeyondLimits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ sent, got, name string }{
		{"", "*2147483647\r\n", "foreign-reply:"},
		{"INFO\r\n", "+HI {\"v\":2}\r\n*2147483647\r\n", "foreign-reply:INFO"},
		{"INFO\r\n", "+HI {\"v\":2}\r\n$500000000\r\n", ""},
		{"INFO\r\n", "+HI {\"v\":2}\r\n$600000000\r\n", "grammar:length"},
		{"", "+HI {\"v\":2}\r\n*2147483647\r\n", ""}, // no command asked for it
	} {
		w, names := NewWatch(Config{JudgesServer: true}), ""
		b := NewBuilder(func(e Event) {
			for _, breach := range w.See(e) {
				if e.Kind == BrokenReply {
					names += breach.Name
				}
			}
		})
		b.Open(0, 1, 0)
		b.Client(0, 1, []byte(test.sent))
		b.Server(0, 1, []byte(test.got))
		assert.Equal(t, test.name, names, "%q", test.got)
	}
}

// A lost connection, and its worker, are not judged any more.
func TestLostBytes(t *testing.T) {
	t.Parallel()
	w := NewWatch(Config{})
	b := NewBuilder(func(e Event) { assert.Empty(t, w.See(e)) })
	b.Open(0, 1, 0)
	b.Server(0, 1, []byte("+HI {\"v\":2}\r\n"))
	b.Client(0, 1, []byte(`HELLO {"v":2,"hostname":"h","wid":"w","pid":1,"labels":[]}`+"\r\n"))
	b.Server(0, 1, []byte("+OK\r\n"))
	b.Lose(0, 1)
	b.Client(0, 1, []byte("nonsense\n"))
	assert.Empty(t, w.See(Event{At: time.Hour, Kind: TimePassage}))
	assert.Empty(t, w.End(2*time.Hour))
}

// A report on a connection that is not judged any more may be of a job that came there again.
func TestJobsBehindLostBytes(t *testing.T) {
	t.Parallel()
	w := NewWatch(Config{})
	b := NewBuilder(func(e Event) { assert.Empty(t, w.See(e)) })
	for conn := 1; conn <= 2; conn++ {
		b.Open(0, conn, 0)
		b.Server(0, conn, []byte("+HI {\"v\":2}\r\n"))
		b.Client(0, conn, []byte(`HELLO {"v":2,"hostname":"h","wid":"w","pid":1,"labels":[]}`+"\r\n"))
		b.Server(0, conn, []byte("+OK\r\n"))
	}
	for range 2 {
		b.Client(0, 1, []byte("FETCH\r\n"))
		b.Server(0, 1, []byte("$36\r\n"+`{"jid":"j1","jobtype":"t","args":[]}`+"\r\n"))
		b.Client(0, 1, []byte(`ACK {"jid":"j1"}`+"\r\n"))
		b.Server(0, 1, []byte("+OK\r\n"))
		b.Lose(0, 2)
	}
}

func BenchmarkWatch(b *testing.B) {
	w := NewWatch(Config{JudgesServer: true})
	build := NewBuilder(func(e Event) { w.See(e) })
	build.Open(0, 1, 0)
	build.Server(0, 1, []byte("+HI {\"v\":2}\r\n"))
	build.Client(0, 1, []byte("HELLO {\"v\":2}\r\n"))
	build.Server(0, 1, []byte("+OK\r\n"))
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		at := time.Duration(n) * time.Microsecond
		build.Client(at, 1, fmt.Appendf(nil, `PUSH {"jid":"%016d","jobtype":"mail","args":[1,"two"],"queue":"q"}`+"\r\n", n))
		build.Server(at, 1, []byte("+OK\r\n"))
	}
}

// What peers send without an end is kept up to a limit for all connections; the one beyond it is lost.
func TestUnfinishedBytesOfAllConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	losses := 0
	b := NewBuilder(func(e Event) {
		if e.Kind == ByteLoss {
			losses++
		}
	})
	endless := bytes.Repeat([]byte("A"), 1<<20)
	const conns = 30
	for conn := range conns {
		b.Open(0, conn, 0)
	}
	for range 5 {
		for conn := range conns {
			b.Client(0, conn, endless)
			b.Server(0, conn, append([]byte("$4000000\r\n"), endless...))
			assert.LessOrEqual(t, int(b.KeptBytes.Load()), MaxKeptBytes)
		}
	}
	assert.Positive(t, losses)
	assert.Less(t, losses, conns)
	for conn := range conns {
		b.Close(0, conn, Client, true)
	}
	assert.Zero(t, b.KeptBytes.Load())
	assert.Empty(t, b.conns)
}

// A message that would take many times its bytes loses its connection, or passes unread; no rule is held against it.
func TestMessagesThatTakeTooMuch(t *testing.T) {
	t.Parallel()
	array := `[` + strings.Repeat("1,", maxValues) + `1]`
	text := strings.Repeat("A", maxHello)
	const hi = "+HI {\"v\":2}\r\n"
	for name, test := range map[string]struct{ server, client, rest, want string }{
		"a greeting of 64 KiB": {`+HI {"v":2,"x":"` + text + "\"}\r\n", "", "", "lost "},
		"a HELLO of 64 KiB":    {hi, `HELLO {"v":2,"x":"` + text + "\"}\r\n", "", "lost "},
		"a wide line":          {hi, `PUSH {"jid":"12345678","jobtype":"t","args":` + array + "}\r\n", "", "line PUSH"},
		"a wide reply":         {hi, "INFO\r\n", fmt.Sprintf("$%d\r\n%s\r\n", len(array), array), "lost "},
		"a wide array":         {hi, "INFO\r\n", "*1000000000\r\n" + strings.Repeat(":1\r\n", maxArray), "broken reply "},
		"a slow array":         {hi, "INFO\r\n", "*60000\r\n" + strings.Repeat(":1\r\n", 50_000), "lost "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			last := ""
			w := NewWatch(Config{JudgesServer: true})
			b := NewBuilder(func(e Event) {
				last = fmt.Sprint(e.Kind, " ", e.Verb())
				if e.Kind != BrokenReply {
					for _, breach := range w.See(e) {
						assert.Equal(t, "hello-not-first", breach.Name)
					}
				}
			})
			b.Open(0, 1, 0)
			b.Server(0, 1, []byte(test.server))
			b.Client(0, 1, []byte(test.client))
			b.Server(0, 1, []byte(test.rest))
			assert.Equal(t, test.want, last)
		})
	}
}

// Ids that are too long are kept as short ones, which differ as they do.
func TestLongNamesAreKeptShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	ids := map[string]bool{}
	b := NewBuilder(func(e Event) {
		if e.Kind == Line {
			jid, _ := e.Object["jid"].(string)
			assert.Less(t, len(jid)+len(e.Command.Verb), 2*maxName)
			ids[jid+e.Command.Verb] = true
		}
	})
	b.Open(0, 1, 0)
	for _, line := range []string{`ACK {"jid":"` + long + `1"}`, `ACK {"jid":"` + long + `2"}`, long} {
		b.Client(0, 1, []byte(line+"\r\n"))
	}
	assert.Len(t, ids, 3)
}
