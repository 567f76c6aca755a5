package double

import (
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/rule"
)

// TestNothingIsIgnored: what a request does not read is refused, and nothing is done, in each request of the control.
func TestNothingIsIgnored(t *testing.T) {
	t.Parallel()
	d, control := beginExtended(t, fakes.Faktory)
	require.NoError(t, d.Server().Push([]byte(`{"jid":"1","jobtype":"mail","args":[]}`)))
	all := d.requests(nil)
	all["POST /busy"], all["GET /busy"] = request{hasBody: true}, request{}
	for pattern, q := range all {
		method, path, _ := strings.Cut(pattern, " ")
		status, body := ask(t, control, method, path+"?nonsense=1", "")
		assert.Equal(t, 400, status, pattern)
		assert.Contains(t, body, `unknown query \"nonsense\"; expected `, pattern)
		status, body = ask(t, control, method, path, `{"nonsense":1}`)
		assert.Equal(t, 400, status, pattern)
		if !q.hasBody {
			assert.Contains(t, body, pattern+" takes no body")
		}
		for _, name := range q.query {
			status, body = ask(t, control, method, path+"?"+name+"=1&"+name+"=2", "")
			assert.Equal(t, 400, status, pattern)
			assert.Contains(t, body, "the query has "+name+" 2 times")
		}
	}
	for _, row := range [][4]string{
		{"GET", "/v1/jobs?a;b", "", "the query: "},
		{"GET", "/v1/jobs?queue=", "", "queue is empty"},
		{"GET", "/v1/journal?after=", "", "after is empty"},
		{"GET", "/v1/journal?verb=PUSHH", "", "is no command"},
		{"POST", "/v1/reset", `{"queue":"default"} {}`, "there is more behind its end"},
		{"POST", "/v1/reset", `{"queue":""}`, `queue cannot be \"\"`},
		{"POST", "/v1/reset", `{"queue":null}`, "queue cannot be null"},
		{"POST", "/v1/reset", `{"queue":["default"]}`, "queue cannot be ["},
		{"PUT", "/v1/bugs", "", "an array of planted bugs"},
		{"POST", "/busy", "signal=quiet", "wid is missing"},
	} {
		status, body := ask(t, control, row[0], row[1], row[2])
		assert.Equal(t, 400, status, row)
		assert.Contains(t, body, row[3], row)
	}
	assert.Len(t, d.Server().Jobs(), 1)
}

// Tests that run at a time share a double: each has a queue of its own.
func TestByQueue(t *testing.T) {
	t.Parallel()
	d, control := beginExtended(t, fakes.Faktory)
	p, w := dial(t, d, producer), dial(t, d, worker)
	for _, queue := range []string{"a", "b"} {
		for _, rest := range []string{"1", "2", "3", "4"} {
			require.Equal(t, "+OK", p.do(push(queue+rest, `,"queue":"`+queue+`"`)))
		}
		require.Equal(t, "+OK", p.do(push(queue+"5", `,"queue":"`+queue+`","at":"2999-01-01T00:00:00Z"`)))
		for range 3 {
			require.Contains(t, w.do("FETCH "+queue), queue)
		}
		require.Equal(t, "+OK", w.do(`ACK {"jid":"`+queue+`1"}`))
		require.Equal(t, "+OK", w.do(`FAIL {"jid":"`+queue+`2","errtype":"e","message":"m","backtrace":[]}`))
	}
	require.Equal(t, "{}", p.do(`PUSHB [{"jid":"a6","jobtype":"t","args":[],"queue":"a"},{"jid":"b6","jobtype":"t","args":[],"queue":"b"}]`))
	require.Contains(t, p.do(push("a7", `,"queue":"a","retry":"no"`)), "-ERR")
	verify := func(expect string, want int) {
		t.Helper()
		status, body := ask(t, control, http.MethodPost, "/v1/verify", expect)
		assert.Equal(t, want, status, body)
	}
	verify(`{"queue":"b","acknowledged":[{"jid":"b1"}],"failed":[{"jid":"b2"}],"nothing_else":true,"no_mistakes":true}`, 200)
	verify(`{"queue":"b","pushed":[{"jid":"a1"}]}`, 417)
	verify(`{"queue":"a","no_mistakes":true}`, 417)
	verify(`{"queue":"none","pushed":[],"nothing_else":true}`, 200)

	commands := d.Summary().Commands
	status, body := ask(t, control, http.MethodPost, "/v1/reset", `{"queue":"a"}`)
	require.Equal(t, 200, status, body)
	for _, job := range d.Server().Jobs() {
		assert.Equal(t, "b", job.Queue)
	}
	assert.Len(t, d.Server().Jobs(), 5, "in the queue two, and one each that is scheduled, held and to be retried")
	verify(`{"queue":"a","pushed":[],"fetched":[],"acknowledged":[],"failed":[],"nothing_else":true,"no_mistakes":true}`, 200)
	verify(`{"pushed":[{"jid":"b6"},{},{},{},{},{}],"acknowledged":[{"jid":"b1"}],"nothing_else":true}`, 200)
	assert.Equal(t, commands, d.Summary().Commands)
	assert.Zero(t, d.Summary().DroppedEntries, "what was reset is not out of room")
	_, body = ask(t, control, http.MethodGet, "/v1/journal?queue=b", "")
	var entries []Entry
	require.NoError(t, json.Unmarshal([]byte(body), &entries))
	assert.Len(t, entries, 11, "ten that are about b alone, and the PUSHB")
}

