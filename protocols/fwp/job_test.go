package fwp_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

func TestJobReadsEveryField(t *testing.T) {
	t.Parallel()
	var j fwp.Job
	require.NoError(t, json.Unmarshal([]byte(`{
		"jid": "0123456789abcdef", "jobtype": "mail", "args": [9007199254740993, 1.0, "<&>", {"JID": null}],
		"queue": "bulk", "reserve_for": 60, "at": "2030-01-02T03:04:05Z", "retry": -1, "backtrace": 0,
		"created_at": "a", "custom": {"x": 1e400}, "enqueued_at": "b", "failure": {"y": [ ]},
		"JID": "other", "priority": 9007199254740993, "": null
	}`), &j))
	assert.Equal(t, fwp.Job{
		JID: "0123456789abcdef", Type: "mail",
		Args:  json.RawMessage(`[9007199254740993, 1.0, "<&>", {"JID": null}]`),
		Queue: "bulk", ReserveFor: new(int64(60)), At: "2030-01-02T03:04:05Z", Retry: new(int64(-1)),
		Backtrace: new(int64(0)),
		CreatedAt: "a", Custom: json.RawMessage(`{"x": 1e400}`), EnqueuedAt: "b", Failure: json.RawMessage(`{"y": [ ]}`),
		Extra: map[string]json.RawMessage{
			"JID": json.RawMessage(`"other"`), "priority": json.RawMessage(`9007199254740993`), "": json.RawMessage(`null`),
		},
	}, j)

	out, err := j.MarshalJSON()
	require.NoError(t, err)
	assertText(t, `{"jid":"0123456789abcdef","jobtype":"mail","args":[9007199254740993,1.0,"<&>",{"JID":null}],`+
		`"queue":"bulk","reserve_for":60,"at":"2030-01-02T03:04:05Z","retry":-1,"backtrace":0,`+
		`"created_at":"a","custom":{"x":1e400},"enqueued_at":"b","failure":{"y":[]},`+
		`"":null,"JID":"other","priority":9007199254740993}`, out)

	viaJSON, err := json.Marshal(j)
	require.NoError(t, err)
	assert.Contains(t, string(viaJSON), `[9007199254740993,1.0,"\u003c\u0026\u003e",{"JID":null}]`)
}

func TestJobZeroAndNull(t *testing.T) {
	t.Parallel()
	out, err := fwp.Job{}.MarshalJSON()
	require.NoError(t, err)
	assertText(t, `{"jid":"","jobtype":"","args":[]}`, out)

	j := fwp.Job{JID: "old", Queue: "old", Extra: map[string]json.RawMessage{"old": json.RawMessage("1")}}
	require.NoError(t, json.Unmarshal([]byte(` {"queue":null,"reserve_for":null,"at":null,"retry":null,"backtrace":null,
		"created_at":null,"custom":null,"enqueued_at":null,"failure":null} `), &j))
	assert.Equal(t, fwp.Job{}, j, "nulls are omissions, and nothing of the old job stays")
	require.NoError(t, json.Unmarshal([]byte("{}"), &j))
	assert.Equal(t, fwp.Job{}, j)
}

func TestJobExactIntegers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "-0": 0, "-1": -1, "9007199254740993": 9007199254740993,
		"9223372036854775807": 9223372036854775807, "-9223372036854775808": -9223372036854775808,
	} {
		var j fwp.Job
		require.NoError(t, json.Unmarshal([]byte(`{"retry":`+text+`}`), &j))
		assert.Equal(t, want, *j.Retry)
	}
}

const notInteger = "expected a 64-bit integer, got "

