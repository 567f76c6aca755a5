package double

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/bugs"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// client is a connection to the server of a double.
type client struct {
	t  *testing.T
	nc net.Conn
	in *bufio.Reader
}

func dial(t *testing.T, d *Double, hello string) *client {
	t.Helper()
	nc, err := new(net.Dialer).DialContext(t.Context(), "tcp", d.Server().Addr())
	require.NoError(t, err)
	t.Cleanup(func() { nc.Close() })
	c := &client{t, nc, bufio.NewReader(nc)}
	c.read()
	require.Equal(t, "+OK", c.do(hello))
	return c
}

const (
	producer = `HELLO {"v":2}`
	worker   = `HELLO {"hostname":"h","wid":"w1","pid":1,"labels":[],"v":2}`
)

// do sends a command and returns its reply.
func (c *client) do(line string) string {
	c.t.Helper()
	_, err := io.WriteString(c.nc, line+"\r\n")
	require.NoError(c.t, err)
	return c.read()
}

func (c *client) read() string {
	c.t.Helper()
	line, err := c.in.ReadString('\n')
	require.NoError(c.t, err)
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "$") && line != "$-1" {
		line, err = c.in.ReadString('\n')
		require.NoError(c.t, err)
	}
	return strings.TrimSpace(line)
}

// begin starts a double and its control.
func begin(t *testing.T) (*Double, *httptest.Server) {
	t.Helper()
	return beginExtended(t, "")
}

// beginExtended starts one with an extension.
func beginExtended(t *testing.T, like fakes.Extension) (*Double, *httptest.Server) {
	t.Helper()
	d, err := New(fakes.Config{Extension: like})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	control := httptest.NewServer(d.Handler(func(name string) (fakes.Bug, error) {
		if f, ok := bugs.Lookup(name); ok {
			return f, nil
		}
		return fakes.Bug{}, errors.New("no planted bug " + name)
	}))
	t.Cleanup(control.Close)
	return d, control
}

// ask sends a request to a control and returns the status and the body.
func ask(t *testing.T, control *httptest.Server, method, path, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, control.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	reply, err := control.Client().Do(request)
	require.NoError(t, err)
	text, err := io.ReadAll(reply.Body)
	require.NoError(t, err)
	require.NoError(t, reply.Body.Close())
	return reply.StatusCode, strings.TrimSpace(string(text))
}

func push(jid, rest string) string {
	return fmt.Sprintf(`PUSH {"jid":"%s","jobtype":"mail","args":[1,"two"]%s}`, jid, rest)
}

func TestVerify(t *testing.T) {
	t.Parallel()
	d, control := begin(t)
	p, w := dial(t, d, producer), dial(t, d, worker)
	for _, line := range []string{push("1", ""), push("2", `,"queue":"low"`),
		push("3", `,"custom":{"user":7,"big":9007199254740993}`)} {
		require.Equal(t, "+OK", p.do(line))
	}
	require.Contains(t, w.do("FETCH default"), `"1"`)
	require.Contains(t, w.do("FETCH low"), `"2"`)
	require.Equal(t, "+OK", w.do(`ACK {"jid":"1"}`))
	require.Equal(t, "+OK", w.do(`FAIL {"jid":"2","errtype":"e","message":"m","backtrace":[]}`))

	tests := map[string]struct {
		expect string
		status int
		body   string // part of it
	}{
		"nothing":        {`{}`, 400, "nothing is expected"},
		"without a body": {``, 400, "nothing is expected"},
		"no list at all": {`{"nothing_else":true,"no_mistakes":true}`, 400, "nothing is expected"},
		"null":           {`{"failed":null}`, 400, "nothing is expected"},
		"empty list":     {`{"pushed":[{"jid":"1"}],"failed":[]}`, 400, "failed: an empty list expects nothing"},
		"mistakes only":  {`{"no_mistakes":true}`, 200, `{"ok":true}`},
		"all":            {`{"pushed":[{"jid":"1"},{"jid":"2"},{"jid":"3"}],"acknowledged":[{"jid":"1"}],"failed":[{"jid":"2"}],"nothing_else":true,"no_mistakes":true}`, 200, ""},
		"by content":     {`{"pushed":[{"custom":{"user":7.0}},{"args":[1,"two"]}],"fetched":[{"queue":"low"}]}`, 200, ""},
		"exact numbers": {`{"pushed":[{"custom":{"big":9007199254740992}}]}`, 417,
			`no job like {\"custom\":{\"big\":9007199254740992}} (3 were pushed)`},
		"any order":      {`{"pushed":[{"jobtype":"mail"},{"jobtype":"mail"},{"jid":"1"}]}`, 200, ""},
		"once too often": {`{"acknowledged":[{"jid":"1"},{"jid":"1"}]}`, 417, "no job like"},
		"none":           {`{"acknowledged":[],"nothing_else":true}`, 417, `acknowledged: not expected: {\"jid\":\"1\"`},
		"not mentioned":  {`{"failed":[{"jid":"2"}],"nothing_else":true}`, 200, ""},
		"a longer list":  {`{"pushed":[{"args":[1]}]}`, 417, "no job like"},
		"no object":      {`{"pushed":["1"]}`, 400, "pushed[0]: a job must be a JSON object"},
		"unknown field":  {`{"pusht":[]}`, 400, "unknown field"},
		"no JSON":        {`{`, 400, "the body"},
		"no list":        {`{"pushed":5}`, 400, "the body: pushed cannot be of type number"},
		"a list":         {`[]`, 400, "the body: the whole cannot be of type array"},
	}
	for name, test := range tests {
		status, body := ask(t, control, http.MethodPost, "/v1/verify", test.expect)
		assert.Equal(t, test.status, status, "%s: %s", name, body)
		assert.Contains(t, body, test.body, name)
	}
}

