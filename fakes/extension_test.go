package fakes

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// likeClient is a connection to a server that is like Faktory, which sends LF.
type likeClient struct {
	t  *testing.T
	nc net.Conn
	in *bufio.Reader
}

func dialLike(t *testing.T, s *Server, hello string) *likeClient {
	t.Helper()
	nc, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { nc.Close() })
	c := &likeClient{t, nc, bufio.NewReader(nc)}
	c.read()
	require.Equal(t, "+OK", c.do(hello))
	return c
}

func (c *likeClient) do(line string) string {
	c.t.Helper()
	_, err := fmt.Fprintf(c.nc, "%s\n", line)
	require.NoError(c.t, err)
	return c.read()
}

func (c *likeClient) read() string {
	c.t.Helper()
	line, err := c.in.ReadString('\n')
	require.NoError(c.t, err)
	if strings.HasPrefix(line, "$") && line != "$-1\r\n" {
		line, err = c.in.ReadString('\n')
		require.NoError(c.t, err)
	}
	return strings.TrimSpace(line)
}

// in returns the jids of the jobs in a place.
func in(s *Server, place string) (jids []string) {
	for _, j := range s.Jobs() {
		if j.Place == place {
			jids = append(jids, j.JID)
		}
	}
	return jids
}

func likeJob(jid, jobtype, rest string) string {
	return fmt.Sprintf(`{"jid":"%s","jobtype":"%s","args":[]%s}`, jid, jobtype, rest)
}

const atMember = `,"at":"2999-01-01T00:00:00Z"`

func TestLikePushB(t *testing.T) {
	t.Parallel()
	s := NewServer(Config{Extension: Faktory})
	t.Cleanup(s.Close)
	c := dialLike(t, s, "HELLO {}")
	assert.Equal(t, "{}", c.do("PUSHB []"))
	assert.JSONEq(t, `{"b":"jobtype must be a string"}`,
		c.do("PUSHB ["+likeJob("a", "x", "")+`,{"jid":"b","args":[]},`+likeJob("c", "x", atMember)+"]"))
	assert.Equal(t, []string{"a"}, in(s, "queue"))
	assert.Equal(t, []string{"c"}, in(s, "scheduled"))
	for _, line := range []string{"PUSHB", "PUSHB {}", "PUSHB [1]", "PUSHB null", "PUSHB ["} {
		assert.Contains(t, c.do(line), "-ERR", line)
	}
}

func TestLikeQueue(t *testing.T) {
	t.Parallel()
	s := NewServer(Config{Extension: Faktory, FetchBlock: 1})
	t.Cleanup(s.Close)
	c := dialLike(t, s, "HELLO {}")
	c.do("PUSH " + likeJob("a", "x", `,"queue":"q"`))
	c.do("PUSH " + likeJob("b", "x", `,"queue":"r"`))
	assert.Equal(t, "+OK", c.do("QUEUE PAUSE q nosuch"))
	assert.Equal(t, "$-1", c.do("FETCH q"), "it is paused")
	assert.Contains(t, c.do("FETCH q r"), `"b"`)
	assert.Equal(t, "+OK", c.do("QUEUE pause *"))
	c.do("PUSH " + likeJob("c", "x", `,"queue":"r"`))
	assert.Equal(t, "$-1", c.do("FETCH r"), "an empty queue is known still")
	assert.Equal(t, "+OK", c.do("QUEUE RESUME q"))
	assert.Contains(t, c.do("FETCH q"), `"a"`)
	s.Advance(90_000_000_000)
	assert.Regexp(t, `^{"none":0,"r":9\d\.`, c.do("QUEUE LATENCY r none"))
	assert.Equal(t, "+OK", c.do("QUEUE REMOVE r"))
	assert.Empty(t, in(s, "queue"))
	c.do("PUSH " + likeJob("d", "x", `,"queue":"r"`))
	assert.Contains(t, c.do("FETCH r"), `"d"`, "a queue that was removed is not paused")
	for _, line := range []string{"QUEUE", "QUEUE PAUSE", "QUEUE STOP q", "QUEUE LATENCY *"} {
		assert.Contains(t, c.do(line), "-ERR", line)
	}
}

// A consumer that waits on a paused queue gets its job when the queue is resumed.
func TestLikeResumeWakes(t *testing.T) {
	t.Parallel()
	s := NewServer(Config{Extension: Faktory, FetchBlock: 1 << 40})
	t.Cleanup(s.Close)
	c, other := dialLike(t, s, "HELLO {}"), dialLike(t, s, "HELLO {}")
	c.do("QUEUE PAUSE q")
	c.do("PUSH " + likeJob("a", "x", `,"queue":"q"`))
	got := make(chan string)
	go func() { got <- other.do("FETCH r q") }()
	c.do("QUEUE RESUME q")
	assert.Contains(t, <-got, `"a"`)
}

