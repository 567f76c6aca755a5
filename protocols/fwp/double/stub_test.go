package double

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
)

func TestStubs(t *testing.T) {
	t.Parallel()
	d, control := begin(t)
	p, w := dial(t, d, producer), dial(t, d, worker)
	stub := func(body string) (int, string) { return ask(t, control, http.MethodPost, "/v1/stubs", body) }
	for _, body := range []string{
		`{"verb":"PUSH","jid":"1","times":1,"reply":"-ERR busy"}`,
		`{"verb":"ACK","jobtype":"mail","times":2,"reply":"+LATER"}`,
		`{"verb":"FETCH","worker":"other","reply":"$-1"}`,
		`{"verb":"FETCH","worker":"w1","times":1,"delay":"1ms","reply":"${\"jid\":\"stub\"}"}`,
		`{"verb":"INFO","close":true}`,
	} {
		status, text := stub(body)
		require.Equal(t, 200, status, text)
	}
	assert.Equal(t, "-ERR busy", p.do(push("1", "")), "once")
	assert.Empty(t, d.Server().Jobs(), "it was not carried out")
	assert.Equal(t, "+OK", p.do(push("2", "")), "another job")
	assert.Equal(t, "+OK", p.do(push("1", "")), "no more")
	assert.JSONEq(t, `{"jid":"stub"}`, w.do("FETCH default"))
	require.Contains(t, w.do("FETCH default"), `"2"`)
	for range 2 {
		assert.Equal(t, "+LATER", w.do(`ACK {"jid":"2"}`))
	}
	assert.Equal(t, "+OK", w.do(`ACK {"jid":"2"}`), "it is held still")
	assert.Contains(t, p.do("INFO"), `"queues"`)
	_, err := p.in.ReadByte()
	require.Error(t, err, "closed behind its reply")
	assert.Equal(t, []int{1, 2, 0, 1, 1}, uses(d))
	status, _ := ask(t, control, http.MethodPost, "/v1/verify", `{"pushed":[{"jid":"2"},{"jid":"1"}],"nothing_else":true}`)
	assert.Equal(t, 200, status, "what was refused was not pushed")
	_, _ = ask(t, control, http.MethodDelete, "/v1/stubs", "")
	assert.Empty(t, d.Stubs())

	for body, expected := range map[string]string{
		`{}`:                           "verb is missing",
		`{"verb":"push","close":true}`: "is no command; expected one of HELLO, ",
		`{"verb":"FETCH","jid":"1","delay":"1s"}`:  "work only with PUSH, PUSHB, ACK and FAIL",
		`{"verb":"PUSH"}`:                          "a reply, a delay or close",
		`{"verb":"PUSH","delay":"1"}`:              "delay: expected a duration",
		`{"verb":"PUSH","reply":"OK"}`:             "expected one line with +text",
		`{"verb":"PUSH","reply":":x"}`:             "expected one line with +text",
		`{"verb":"PUSH","close":true,"times":-1}`:  "times must be 0",
		`{"verb":"PUSH","close":true,"answer":""}`: "unknown field",
	} {
		status, text := stub(body)
		assert.Equal(t, 400, status, body)
		assert.Contains(t, text, expected)
	}
}

func uses(d *Double) (all []int) {
	for _, s := range d.Stubs() {
		all = append(all, s.Uses)
	}
	return all
}