func TestNothingElseWaits(t *testing.T) {
	t.Parallel()
	d, control := begin(t)
	p := dial(t, d, producer)
	require.Equal(t, "+OK", p.do(push("1", "")))
	for expect, jid := range map[string]string{
		`{"pushed":[{"jid":"1"}],"nothing_else":"30s"}`:                      "2",
		`{"queue":"q","pushed":[],"nothing_else":true,"timeout":"30s"}`:      "3",
		`{"queue":"bad","no_mistakes":true,"pushed":[],"nothing_else":"9s"}`: "4",
	} {
		var want Expectation
		require.NoError(t, json.Unmarshal([]byte(expect), &want))
		differences, err := d.Verify(want)
		require.NoError(t, err)
		require.Empty(t, differences, "all is as expected now")
		verified := make(chan []string)
		go func() {
			differences, _ := d.Await(t.Context(), want)
			verified <- differences
		}()
		switch jid {
		case "2":
			p.do(push("2", ""))
		case "3":
			p.do(push("3", `,"queue":"q"`))
		default:
			p.do(push("4", `,"queue":"bad","retry":"x"`))
		}
		assert.Len(t, <-verified, 1, expect)
		d.Reset()
		require.Equal(t, "+OK", p.do(push("1", "")))
	}
	for expect, want := range map[string]string{
		`{"pushed":[{"jid":"1"}],"nothing_else":"10ms"}`:                    `{"ok":true}`,
		`{"pushed":[{"jid":"1"}],"nothing_else":"1"}`:                       "nothing_else must be a duration",
		`{"pushed":[{"jid":"1"}],"nothing_else":""}`:                        "nothing_else must be true, false or a duration",
		`{"pushed":[{"jid":"1"}],"nothing_else":1}`:                         "nothing_else must be true, false or a duration",
		`{"pushed":[{"jid":"1"}],"nothing_else":"20s","timeout":"20s"}`:     "at most 30s together",
		`{"pushed":[{"jid":"1"}],"tolerance":"-1s"}`:                        "tolerance must be a duration",
		`{"pushed":[{"jid":"1"}],"timeout":"9000h","nothing_else":"9000h"}`: "at most 30s together",
	} {
		_, body := ask(t, control, http.MethodPost, "/v1/verify", expect)
		assert.Contains(t, body, want, expect)
	}
}

func TestTimesAreInstants(t *testing.T) {
	t.Parallel()
	d, control := begin(t)
	p := dial(t, d, producer)
	require.Equal(t, "+OK", p.do(push("1", `,"at":"2999-01-01T12:00:00.5Z","custom":{"expires_at":"2999-01-01T12:00:00Z","note":"2999-01-01T12:00:00Z"}`)))
	require.Equal(t, "+OK", p.do(`PUSH {"jid":"2","jobtype":"t","args":["2999-01-01T12:00:00Z",{"at":"2999-01-01T12:00:00Z"}]}`))
	for expect, want := range map[string]int{
		`{"pushed":[{"at":"2999-01-01T13:00:00.500+01:00"}]}`:                                             200,
		`{"pushed":[{"at":"2999-01-01T12:00:00Z"}]}`:                                                      417,
		`{"pushed":[{"at":"2999-01-01T12:00:01Z"}],"tolerance":"500ms"}`:                                  200,
		`{"pushed":[{"at":"2999-01-01T12:00:01Z"}],"tolerance":"499ms"}`:                                  417,
		`{"pushed":[{"at":"soon"}],"tolerance":"1h"}`:                                                     417,
		`{"pushed":[{"custom":{"expires_at":"2999-01-01T12:00:00.000Z"}}]}`:                               200,
		`{"pushed":[{"custom":{"note":"2999-01-01T12:00:00.000Z"}}],"tolerance":"1h"}`:                    417,
		`{"pushed":[{"args":["2999-01-01T12:00:00Z",{"at":"2999-01-01T12:00:00Z"}]}]}`:                    200,
		`{"pushed":[{"args":["2999-01-01T12:00:00Z",{"at":"2999-01-01T12:00:00.0Z"}]}],"tolerance":"1h"}`: 417,
	} {
		status, body := ask(t, control, http.MethodPost, "/v1/verify", expect)
		assert.Equal(t, want, status, "%s: %s", expect, body)
	}
}

// An outage: connections are cut, and new ones are closed at once, until it is over.
func TestOutage(t *testing.T) {
	t.Parallel()
	d, control := begin(t)
	p := dial(t, d, producer)
	require.Equal(t, "+OK", p.do(push("1", "")))
	away, err := fakes.Rules().Parse("on accepted: skip")
	require.NoError(t, err)
	d.SetBugs([]fakes.Bug{{Name: "away", Hook: func() func(*fakes.Event) { return rule.Hooks(away) }}})
	status, body := ask(t, control, http.MethodPost, "/v1/disconnect", "")
	require.Equal(t, 200, status, body)
	_, err = p.in.ReadByte()
	require.Error(t, err)
	nc, err := new(net.Dialer).DialContext(t.Context(), "tcp", d.Server().Addr())
	require.NoError(t, err)
	defer nc.Close()
	_, err = nc.Read(make([]byte, 1))
	require.Error(t, err, "it is closed without a greeting")
	d.SetBugs(nil)
	assert.Equal(t, "+OK", dial(t, d, producer).do(push("2", "")))
	assert.Len(t, d.Server().Jobs(), 2, "jobs stay")
}
