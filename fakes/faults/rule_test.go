package faults

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// hook returns a new hook of a fault.
func hook(t *testing.T, name string) func(*event) {
	t.Helper()
	f, known := Named(name)
	require.True(t, known, name)
	return f.Hook()
}

func parse(t *testing.T, text string) *object {
	t.Helper()
	o, err := fakes.ParseObject([]byte(text))
	require.NoError(t, err)
	return o
}

// What becomes of a job that is pushed, or delivered, by the faults that change what it says.
func TestJobsChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		point      fakes.Point
		job, wants string
	}{
		"job-args-hundred":    {fakes.Checked, `{"args":[1,2]}`, `{"args":[1,2]}`},
		"job-args-empty-null": {fakes.Delivered, `{"args":[]}`, `{"args":null}`},
		"job-args-reversed":   {fakes.Checked, `{"args":[1,"a",null]}`, `{"args":[null,"a",1]}`},
		"job-args-set":        {fakes.Checked, `{"args":[1,[2,2],1]}`, `{"args":[1,[2]]}`},
		"job-at-offset":       {fakes.Defaulted, `{"at":"2030-01-01T10:00:00+02:30"}`, `{"at":"2030-01-01T10:00:00Z"}`},
		"job-created-at-day": {
			fakes.Delivered, `{"created_at":"2030-01-01T10:00:00Z"}`, `{"created_at":"2030-01-01T00:00:00Z"}`,
		},
		"job-created-at-offset": {
			fakes.Defaulted, `{"created_at":"2030-01-01T10:00:00+01:00"}`, `{"created_at":"2030-01-01T10:00:00Z"}`,
		},
		"job-custom-flat": {fakes.Checked, `{"custom":{"a":{"b":1}}}`, `{"custom":{"a":"{\"b\":1}"}}`},
		"job-custom-overrides": {
			fakes.Defaulted, `{"retry":1,"custom":{"retry":2,"x":3}}`, `{"retry":2,"custom":{"retry":2,"x":3}}`,
		},
		"job-empty-array-null": {fakes.Checked, `{"args":[[]],"custom":{"a":[]}}`, `{"args":[null],"custom":{"a":null}}`},
		"job-exponent-dropped": {fakes.Checked, `{"args":[1.5E3,2]}`, `{"args":[1.5,2]}`},
		"job-fraction-single": {
			fakes.Checked, `{"args":[0.1234567891,16777217]}`, `{"args":[0.12345679104328156,16777217]}`,
		},
		"job-id-nested":          {fakes.Delivered, `{"jid":"a","custom":{"jid":"b"}}`, `{"jid":"b","custom":{"jid":"b"}}`},
		"job-id-number":          {fakes.Delivered, `{"jid":"007"}`, `{"jid":"7"}`},
		"job-integer-32-bits":    {fakes.Checked, `{"args":[4294967297,[4294967298]]}`, `{"args":[1,[2]]}`},
		"job-integer-rounded":    {fakes.Checked, `{"args":[9007199254740993]}`, `{"args":[9007199254740992]}`},
		"job-jobtype-trimmed":    {fakes.Delivered, `{"jobtype":" a "}`, `{"jobtype":"a"}`},
		"job-keys-array":         {fakes.Checked, `{"args":[{"0":"a","1":"b"},{"1":"c"}]}`, `{"args":[["a","b"],{"1":"c"}]}`},
		"job-keys-folded":        {fakes.Checked, `{"custom":{"Ab":1}}`, `{"custom":{"ab":1}}`},
		"job-nesting-cut":        {fakes.Checked, `{"args":[[[[[[[[[1]]]]]]]]]}`, `{"args":[[[[[[[[null]]]]]]]]}`},
		"job-null-dropped":       {fakes.Checked, `{"args":[null,{"a":null,"b":1}]}`, `{"args":[null,{"b":1}]}`},
		"job-queue-default":      {fakes.Checked, `{"queue":null}`, `{"queue":"standard"}`},
		"job-reserve-default":    {fakes.Checked, `{"reserve_for":90}`, `{"reserve_for":90}`},
		"job-text-ends-at-nul":   {fakes.Checked, `{"args":["a\u0000b"]}`, `{"args":["a"]}`},
		"job-text-planes":        {fakes.Checked, `{"args":["😀"]}`, `{"args":["\uFFFD"]}`},
		"job-truth-number":       {fakes.Checked, `{"args":[true,false]}`, `{"args":[1,0]}`},
		"queue-case-folded":      {fakes.Checked, `{"queue":"Ab"}`, `{"queue":"ab"}`},
		"queue-default-capitals": {fakes.Checked, `{"queue":"Default"}`, `{"queue":"default"}`},
		"schedule-ignored":       {fakes.Defaulted, `{"at":"2030-01-01T10:00:00Z"}`, `{}`},
		"schedule-seconds":       {fakes.Defaulted, `{"at":"2030-01-01T10:00:00.5Z"}`, `{"at":"2030-01-01T10:00:00.001Z"}`},
		"backtrace-whole":        {fakes.Defaulted, `{"backtrace":3}`, `{"backtrace":30}`},
		"backtrace-single":       {fakes.Failed, `{"failure":{"backtrace":["a"]}}`, `{"failure":{}}`},
		"enqueued-at-local": {
			fakes.Delivered, `{"enqueued_at":"2030-01-01T10:00:00Z"}`, `{"enqueued_at":"2030-01-01T08:00:00Z"}`,
		},
		"schedule-enqueued-at-pushed": {fakes.Delivered, `{"at":"2030-01-01T10:00:00Z","created_at":"x"}`,
			`{"at":"2030-01-01T10:00:00Z","created_at":"x","enqueued_at":"x"}`},
	} {
		e := &event{
			Point: c.point, Conn: &fakes.Conn{}, Command: fwp.Command{Verb: fwp.PUSH}, Object: parse(t, c.job),
		}
		hook(t, name)(e)
		assert.JSONEq(t, c.wants, string(e.Object.Append(nil)), name)
	}
}