func TestUnknownRequests(t *testing.T) {
	t.Parallel()
	_, control := begin(t)
	for request, expected := range map[string]int{"GET /v1/job": 404, "GET /": 404, "PUT /v1/jobs": 405} {
		method, path, _ := strings.Cut(request, " ")
		status, body := ask(t, control, method, path, "")
		assert.Equal(t, expected, status, request)
		assert.JSONEq(t, `{"error":"unknown request \"`+request+`\"; docs/test-double.md lists the requests"}`, body)
	}
	_, body := ask(t, control, "GET", "/v1/faults", "")
	assert.Contains(t, body, "; it is now called /v1/bugs", "the name of before")
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	d, control := begin(t)
	p := dial(t, d, producer)
	require.Contains(t, p.do(`PUSH {"jid":"1"}`), "-ERR")
	require.Contains(t, p.do(`BEAT {"wid":"w1"}`), "-ERR")
	summary := d.Summary()
	assert.Equal(t, 3, summary.Commands)
	require.Len(t, summary.Mistakes, 2)
	assert.Contains(t, summary.Mistakes[0].Mistake, `the field "`)
	assert.Equal(t, "only consumers may send BEAT", summary.Mistakes[1].Mistake)
	status, body := ask(t, control, http.MethodPost, "/v1/verify", `{"no_mistakes":true}`)
	assert.Equal(t, http.StatusExpectationFailed, status)
	assert.Contains(t, body, "may send BEAT (command 3: BEAT")
}

func TestJournal(t *testing.T) {
	t.Parallel()
	d, control := begin(t)
	p, w := dial(t, d, producer), dial(t, d, worker)
	require.Equal(t, "+OK", p.do(push("1", "")))
	require.Contains(t, w.do("FETCH default"), `"1"`)
	entries := func(query string) []Entry {
		status, body := ask(t, control, http.MethodGet, "/v1/journal"+query, "")
		require.Equal(t, 200, status)
		var all []Entry
		require.NoError(t, json.Unmarshal([]byte(body), &all))
		return all
	}
	all := entries("")
	require.Len(t, all, 4)
	assert.Equal(t, 4, all[3].Number)
	assert.Equal(t, "FETCH", all[3].Verb)
	assert.Equal(t, "w1", all[3].Worker)
	assert.Contains(t, all[3].Reply, `"jid":"1"`)
	assert.Len(t, entries("?worker=w1"), 2)
	assert.Len(t, entries("?verb=PUSH"), 1)
	assert.Len(t, entries("?after=3"), 1)
	assert.Empty(t, entries("?verb=ACK"))
	status, body := ask(t, control, http.MethodGet, "/v1/journal?after=x", "")
	assert.Equal(t, 400, status)
	assert.Contains(t, body, "after must be the number of an entry")
	assert.Equal(t, []string{"1 fetched, without ACK or FAIL"}, d.Summary().RemainingJobs)

	_, _ = ask(t, control, http.MethodPost, "/v1/reset", "")
	assert.Empty(t, entries(""))
	assert.Empty(t, d.Summary().RemainingJobs)
}

func TestTheJournalHasNoHash(t *testing.T) {
	t.Parallel()
	d, control := begin(t)
	dial(t, d, `HELLO {"v":2,"pwdhash":"1e440e3f3d2db545","x":1}`)
	_, body := ask(t, control, http.MethodGet, "/v1/journal", "")
	assert.Contains(t, body, `\"pwdhash\":\"(hash)\",\"x\":1`)
	assert.NotContains(t, body, "1e440e3f3d2db545")
}