func TestSeededJobs(t *testing.T) {
	t.Parallel()
	d, control := begin(t)
	status, body := ask(t, control, http.MethodPost, "/v1/jobs",
		`[{"jobtype":"a","queue":"q"},{"jid":"mine","jobtype":"b","args":[1],"at":"2999-01-01T00:00:00Z"}]`)
	require.Equal(t, 200, status, body)
	assert.Contains(t, body, `"mine"]`)
	jobs := d.Server().Jobs()
	require.Len(t, jobs, 2)
	assert.Equal(t, []string{"queue", "scheduled"}, []string{jobs[0].Place, jobs[1].Place})
	assert.Contains(t, string(jobs[0].Unit), `"args":[]`)
	status, body = ask(t, control, http.MethodPost, "/v1/jobs", `{"jobtype":5}`)
	assert.Equal(t, 400, status)
	assert.Contains(t, body, "job 1 of 1")
	status, body = ask(t, control, http.MethodPost, "/v1/verify", `{"pushed":[],"nothing_else":true}`)
	assert.Equal(t, 200, status, body)
}

// A worker is tested with jobs that no client has pushed: they come from the control, from a folder, or from a stub.
func TestVerifyKnowsJobsOfEveryOrigin(t *testing.T) {
	t.Parallel()
	d, control := begin(t)
	require.NoError(t, d.Server().Push([]byte(`{"jid":"stored","jobtype":"mail","args":[]}`)))
	for _, request := range [][2]string{
		{"/v1/jobs", `{"jid":"seeded","jobtype":"mail","args":[7],"queue":"q"}`},
		{"/v1/stubs", `{"verb":"FETCH","times":1,"reply":"${\"jid\":\"stub\",\"jobtype\":\"mail\",\"args\":[8]}"}`},
		{"/v1/stubs", `{"verb":"ACK","jid":"unknown","reply":"+OK"}`},
	} {
		status, answer := ask(t, control, http.MethodPost, request[0], request[1])
		require.Equal(t, 200, status, answer)
	}
	w := dial(t, d, worker)
	for _, queue := range []string{"q", "q", "default"} {
		require.Contains(t, w.do("FETCH "+queue), `"mail"`)
	}
	require.Equal(t, "+OK", w.do(`ACK {"jid":"seeded"}`))
	require.Equal(t, "+OK", w.do(`FAIL {"jid":"stored","errtype":"e","message":"m","backtrace":[]}`))
	require.Equal(t, "+OK", w.do(`ACK {"jid":"unknown"}`))
	for expect, want := range map[string]int{
		`{"pushed":[],"fetched":[{"args":[7]},{"args":[8]},{"jid":"stored"}],"acknowledged":[{"args":[7]},{"jid":"unknown"}],
			"failed":[{"jobtype":"mail"}],"nothing_else":true}`: 200,
		`{"acknowledged":[{"args":[7]}],"nothing_else":true}`: 417,
		`{"acknowledged":[{"args":[8]}]}`:                     417,
		`{"failed":[],"nothing_else":true}`:                   417,
	} {
		status, answer := ask(t, control, http.MethodPost, "/v1/verify", expect)
		assert.Equal(t, want, status, "%s: %s", expect, answer)
	}
}

func TestTheClockIsSetToAnInstant(t *testing.T) {
	t.Parallel()
	d, control := begin(t)
	status, body := ask(t, control, http.MethodPost, "/v1/clock", `{"set":"2100-01-01T00:00:00Z"}`)
	assert.Equal(t, 200, status, body)
	assert.Equal(t, 2100, d.Server().Now().UTC().Year())
	status, body = ask(t, control, http.MethodPost, "/v1/clock", `{"set":"1999-12-31T23:00:00Z"}`)
	assert.Equal(t, 200, status, body)
	assert.Equal(t, 1999, d.Server().Now().UTC().Year(), "it goes back while there are no jobs")
	status, body = ask(t, control, http.MethodPost, "/v1/jobs", `{"jid":"new-year","jobtype":"t","at":"2000-01-01T00:00:00Z"}`)
	require.Equal(t, 200, status, body)
	_, body = ask(t, control, http.MethodGet, "/v1/jobs", "")
	assert.Contains(t, body, `"place":"scheduled"`)
	_, _ = ask(t, control, http.MethodPost, "/v1/clock", `{"set":"2100-01-01T00:00:00Z"}`)
	_, body = ask(t, control, http.MethodGet, "/v1/jobs", "")
	assert.Contains(t, body, `"place":"queue"`)
	for _, wrong := range []string{`{"set":"1999-12-31T23:00:00Z"}`, `{"set":"2999-02-01T00:00:00Z"}`, `{"set":"2100-02-01T00:00:00Z","advance":"1s"}`, `{}`} {
		status, _ = ask(t, control, http.MethodPost, "/v1/clock", wrong)
		assert.Equal(t, 400, status, wrong)
	}
}

