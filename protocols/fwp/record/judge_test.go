package record

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/transcript"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
)

// items reads what passes, in the notation of package transcript, and "1 lost".
func items(t *testing.T, text string) (all []item) {
	t.Helper()
	events, err := transcript.Parse(text)
	require.NoError(t, err)
	for _, e := range events {
		conn, err := strconv.Atoi(e.Conn)
		require.NoError(t, err, e)
		i := item{at: e.At, conn: conn}
		switch e.Kind {
		case transcript.Client:
			i.kind, i.data = clientData, e.Bytes
		case transcript.Server:
			i.kind, i.data = serverData, e.Bytes
		case transcript.ClientEnd:
			i.kind, i.closer, i.isReset = connClose, clientrules.Client, string(e.Bytes) == "reset"
		default:
			i.kind = map[string]itemKind{"open": connOpen, "lost": dataLoss}[string(e.Bytes)]
		}
		require.NotZero(t, i.kind, e)
		all = append(all, i)
	}
	return all
}

// judgeItems returns a judge that has seen what passed, and is not waited for.
func judgeItems(t *testing.T, cfg Config, text string) *judge {
	t.Helper()
	if cfg.MaxScript == 0 {
		cfg.MaxScript = 1 << 20
	}
	j := newJudge(cfg, time.Now())
	for _, i := range items(t, text) {
		j.items([]item{i}, nil)
	}
	return j
}

const greetingLines = `
	1 open
	1 S: +HI {"v":2}
	1 C: HELLO {"v":2,"hostname":"h","wid":"w","pid":1,"labels":[]}
	1 S: +OK
`

// TestSilences: a script waits as long as nothing passed, but not where a reply was awaited: that may come sooner.
func TestSilences(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, text string
		want       []string
	}{
		{"between two commands", "1 C: FETCH q\n1 S: $-1\n+5s\n1 C: FETCH q\n1 S: $-1", []string{"silence 5s"}},
		{"while a reply is awaited", "1 C: FETCH q\n+5s\n1 S: $-1\n1 C: FETCH q\n1 S: $-1", nil},
		{"while another connection awaits a reply", `
			2 open
			2 S: +HI {"v":2}
			2 C: HELLO {"v":2}
			1 C: FETCH q
			+5s
			2 S: +OK
			1 S: $-1`, nil},
		{"too short to matter", "1 C: FETCH q\n1 S: $-1\n+100ms\n1 C: FETCH q\n1 S: $-1", nil},
		{"nobody is connected", "1 C: END\n1 S: +OK\n1 C: <close>\n+9s\n2 open\n2 S: +HI {\"v\":2}", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			j := judgeItems(t, Config{KeepsScript: true}, greetingLines+row.text)
			text, err := j.script.format()
			require.NoError(t, err, "%s", text)
			var silences []string
			for line := range strings.Lines(string(text)) {
				if strings.HasPrefix(line, "silence") {
					silences = append(silences, strings.TrimSpace(line))
				}
			}
			assert.Equal(t, row.want, silences, "%s", text)
		})
	}
}

// TestANumberThatLostBytes: a connection that has lost bytes is not judged any more, and a later one of its number is.
func TestANumberThatLostBytes(t *testing.T) {
	t.Parallel()
	q := newQueue(3 * itemSize)
	put := func(i item) { q.put(i) }
	for _, i := range items(t, "1 open\n2 open\n1 C: INFO\n1 S: $-1\n1 C: <close>\n1 open\n1 C: FLUSH") {
		put(i)
	}
	got, ended, _ := q.take()
	assert.False(t, ended)
	var kinds []itemKind
	for _, i := range got {
		kinds = append(kinds, i.kind)
	}
	assert.Equal(t, []itemKind{connOpen, connOpen, dataLoss, dataLoss}, kinds,
		"its line is lost, what follows skipped, until it is closed")
	assert.Equal(t, 1, got[2].conn)
	put(item{conn: 1, kind: clientData, data: []byte("x")})
	put(item{conn: 1, kind: connClose})
	put(item{conn: 1, kind: connOpen})
	put(item{conn: 1, kind: clientData, data: []byte("INFO\r\n")})
	got, _, _ = q.take()
	require.Len(t, got, 2, "the second connection of the number lost bytes as well; the third is judged")
	assert.Equal(t, connOpen, got[0].kind)
	assert.Equal(t, "INFO\r\n", string(got[1].data))
}