var brokenJobs = map[string]string{
	`null`: "expected a JSON object, got \"null\"", `[]`: "expected a JSON object, got \"[]\"",
	`5`:                                "expected a JSON object, got \"5\"",
	`{"jid":5}`:                        `jid: expected a string, got "5"`,
	`{"jid":null}`:                     `jid: expected a string, got "null"`,
	"{\"jid\":\"\xff\"}":               "jid: expected UTF-8 text, got \"\\\"\\xff\\\"\"",
	`{"jobtype":["a"]}`:                `jobtype: expected a string, got "[\"a\"]"`,
	`{"jobtype":null}`:                 `jobtype: expected a string, got "null"`,
	`{"args":null}`:                    `args: expected an array, got "null"`,
	`{"args":{}}`:                      `args: expected an array, got "{}"`,
	`{"args":"[]"}`:                    `args: expected an array, got "\"[]\""`,
	`{"queue":1}`:                      `queue: expected a string, got "1"`,
	`{"at":1}`:                         `at: expected a string, got "1"`,
	`{"created_at":true}`:              `created_at: expected a string, got "true"`,
	`{"enqueued_at":{}}`:               `enqueued_at: expected a string, got "{}"`,
	`{"reserve_for":"60"}`:             "reserve_for: " + notInteger + `"\"60\""`,
	`{"retry":1.5}`:                    "retry: " + notInteger + `"1.5"`,
	`{"retry":1.0}`:                    "retry: " + notInteger + `"1.0"`,
	`{"retry":1e3}`:                    "retry: " + notInteger + `"1e3"`,
	`{"retry":9223372036854775808}`:    "retry: " + notInteger + `"9223372036854775808"`,
	`{"backtrace":true}`:               "backtrace: " + notInteger + `"true"`,
	`{"custom":[]}`:                    `custom: expected an object, got "[]"`,
	`{"failure":"x"}`:                  `failure: expected an object, got "\"x\""`,
	`{"jid":"a","jid":"a"}`:            `key "jid" occurs twice`,
	`{"jid":"a","\u006aid":"a"}`:       `key "jid" occurs twice`,
	`{"other":1,"other":1}`:            `key "other" occurs twice`,
	"{\"\xff\":1}":                     "key \"\ufffd\" is not UTF-8",
	`{"args":[],"args":null,"jid":""}`: `key "args" occurs twice`,
}

func TestJobRefusesToRead(t *testing.T) {
	t.Parallel()
	for text, want := range brokenJobs {
		j := fwp.Job{JID: "kept"}
		err := json.Unmarshal([]byte(text), &j)
		require.EqualError(t, err, "work unit: "+want, "%s", text)
		assert.Equal(t, fwp.Job{JID: "kept"}, j)
	}
	for _, text := range []string{"", "{", "{}x", `{"a":1,}`, `{"a" 1}`, `{a:1}`, "{}{}"} {
		assert.Error(t, new(fwp.Job).UnmarshalJSON([]byte(text)), "%q", text)
	}
}

func TestJobRefusesToWrite(t *testing.T) {
	t.Parallel()
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	cases := map[string]fwp.Job{
		"jid: not UTF-8 text":                               {JID: "\xff"},
		"queue: not UTF-8 text":                             {Queue: "a\xc3"},
		`args: expected an array, got "{}"`:                 {Args: raw("{}")},
		"args: unexpected end of JSON input":                {Args: raw("[1")},
		`custom: expected an object, got "null"`:            {Custom: raw("null")},
		"failure: unexpected end of JSON input":             {Failure: raw("")},
		"retry: stands in Extra and has a field of its own": {Extra: map[string]json.RawMessage{"retry": raw("1")}},
		"x: unexpected end of JSON input":                   {Extra: map[string]json.RawMessage{"x": raw("")}},
		"\xff: not UTF-8 text":                              {Extra: map[string]json.RawMessage{"\xff": raw("1")}},
	}
	for want, j := range cases {
		_, err := j.MarshalJSON()
		assert.EqualError(t, err, "work unit: "+want)
	}
}

func TestJobIsOneLine(t *testing.T) {
	t.Parallel()
	j := fwp.Job{JID: "a\r\nb", Args: json.RawMessage("[\r\n1,\n\t\"<\" ]"), Extra: map[string]json.RawMessage{"n": nil}}
	out, err := j.MarshalJSON()
	require.NoError(t, err)
	assertText(t, `{"jid":"a\r\nb","jobtype":"","args":[1,"<"],"n":null}`, out)
	_, err = fwp.ParseCommand(append([]byte("PUSH "), out...))
	assert.NoError(t, err)
}

// assertText compares bytes; assert.JSONEq would go through float64.
func assertText(t *testing.T, want string, got []byte) {
	t.Helper()
	assert.Equal(t, want, string(got))
}

func TestJIDOf(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`{"jid":"a","queue":"q"}`: "a", `{"queue":"q"}`: "", `{"jid":5}`: "", `["jid"]`: "", `{"jid":"a"`: "",
		`{"JID":"a"}`: "", "": "",
	} {
		assert.Equal(t, want, fwp.JIDOf([]byte(object)), object)
	}
}