// Lines before they are read, and replies before they are sent.
func TestLinesChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ line, wants string }{
		"line-flush-lower-case": {"flush", "FLUSH"},
		"line-leading-space":    {" INFO", "INFO"},
		"line-nul":              {"IN\x00FO", "INFO"},
		"line-separators":       {"INFO\u2028x", "INFO"},
		"line-tab":              {"ACK\t{}", "ACK {}"},
	} {
		e := &event{Point: fakes.LineRead, Conn: &fakes.Conn{}, Line: []byte(c.line)}
		hook(t, name)(e)
		assert.Equal(t, c.wants, string(e.Line), name)
		other := &event{Point: fakes.LineRead, Conn: &fakes.Conn{}, Line: []byte("BEAT {}")}
		hook(t, name)(other)
		assert.Equal(t, "BEAT {}", string(other.Line), name)
	}
}

func TestReceivedBytesChange(t *testing.T) {
	t.Parallel()
	received := func(name string, pieces ...string) (got []string) {
		h := hook(t, name)
		for _, piece := range pieces {
			e := &event{Point: fakes.Received, Conn: &fakes.Conn{ID: 1}, Bytes: []byte(piece)}
			h(e)
			got = append(got, string(e.Bytes))
		}
		return got
	}
	assert.Equal(t, []string{"a??", "?b", "é"}, received("line-character-cut", "a\xe2\x82", "\xacb", "é"))
	assert.Equal(t, []string{"INFO ", "\n"}, received("line-cr-apart", "INFO\r", "\n"))
	assert.Equal(t, []string{"INF\r\n", "O\r\n"}, received("line-segment-ends", "INF", "O\r\n"))
	synctest.Test(t, func(t *testing.T) {
		h := hook(t, "line-paused")
		for i, want := range []string{"INF", "\r\nO\r\n", "INFO\r\n"} {
			time.Sleep(time.Duration(i) * 1100 * time.Millisecond)
			e := &event{Point: fakes.Received, Conn: &fakes.Conn{ID: 1}, Bytes: []byte(strings.TrimPrefix(want, "\r\n"))}
			h(e)
			assert.Equal(t, want, string(e.Bytes))
		}
	})
}