// TestLostBytesAreCounted: neither the connection nor its worker is blamed for bytes that the recorder has not seen.
func TestLostBytesAreCounted(t *testing.T) {
	t.Parallel()
	j := judgeItems(t, Config{}, greetingLines+"+1s\n1 lost\n+1s\n1 C: FLUSH x\n+1s\n2 open\n2 S: +HI {\"v\":2}\n2 C: FLUSH x")
	assert.Equal(t, int64(1), j.counts.UnjudgedConnections)
	assert.Equal(t, 1, j.counts.OpenConnections)
	assert.Equal(t, 2, j.counts.Connections)
	assert.Equal(t, map[string]int64{"hello-not-first": 1, "line-form": 1}, j.counts.Breaches, "of the other connection")
}

// TestNothingCountsBehindTheEnd: what comes after Close has stopped the queue is not judged.
func TestNothingCountsBehindTheEnd(t *testing.T) {
	t.Parallel()
	q := newQueue(1 << 10)
	q.put(item{conn: 1, kind: connOpen})
	q.end(time.Second)
	q.end(time.Minute)
	q.put(item{conn: 2, kind: connOpen})
	got, ended, at := q.take()
	assert.Len(t, got, 1)
	assert.True(t, ended)
	assert.Equal(t, time.Second, at, "the first end counts")
}

// TestDataIsCopied: what is put may be used again by the connection, and belongs to its item.
func TestDataIsCopied(t *testing.T) {
	t.Parallel()
	q, data := newQueue(1<<10), []byte("one")
	for _, text := range []string{"one", "two", "six"} {
		copy(data, text)
		q.put(item{conn: 1, kind: clientData, data: data})
	}
	got, _, _ := q.take()
	texts := []string{}
	for _, i := range got {
		texts = append(texts, string(i.data))
	}
	assert.Equal(t, []string{"one", "two", "six"}, texts)
}

// TestCounts: lines by verb, error replies, bytes, and each breach where it is found.
func TestCounts(t *testing.T) {
	t.Parallel()
	var found []string
	cfg := Config{OnBreach: func(b clientrules.Breach) { found = append(found, b.Name) }}
	j := judgeItems(t, cfg, greetingLines+"+1s\n1 C: NEW {}\n1 S: -ERR no\n1 C: FLUSH x\n1 S: +OK\n+1s\n1 C: <close>")
	c := j.counts
	assert.Equal(t, map[string]int64{"HELLO": 1, "other": 1, "FLUSH": 1}, c.Commands)
	assert.Equal(t, int64(1), c.Errors)
	assert.Zero(t, c.OpenConnections)
	assert.Equal(t, int64(len("+HI {\"v\":2}\r\n+OK\r\n-ERR no\r\n+OK\r\n")), c.ServerBytes)
	assert.Equal(t, []string{"line-form", "closed-without-end"}, found)
}

// TestTimePassesWithADistance: what was read by now may still wait to be judged.
func TestTimePassesWithADistance(t *testing.T) {
	t.Parallel()
	j := judgeItems(t, Config{}, greetingLines)
	j.tick(70*time.Second, 0)
	assert.Equal(t, 69*time.Second, j.now)
	assert.Equal(t, int64(1), j.counts.Breaches["beat-missing"])
	j.tick(10*time.Second, 0)
	assert.Equal(t, 69*time.Second, j.now, "it never goes back")
	lagJudge := judgeItems(t, Config{}, greetingLines)
	lagJudge.tick(time.Second, 20*time.Second)
	lagJudge.tick(70*time.Second, 0)
	assert.Empty(t, lagJudge.counts.Breaches, "the machine was late by 20 s")
}

// What still waits some time after the end of a recording is not judged, and its connections are counted as such.
func TestWhatIsLateIsNotJudged(t *testing.T) {
	t.Parallel()
	j, expired := newJudge(Config{}, time.Now()), make(chan struct{})
	j.items(items(t, "1 open\n2 open\n1 C: INFO"), expired)
	close(expired)
	j.items(items(t, "1 C: FLUSH\n2 C: FLUSH"), expired)
	assert.Equal(t, map[string]int64{"INFO": 1}, j.counts.Commands)
	assert.EqualValues(t, 2, j.counts.UnjudgedConnections)
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1)
		q.end(0)
		ended := time.Now()
		<-q.expired
		assert.Equal(t, drainLimit, time.Since(ended))
	})
}