func TestLikeMutate(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		mutate                 string
		scheduled, queue, dead []string
	}{
		"kill by jid":      {`{"cmd":"kill","target":"scheduled","filter":{"jids":["a","z"]}}`, []string{"b", "c"}, nil, []string{"a"}},
		"discard by type":  {`{"cmd":"discard","target":"scheduled","filter":{"jobtype":"y"}}`, []string{"a", "b"}, nil, nil},
		"requeue by both":  {`{"cmd":"requeue","target":"scheduled","filter":{"jobtype":"x","jids":["b","c"]}}`, []string{"a", "c"}, []string{"b"}, nil},
		"by pattern":       {`{"cmd":"kill","target":"scheduled","filter":{"regexp":"*/u?i[dx]:7*"}}`, []string{"a", "c"}, nil, []string{"b"}},
		"without a filter": {`{"cmd":"requeue","target":"scheduled"}`, nil, []string{"a", "b", "c"}, nil},
		"clear":            {`{"cmd": "clear", "target": "scheduled"}`, nil, nil, nil},
		"another set":      {`{"cmd":"clear","target":"retries"}`, []string{"a", "b", "c"}, nil, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewServer(Config{Extension: Faktory})
			t.Cleanup(s.Close)
			c := dialLike(t, s, "HELLO {}")
			c.do("PUSHB [" + likeJob("a", "x", atMember) + "," + likeJob("b", "x", `,"custom":{"p":"a/b/uuid:7"}`+atMember) + "," +
				likeJob("c", "y", atMember) + "]")
			assert.Equal(t, "+OK", c.do("MUTATE "+test.mutate))
			assert.ElementsMatch(t, test.scheduled, in(s, "scheduled"))
			assert.ElementsMatch(t, test.queue, in(s, "queue"))
			assert.Equal(t, test.dead, in(s, "dead"))
			c.do(`MUTATE {"cmd":"requeue","target":"dead"}`)
			assert.Empty(t, in(s, "dead"))
			assert.Contains(t, c.do("INFO"), `"dead":0`)
		})
	}
}

func TestLikeRefusals(t *testing.T) {
	t.Parallel()
	s := NewServer(Config{Extension: Faktory, Password: "secret"})
	t.Cleanup(s.Close)
	hi := &likeClient{t: t}
	var err error
	hi.nc, err = new(net.Dialer).DialContext(t.Context(), "tcp", s.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { hi.nc.Close() })
	hi.in = bufio.NewReader(hi.nc)
	_, salt, _ := strings.Cut(hi.read(), `"s":"`)
	salt, _, _ = strings.Cut(salt, `"`)
	assert.Equal(t, "+OK", hi.do(`HELLO {"pwdhash":"`+Hash("secret"+salt, 1)+`"}`), "a client without v hashes once")
	for _, line := range []string{
		"MUTATE", "MUTATE {}", `MUTATE {"cmd":"kill","target":"working"}`, `MUTATE {"cmd":"x","target":"dead"}`,
		`MUTATE {"cmd":"kill","target":"dead","filter":[]}`, `MUTATE {"cmd":"kill","target":"dead","filter":{"regexp":"["}}`,
		"BATCH NEW", "BATCH NEW x", "BATCH OPEN nosuch", "BATCH X y", "TRACK SET", "NOSUCH",
	} {
		assert.Contains(t, hi.do(line), "-ERR", line)
	}
	assert.Equal(t, "+OK", hi.do(`ACK {"jid":"nosuch"}`))
}

func TestLikeLedger(t *testing.T) {
	t.Parallel()
	s := NewServer(Config{Extension: Faktory})
	t.Cleanup(s.Close)
	c := dialLike(t, s, "HELLO {}")
	bid := c.do(`BATCH NEW {"description":"d"}`)
	c.do("PUSH " + likeJob("a", "x", `,"custom":{"bid":"`+bid+`"}`))
	assert.Equal(t, bid, c.do("BATCH OPEN "+bid))
	assert.Equal(t, "+OK", c.do("BATCH COMMIT "+bid))
	assert.Regexp(t, `"description":"d".*"total":1,"pending":1`, c.do("BATCH STATUS "+bid))
	assert.Equal(t, "+OK", c.do(`TRACK SET {"jid":"a","percent":5}`))
	assert.Regexp(t, `"percent":5.*"state":"enqueued"`, c.do("TRACK GET a"))
	assert.Contains(t, c.do("TRACK GET b"), `"state":"unknown"`)
	var all entries
	for i := range 10_001 {
		assert.Equal(t, i < 10_000, all.set(itoa(int64(i)), &Object{}))
	}
}

func TestLikeInfo(t *testing.T) {
	t.Parallel()
	s := NewServer(Config{Extension: Faktory})
	t.Cleanup(s.Close)
	c := dialLike(t, s, `HELLO {"wid":"w"}`)
	c.do("PUSH " + likeJob("a", "x", `,"queue":"q"`))
	c.do("FETCH q")
	info := c.do("INFO")
	for _, part := range []string{`"q":0`, `"Workers":{"reaped":0,"size":1}`, `"Busy":{"reaped":0,"size":1}`,
		`"faktory_version":"`, `"uptime":0`, `"description":"Faktory"`} {
		assert.Contains(t, info, part)
	}
}