func TestVerifyWaits(t *testing.T) {
	t.Parallel()
	d, control := begin(t)
	p := dial(t, d, producer)
	verified := make(chan []string)
	go func() {
		differences, _ := d.Await(t.Context(), Expectation{
			Pushed: []json.RawMessage{json.RawMessage(`{"jid":"2"}`)}, Timeout: "30s",
		})
		verified <- differences
	}()
	require.Equal(t, "+OK", p.do(push("1", "")))
	require.Equal(t, "+OK", p.do(push("2", "")))
	assert.Empty(t, <-verified)
	status, _ := ask(t, control, http.MethodPost, "/v1/verify", `{"failed":[{}],"timeout":"1ms"}`)
	assert.Equal(t, 417, status)
	status, body := ask(t, control, http.MethodPost, "/v1/verify", `{"failed":[{}],"timeout":"2h"}`)
	assert.Equal(t, 400, status)
	assert.Contains(t, body, "at most 30s")
}

// What clients send that know an extension is carried out, is in the journal, and is no mistake.
func TestLikeFaktory(t *testing.T) {
	t.Parallel()
	d, control := beginExtended(t, fakes.Faktory)
	p := dial(t, d, `HELLO {"wid":"","username":null}`)
	job := func(jid string) string { return `{"jid":"` + jid + `","jobtype":"mail","args":[]}` }
	assert.JSONEq(t, `{"3":"reserve_for must be at least 60"}`, p.do("PUSHB ["+job("1")+","+job("2")+
		`,{"jid":"3","jobtype":"mail","args":[],"reserve_for":1}]`))
	assert.Equal(t, "+OK", p.do("QUEUE PAUSE default"))
	assert.Equal(t, "+OK", p.do(`MUTATE {"cmd": "clear", "target": "dead"}`))
	bid := p.do(`BATCH NEW {"description":"d"}`)
	assert.Equal(t, "+OK", p.do("BATCH COMMIT "+bid))
	assert.Contains(t, p.do("TRACK GET 1"), `"state":"enqueued"`)
	status, body := ask(t, control, http.MethodPost, "/v1/verify", `{"pushed":[{"jid":"1"},{"jid":"2"}],"nothing_else":true}`)
	assert.Equal(t, 200, status, body)
	_, body = ask(t, control, http.MethodGet, "/v1/journal?verb=PUSHB", "")
	assert.Contains(t, body, `"verb":"PUSHB"`)
	mistakes := d.Summary().Mistakes
	require.Len(t, mistakes, 1)
	assert.Equal(t, "reserve_for must be at least 60", mistakes[0].Mistake)

	w := dial(t, d, worker)
	form := func(fields string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, control.URL+"/busy", strings.NewReader(fields))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		reply, err := control.Client().Do(r)
		require.NoError(t, err)
		require.NoError(t, reply.Body.Close())
		return reply.StatusCode
	}
	assert.Equal(t, 400, form("wid=w1&signal=stop"))
	assert.Equal(t, 200, form("wid=all&signal=quiet"))
	assert.Contains(t, w.do(`BEAT {"wid":"w1"}`), "quiet")

	strict, other := begin(t)
	assert.Contains(t, dial(t, strict, producer).do("QUEUE PAUSE default"), "-ERR unknown command")
	status, _ = ask(t, other, http.MethodPost, "/busy", "")
	assert.Equal(t, 404, status)
}