func TestTheJournalIsBounded(t *testing.T) {
	t.Parallel()
	j := journal{changed: make(chan struct{})}
	for range maxEntries + 10 {
		j.add(Entry{Command: "x"})
	}
	assert.Len(t, j.entries, maxEntries)
	assert.Equal(t, 11, j.entries[0].Number)
	for range 20 {
		j.add(Entry{Reply: strings.Repeat("x", maxMemory/10)})
	}
	assert.Len(t, j.entries, 9)
	for i := range j.entries[:cap(j.entries)] { // behind the entries is nothing, and before them nothing is reachable
		assert.True(t, i < 9 || j.entries[:cap(j.entries)][i].Reply == "")
	}
	for i := range 100 {
		unit := []byte(`{"jid":"job-` + strconv.Itoa(i) + `","args":["` + strings.Repeat("x", maxUnits/10) + `"]}`)
		j.unitsOf(fwp.PUSH, slices.Concat([]byte("PUSH "), unit))
		j.unitsOf(fwp.PUSH, slices.Concat([]byte("PUSH "), unit))
	}
	assert.Len(t, j.units, 9, "those that have room, each once")
	assert.LessOrEqual(t, j.unitBytes, maxUnits)
	assert.Len(t, shortenLine([]byte(strings.Repeat("é", maxCommand))), maxCommand+3)
}

func TestControl(t *testing.T) {
	t.Parallel()
	d, control := begin(t)
	p, w := dial(t, d, producer), dial(t, d, worker)
	do := func(method, path, body string) (int, string) { return ask(t, control, method, path, body) }

	at := d.Server().Now().Add(time.Hour).Format(time.RFC3339Nano)
	require.Equal(t, "+OK", p.do(push("1", `,"queue":"q","at":"`+at+`"`)))
	_, jobs := do("GET", "/v1/jobs?queue=q", "")
	assert.Contains(t, jobs, `"place":"scheduled"`)
	_, jobs = do("GET", "/v1/jobs?queue=other", "")
	assert.Equal(t, "[]", jobs)
	status, body := do("POST", "/v1/clock", `{"advance":"61m"}`)
	assert.Equal(t, 200, status)
	assert.Contains(t, body, `"now"`)
	assert.Contains(t, w.do("FETCH q"), `"1"`, "it is due")
	status, body = do("POST", "/v1/clock", `{"advance":"-1s"}`)
	assert.Equal(t, 400, status)
	assert.Contains(t, body, "a duration above zero")

	status, _ = do("POST", "/v1/quiet", `{"worker":"w1"}`)
	assert.Equal(t, 200, status)
	assert.Contains(t, w.do(`BEAT {"wid":"w1"}`), "quiet")
	status, body = do("POST", "/v1/terminate", `{"worker":"nobody"}`)
	assert.Equal(t, 404, status)
	assert.Contains(t, body, "no such worker")
	_, _ = do("POST", "/v1/terminate", "")
	assert.Contains(t, w.do(`BEAT {"wid":"w1"}`), "terminate")

	status, body = do("PUT", "/v1/bugs", `["push-other-answer"]`)
	assert.Equal(t, 200, status)
	assert.Equal(t, `["push-other-answer"]`, body)
	assert.Equal(t, ":1", p.do(push("2", "")))
	status, _ = do("PUT", "/v1/bugs", `["no-such"]`)
	assert.Equal(t, 400, status)
	_, body = do("PUT", "/v1/bugs", `[]`)
	assert.Equal(t, "[]", body)
	assert.Equal(t, "+OK", p.do(push("3", "")))

	status, _ = do("GET", "/v1/nothing", "")
	assert.Equal(t, 404, status)
	status, _ = do("DELETE", "/v1/jobs", "")
	assert.Equal(t, 405, status)
}

func TestForeignSitesAreRefused(t *testing.T) {
	t.Parallel()
	d, _ := begin(t)
	handler := d.Handler(nil)
	tests := map[string]struct {
		change func(*http.Request)
		status int
	}{
		"a program":    {func(*http.Request) {}, 200},
		"by name":      {func(r *http.Request) { r.Host = "localhost:1234" }, 200},
		"IPv6":         {func(r *http.Request) { r.Host = "[::1]:1234" }, 200},
		"another name": {func(r *http.Request) { r.Host = "evil.example:1234" }, 403},
		"another site": {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
	}
	for name, test := range tests {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:80/v1/reset", nil)
		test.change(r)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		assert.Equal(t, test.status, w.Code, name)
	}
}