// What hooks remember, step by step: each step is an event on a connection, and says whether the hook acts on it.
func TestHooksRemember(t *testing.T) {
	t.Parallel()
	type step struct {
		point fakes.Point
		verb  string
		conn  int64
		jid   string
		fails bool
		acts  bool
	}
	acts := func(e *event) bool {
		return e.Skip || e.Again || e.Delay != 0 || e.Err == nil && e.Queues == nil || e.Close
	}
	for name, steps := range map[string][]step{
		"fetch-refused-deaf": {
			{fakes.Checked, fwp.FETCH, 1, "", false, false}, {fakes.Checked, fwp.FETCH, 1, "", true, false},
			{fakes.Checked, fwp.FETCH, 2, "", false, false}, {fakes.Checked, fwp.FETCH, 1, "", false, true},
			{fakes.Checked, fwp.FETCH, 1, "", false, false},
		},
		"flush-once": {{fakes.Flushed, fwp.FLUSH, 1, "", false, false}, {fakes.Flushed, fwp.FLUSH, 2, "", false, true}},
		"flush-stops-retries": {
			{fakes.Due, "retries", 0, "a", false, false}, {fakes.Flushed, fwp.FLUSH, 1, "", false, false},
			{fakes.Due, "scheduled", 0, "a", false, false}, {fakes.Due, "retries", 0, "a", false, true},
		},
		"restart-forgets-acks": {
			{fakes.Reserved, fwp.FETCH, 1, "a", false, false}, {fakes.Restarted, "", 0, "", false, false},
			{fakes.Reserved, fwp.FETCH, 1, "b", false, false}, {fakes.Acked, fwp.ACK, 2, "b", false, false},
			{fakes.Acked, fwp.ACK, 2, "a", false, true}, {fakes.Acked, fwp.ACK, 2, "a", false, false},
		},
		"worker-ack-ignored": {
			{fakes.Delivered, fwp.FETCH, 1, "a", false, false}, {fakes.Delivered, fwp.FETCH, 1, "b", false, false},
			{fakes.Checked, fwp.ACK, 1, "a", false, false}, {fakes.Checked, fwp.ACK, 2, "b", false, true},
		},
		"fetch-woken-stays": {
			{fakes.Delivered, fwp.FETCH, 1, "a", false, false}, {fakes.Reserved, fwp.PUSH, 1, "a", false, false},
			{fakes.Delivered, fwp.FETCH, 1, "a", false, true}, {fakes.Delivered, fwp.FETCH, 1, "a", false, false},
		},
		"consumer-idle-closed": {
			{fakes.Ran, fwp.BEAT, 1, "", false, false}, {fakes.Ran, fwp.BEAT, 1, "", false, false},
			{fakes.Ran, fwp.INFO, 1, "", false, false}, {fakes.Ran, fwp.BEAT, 1, "", false, false},
			{fakes.Ran, fwp.BEAT, 1, "", false, false}, {fakes.Ran, fwp.BEAT, 1, "", false, false},
			{fakes.Ran, fwp.BEAT, 1, "", false, true},
		},
		"ack-slow-lost": {{fakes.Delivered, fwp.FETCH, 1, "a", false, false}, {fakes.Checked, fwp.ACK, 1, "a", false, false}},
	} {
		h := hook(t, name)
		for i, s := range steps {
			e := &event{Point: s.point, Conn: &fakes.Conn{ID: s.conn, Identified: true}, Command: fwp.Command{Verb: s.verb},
				Set: s.verb, Queues: []string{"q"}}
			if e.Object = parse(t, `{}`); s.jid != "" {
				e.Object.SetText("jid", s.jid)
			}
			if s.fails {
				e.Err = &fakes.Refusal{About: fakes.AboutArguments}
			}
			h(e)
			assert.Equal(t, s.acts, acts(e), "%s, step %d", name, i)
		}
	}
}

// A report is late when it comes more than 5 s after its FETCH.
func TestSlowReports(t *testing.T) {
	t.Parallel()
	for after, late := range map[time.Duration]bool{5 * time.Second: false, 5*time.Second + 1: true} {
		synctest.Test(t, func(t *testing.T) {
			h := hook(t, "fail-slow-lost")
			job := parse(t, `{"jid":"a"}`)
			h(&event{Point: fakes.Delivered, Object: job})
			time.Sleep(after)
			e := &event{Point: fakes.Checked, Command: fwp.Command{Verb: fwp.FAIL}, Object: job}
			h(e)
			assert.Equal(t, late, e.Skip, after)
		})
	}
}

func TestEveryNth(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"push-lost": 50, "push-lost-rarely": 500, "push-lost-seldom": 5000} {
		h, lost := hook(t, name), 0
		for range 3 * n {
			e := &event{Point: fakes.Defaulted}
			h(e)
			h(&event{Point: fakes.Checked})
			if e.Skip {
				lost++
			}
		}
		assert.Equal(t, 3, lost, name)
	}
}
