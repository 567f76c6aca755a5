package monitor

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// What has ended is forgotten: a Watch can stand in front of a server for days.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	w := NewWatch(Config{Server: true})
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
	w.See(Event{At: at + 2*goneFor, Kind: Passed})
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
	r := newRecent(100)
	for n := range 1000 {
		r.add(fmt.Sprint(n))
		assert.LessOrEqual(t, len(r.now)+len(r.old), 100)
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
		b := NewBuilder(func(e Event) { texts = append(texts, fmt.Sprint(e.Kind, e.To, e.Extra, e.Wrong, e.Moment().Text)) })
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
	b := NewBuilder(func(e Event) { kinds = append(kinds, fmt.Sprint(e.Kind, " ", e.Verb(), " ", e.Unread)) })
	b.Open(0, 1, 0)
	b.Client(0, 1, []byte("PUSH {"))
	piece := make([]byte, 1<<20)
	for range 6 {
		b.Client(0, 1, piece)
		assert.LessOrEqual(t, cap(b.conns[1].client), 2*MaxKept)
	}
	b.Client(0, 1, []byte("}\r\nINFO\r\n"))
	assert.Equal(t, []string{"opened  false", "line PUSH true", "line INFO false"}, kinds)
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
	assert.Empty(t, w.See(Event{At: time.Hour, Kind: Passed}))
	assert.Empty(t, w.End(2*time.Hour))
}

func BenchmarkWatch(b *testing.B) {
	w := NewWatch(Config{Server: true})
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
