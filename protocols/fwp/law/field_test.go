package law_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/transcript"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
)

// TestFields has a job come with other fields than it was pushed with.
func TestFields(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ fields, delivery, want string }{
		"as it was":                    {"", `{}`, ""},
		"with what nobody asked for":   {"", `{"mine":1}`, ""},
		"jobtype":                      {"", `{"jobtype":"u"}`, "FWP-WU-02 field"},
		"args":                         {"", `{"args":[9007199254740992]}`, "FWP-WU-03 field"},
		"args, another notation":       {"", `{"args":[9007199254740993.0]}`, ""},
		"args, another kind":           {"", `{"args":["9007199254740993"]}`, "FWP-WU-03 field"},
		"args left out":                {"", `{"args":"ABSENT"}`, "FWP-WU-03 field"},
		"queue":                        {"", `{"queue":"r"}`, "FWP-WU-04 field"},
		"queue left out":               {"", `{"queue":"ABSENT"}`, ""},
		"letters in args":              {`,"args":["é"]`, `{"args":["?"]}`, "FWP-FRAME-09 field"},
		"letters in args, but some":    {`,"args":["éé"]`, `{"args":["é"]}`, "FWP-WU-03 field"},
		"custom":                       {`,"custom":{"a":1}`, `{"custom":{"a":2}}`, "FWP-WU-11 field"},
		"custom left out":              {`,"custom":{"a":1}`, `{"custom":"ABSENT"}`, "FWP-WU-11 field"},
		"custom invented":              {"", `{"custom":{"a":1}}`, "FWP-WU-11 field"},
		"custom, null":                 {"", `{"custom":null}`, ""},
		"custom, empty, and more":      {`,"custom":{}`, `{"custom":{"a":1}}`, "FWP-WU-11 field"},
		"custom, empty, another kind":  {`,"custom":{}`, `{"custom":[]}`, "FWP-WU-11 field"},
		"custom, empty, left out":      {`,"custom":{}`, `{"custom":"ABSENT"}`, ""},
		"retry":                        {`,"retry":5`, `{"retry":6}`, "FWP-WU-07 field"},
		"retry left out":               {`,"retry":5`, `{"retry":"ABSENT"}`, ""},
		"retry, the default":           {"", `{"retry":25}`, ""},
		"retry, another default":       {"", `{"retry":24}`, "FWP-RETRY-04 field"},
		"retry, the default left out":  {`,"retry":25`, `{"retry":"ABSENT"}`, ""},
		"retry, null and something":    {`,"retry":null`, `{"retry":25}`, ""},
		"backtrace":                    {`,"backtrace":5`, `{"backtrace":6}`, "FWP-WU-09 field"},
		"backtrace, the default":       {"", `{"backtrace":0}`, ""},
		"backtrace, another default":   {"", `{"backtrace":5}`, "FWP-WU-08 field"},
		"reserve_for":                  {`,"reserve_for":60`, `{"reserve_for":61}`, "FWP-WU-05 field"},
		"reserve_for, the default":     {"", `{"reserve_for":1800}`, ""},
		"reserve_for, another default": {"", `{"reserve_for":600}`, "FWP-WU-05 field"},
		"reserve_for, raised":          {`,"reserve_for":59`, `{"reserve_for":60}`, ""},
		"created_at left out":          {"", `{"created_at":"ABSENT"}`, "FWP-WU-10 field"},
		"created_at, no time":          {"", `{"created_at":"now"}`, "FWP-WU-10 field"},
		"created_at, another": {
			`,"created_at":"2026-01-01T00:00:00Z"`,
			`{"created_at":"2026-01-01T00:00:02Z"}`,
			"FWP-WU-10 field",
		},
		"created_at, cut to seconds": {
			`,"created_at":"2026-01-01T00:00:00.9Z"`,
			`{"created_at":"2026-01-01T00:00:00Z"}`,
			"",
		},
		"created_at, rounded": {
			`,"created_at":"2026-01-01T00:00:00.1239Z"`,
			`{"created_at":"2026-01-01T00:00:00.124Z"}`,
			"",
		},
		"created_at, another fraction": {
			`,"created_at":"2026-01-01T00:00:00.5Z"`,
			`{"created_at":"2026-01-01T00:00:00.25Z"}`,
			"FWP-WU-10 field",
		},
		"created_at, another zone": {
			`,"created_at":"2026-01-01T00:00:00Z"`,
			`{"created_at":"2026-01-01T01:00:00+01:00"}`,
			"",
		},
		"created_at in lower case": {
			`,"created_at":"2026-01-01T00:00:00Z"`,
			`{"created_at":"2026-01-01t01:00:00+01:00"}`,
			"",
		},
		"enqueued_at left out": {"", `{"enqueued_at":"ABSENT"}`, "FWP-WU-12 field"},
		"enqueued_at of the client": {
			`,"enqueued_at":"2026-01-01T00:00:00Z"`,
			`{"enqueued_at":"2026-01-01T00:00:00Z"}`,
			"FWP-WU-12 field",
		},
		"enqueued_at is created_at, old": {
			`,"created_at":"2025-12-31T00:00:00Z"`,
			`{"enqueued_at":"2025-12-31T00:00:00Z"}`,
			"FWP-WU-12 field",
		},
		"enqueued_at is created_at, fresh": {
			`,"created_at":"2026-01-02T03:00:00Z"`,
			`{"enqueued_at":"2026-01-02T03:00:00Z"}`,
			"",
		},
		"enqueued before at": {
			`,"at":"2026-01-02T03:04:06.5Z"`,
			`{"enqueued_at":"2026-01-02T03:04:05Z"}`,
			"FWP-WU-06 field",
		},
		"enqueued just before at": {
			`,"at":"2026-01-02T03:04:06Z"`,
			`{"enqueued_at":"2026-01-02T03:04:05Z"}`,
			"",
		},
		"at": {
			`,"at":"2026-01-02T03:04:05Z"`,
			`{"at":"2026-01-02T03:04:06Z"}`,
			"FWP-WU-06 field",
		},
		"at left out":      {`,"at":"2026-01-02T03:04:05Z"`, `{"at":"ABSENT"}`, ""},
		"failure invented": {"", `{"failure":{"message":"x"}}`, "FWP-WU-13 field"},
		"failure, null":    {"", `{"failure":null}`, ""},
		"all optional, null": {
			`,"retry":3,"backtrace":2,"reserve_for":600,"at":"2026-01-02T03:04:05Z"`,
			`{"queue":null,"retry":null,"backtrace":null,"reserve_for":null,"at":null,"custom":null,"failure":null}`, "",
		},
		"null, given back": {
			`,"retry":null,"backtrace":null,"reserve_for":null,"at":null,"custom":null`, `{}`, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, summary(talk(t, join(hello, pushWith(test.fields), take+" "+test.delivery))))
		})
	}
}

// TestAssumedFields has a job come with a value that differs, and then more.
func TestAssumedFields(t *testing.T) {
	t.Parallel()
	differing := func(fields string) string { return join(hello, pushWith(""), "1 C: FETCH q", "> 1 S: JOB "+fields) }
	redelivery := func(fields string) string {
		return join(differing(`{"args":[1]}`), fail, "+20s", "1 C: FETCH q",
			`1 S: JOB {"failure":{"errtype":"Boom","message":"it broke"},"enqueued_at":"2026-01-02T03:04:25Z"`+fields+`}`)
	}
	two := join(differing(`{"args":[1],"retry":7}`), pushSecond(""), "1 C: FETCH q")
	twice := join("1 C: FETCH q", "1 S: JOB")
	judge(t, map[string]row{
		"the same value": {redelivery(`,"args":[1]`), ""},
		"the right one":  {redelivery(""), ""},
		"one more":       {redelivery(`,"args":[2]`), "FWP-WU-03 field"},
		"another field":  {redelivery(`,"args":[1],"jobtype":"u"`), "FWP-WU-02 field"},
		"two, of which one has a retry of its own": {join(two, `1 S: JOB2 {"args":[1],"retry":7}`), "FWP-RETRY-04 field"},
		"the job is still judged":                  {join(differing(`{"args":[1]}`), twice), "FWP-STATE-05 delivered"},
		"but with another lease":                   {join(differing(`{"reserve_for":600}`), twice), ""},
		"with another retry":                       {join(differing(`{"retry":0}`), twice), "FWP-STATE-05 delivered"},
		"whether it comes back, open":              {join(differing(`{"retry":0}`), fail, "+200s", fetchNothing), ""},
	})
}

// TestFailures has a job come back after a FAIL.
func TestFailures(t *testing.T) {
	t.Parallel()
	failWith := func(fields string) string { return join(hello, pushWith(fields), take, fail, "+20s", "1 C: FETCH q") }
	const good, at = `"errtype":"Boom","message":"it broke"`, `"enqueued_at":"2026-01-02T03:04:25Z"`
	delivery := func(failure string) string { return `1 S: JOB {"failure":{` + failure + `},` + at + `}` }
	twoFailures := func(failure, second string) string {
		const other = `"errtype":"Other","message":"once more"`
		return join(failWith(""), delivery(failure), `1 C: FAIL {"jid":"jid-0000000000000001",`+other+`,"backtrace":[]}`, "1 S: +OK",
			"+20s", "1 C: FETCH q", `1 S: JOB {"failure":{`+second+`}}`)
	}
	const anotherLine = `"another line"`
	lines := func(keep, first, report, second string) string {
		const other = `"errtype":"Other","message":"once more"`
		return join(failWith(`,"backtrace":`+keep), delivery(good+`,"backtrace":[`+first+`]`),
			`1 C: FAIL {"jid":"jid-0000000000000001",`+other+`,"backtrace":[`+report+`]}`, "1 S: +OK", "+20s",
			"1 C: FETCH q", `1 S: JOB {"failure":{`+other+`,"backtrace":[`+second+`]}}`)
	}
	judge(t, map[string]row{
		"as it was":               {join(failWith(""), delivery(good)), ""},
		"anywhere in it":          {join(failWith(""), delivery(`"x":[{"y":"Boom: it broke"}]`)), ""},
		"without the type":        {join(failWith(""), delivery(`"message":"it broke"`)), "FWP-FAIL-06 field"},
		"without the message":     {join(failWith(""), delivery(`"errtype":"Boom"`)), "FWP-FAIL-06 field"},
		"a failure in words":      {join(failWith(""), `1 S: JOB {"failure":"it broke",`+at+`}`), "FWP-WU-13 field"},
		"without any":             {join(failWith(""), "1 S: JOB"), "FWP-WU-13 field doubtful"},
		"two failures":            {twoFailures(good, `"errtype":"Other","message":"once more"`), ""},
		"two failures, the first": {twoFailures(good, good), "FWP-WU-13 field"},
		"two failures, neither":   {twoFailures(good, `"message":"x"`), "FWP-FAIL-06 field"},
		"a backtrace unasked": {
			join(failWith(""), delivery(good+`,"backtrace":["line one of it"]`)),
			"FWP-WU-08 field",
		},
		"a backtrace of 0 lines": {
			join(failWith(`,"backtrace":0`), delivery(good+`,"backtrace":["line one of it"]`)),
			"FWP-WU-08 field",
		},
		"a backtrace": {
			join(failWith(`,"backtrace":1`), delivery(good+`,"backtrace":["line one of it"]`)),
			"",
		},
		"a backtrace missing": {join(failWith(`,"backtrace":1`), delivery(good)), "FWP-WU-09 field"},
		"a backtrace with more": {
			join(failWith(`,"backtrace":1`), delivery(good+`,"backtrace":["line one of it","line two of it"]`)),
			"FWP-WU-09 field",
		},
		"a backtrace, the wrong line": {
			join(failWith(`,"backtrace":1`), delivery(good+`,"backtrace":["line two of it"]`)),
			"FWP-WU-09 field",
		},
		"two backtraces": {lines("1", `"line one of it"`, anotherLine, `"another line"`), ""},
		"two backtraces, too many": {
			lines("1", `"line one of it"`, anotherLine, `"another line","line one of it"`), "FWP-WU-08 field",
		},
		"two backtraces, as many": {
			lines("3", `"line one of it","line two of it"`, anotherLine, `"another line","line one of it"`), "",
		},
		"a backtrace of before": {
			lines("3", `"line one of it","line two of it"`, "", `"line one of it","line two of it"`), "FWP-WU-13 field",
		},
		"a backtrace, all": {
			join(failWith(`,"backtrace":9`), delivery(good+`,"backtrace":["line one of it","line two of it"]`)),
			"",
		},
	})
}

// TestDecidedRules: only a reply with other characters than those of ASCII shows that it is UTF-8, and only an OK shows
// that a BEAT is answered as it should be where no operator has ordered anything.
func TestDecidedRules(t *testing.T) {
	t.Parallel()
	for reply, test := range map[string]struct {
		command, rule string
		isKept        bool
	}{
		"1 S: -ERR":                   {"ACK {}", "text", false},
		"1 S: -ERR ü":                 {"ACK {}", "text", true},
		"1 S: -ERR \\xff":             {"ACK {}", "text", true},
		"1 S: +OK":                    {`BEAT {"wid":"worker-1"}`, "reply", true},
		`1 S: ${"state":"terminate"}`: {`BEAT {"wid":"worker-1"}`, "reply", false},
	} {
		c := newConversation(t)
		c.play(join(hello, "1 C: "+test.command, reply), func(transcript.Event, *law.Violation) {})
		assert.Equal(t, test.isKept, slices.Contains(c.w.Conns[1].Decided.KeptRules, test.rule), reply)
	}
}

// TestJobText: a job is UTF-8 unless a command was none.
func TestJobText(t *testing.T) {
	t.Parallel()
	delivery := join("1 C: FETCH q", `1 S: ${"jid":"jid-0000000000000001","jobtype":"t","args":[9007199254740993],"queue":"q",`+
		`"reserve_for":1800,"retry":25,"created_at":"2026-01-02T03:04:05Z",`+
		`"enqueued_at":"2026-01-02T03:04:05Z","x":"`+"\\xff\"}")
	judge(t, map[string]row{
		"other bytes":                   {join(hello, pushWith(""), delivery), "FWP-FRAME-09 text"},
		"other bytes behind a client's": {join(hello, "1 C: INFO\\xff", "1 S: -ERR", pushWith(""), delivery), ""},
	})
}

// TestExpiredReservation has a job come back that its worker did not report.
func TestExpiredReservation(t *testing.T) {
	t.Parallel()
	const failure = `"failure":{"message":"x"}`
	expired := join(hello, pushWith(`,"reserve_for":60`), take, "+61s", "1 C: FETCH q")
	judge(t, map[string]row{
		"with a failure": {join(expired, `1 S: JOB {`+failure+`}`), ""},
		"without one, two that wait": {
			join(
				hello, pushWith(`,"reserve_for":60`), take, "+61s", `2 C: HELLO {"v":2}`, "2 S: +OK", "2 C: FETCH q",
				"1 C: FETCH q", "1 S: JOB",
			),
			"FWP-WU-13 field doubtful",
		},
		"without one, after looking twice": {
			join(
				hello, pushWith(`,"reserve_for":60`), take, "+61s", "1 C: FETCH a q", "+2s", "1 S: $-1", "1 C: FETCH q", "1 S: JOB",
			),
			"FWP-WU-13 field doubtful",
		},
		"without one, the second time": {
			join(
				expired, `1 S: JOB {`+failure+`,"enqueued_at":"2026-01-02T03:05:05Z"}`, "+61s", "1 C: FETCH q",
				`1 S: JOB {"enqueued_at":"2026-01-02T03:06:05Z"}`,
			),
			"FWP-WU-13 field doubtful",
		},
		"enqueued then": {
			join(expired, `1 S: JOB {`+failure+`,"enqueued_at":"2026-01-02T03:05:05Z"}`),
			"",
		},
		"enqueued at first": {
			join(expired, `1 S: JOB {`+failure+`,"enqueued_at":"2026-01-02T03:04:05Z"}`),
			"FWP-WU-12 field doubtful",
		},
		"just before it ends": {
			join(hello, pushWith(`,"reserve_for":60`), take, "+59s", take),
			"FWP-WU-05 delivered",
		},
		"a report that comes late": {join(expired[:len(expired)-12], ack), ""},
		"and is refused":           {join(expired[:len(expired)-12], refuse(ack)), ""},
		"reserved for less than 60": {
			join(hello, pushWith(`,"reserve_for":5`), take, "+59s", take),
			"FWP-WU-05b delivered",
		},
		"reserved for 1800 s at all": {join(hello, pushWith(""), take, "+1799s", take), "FWP-WU-05 delivered"},
	})
}

// TestStamps has a job come with times that the server sets.
func TestStamps(t *testing.T) {
	t.Parallel()
	const earlyTime, lateTime = `2026-01-02T02:04:05Z`, `2026-01-02T05:04:05Z`
	stamps := func(created, enqueued string) string {
		return `1 C: FETCH q` + "\n" + `1 S: JOB {"created_at":"` + created + `","enqueued_at":"` + enqueued + `"}`
	}
	firstDelivery := join(hello, pushWith(""), take)
	redelivery := func(created, enqueued string) string {
		return join(firstDelivery, fail, "+60s", `1 C: FETCH q`, `1 S: JOB {"failure":{"errtype":"Boom","message":"it broke"},`+
			`"created_at":"`+created+`","enqueued_at":"`+enqueued+`"}`)
	}
	next := func(created, enqueued string) string {
		return join(firstDelivery, ack, "+60s", pushSecond(""), `1 C: FETCH q`,
			`1 S: JOB2 {"created_at":"`+created+`","enqueued_at":"`+enqueued+`"}`)
	}
	const first, later = "2026-01-02T03:04:05Z", "2026-01-02T03:05:05Z"
	judge(t, map[string]row{
		"the server's clock is an hour ahead": {join(hello, pushWith(""), stamps(lateTime, lateTime)), ""},
		"enqueued before it was created":      {join(hello, pushWith(""), stamps(first, earlyTime)), "FWP-WU-12 field"},
		"enqueued long after it was created": {
			join(hello, pushWith(""), stamps(first, "2026-01-02T03:04:12Z")),
			"FWP-WU-12 field",
		},
		"created long ago":                {join(hello, pushWith(""), stamps(earlyTime, first)), "FWP-WU-10 field"},
		"came long after it was enqueued": {join(hello, pushWith(""), "+60s", stamps(first, first)), ""},
		"enqueued when it came": {
			join(hello, pushWith(""), "+60s", stamps(first, later)),
			"FWP-WU-12 field",
		},
		"scheduled, enqueued when it was due": {
			join(hello, pushWith(`,"at":"2026-01-02T03:05:00Z"`), "+60s", stamps(first, "2026-01-02T03:05:01Z")),
			"",
		},
		"scheduled, enqueued after it came": {
			join(hello, pushWith(`,"at":"2026-01-02T03:05:00Z"`), "+60s", stamps(first, "2026-01-02T03:05:15Z")),
			"FWP-WU-12 field",
		},
		"failed, as it was created":              {redelivery(first, later), ""},
		"failed, created anew":                   {redelivery(later, later), "FWP-WU-10 field"},
		"failed, enqueued before":                {redelivery(first, "2026-01-02T03:04:00Z"), "FWP-WU-12 field doubtful"},
		"another job, by the same clock":         {next(later, later), ""},
		"another job, created with the first":    {next(first, later), "FWP-WU-10 field"},
		"another job, enqueued before the first": {next(later, earlyTime), "FWP-WU-12 field"},
	})
}

func TestEqual(t *testing.T) {
	t.Parallel()
	n := func(s string) any { return json.Number(s) }
	for _, test := range []struct {
		a, b any
		want bool
	}{
		{"a", "a", true}, {"a", "b", false}, {nil, nil, true}, {nil, "", false}, {true, true, true},
		{true, false, false},
		{n("1"), n("1"), true}, {n("1"), n("2"), false}, {n("1"), "1", false}, {"1", n("1"), false},
		{n("1"), n("1.0"), true}, {n("100"), n("1e2"), true}, {n("0.1"), n("1e-1"), true},
		{n("0.1"), n("0.2"), false}, {n("-0"), n("0"), true},
		{n("9007199254740993"), n("9007199254740992"), false},
		{n("4611686018427387905"), n("4611686018427387904"), false},
		{n("-4611686018427387905"), n("-4611686018427387904"), false},
		{n("9223372036854775807"), n("9223372036854775808"), false},
		{n("-9223372036854775807"), n("-9223372036854775808"), false},
		{n("9223372036854775807.0"), n("9223372036854775806"), false},
		{n("9223372036854775807"), n("9.223372036854775807e18"), true},
		{n("9223372036854775808"), n("9223372036854775809"), true}, {n("1e400"), n("2e400"), true},
		{n("0.1000000000000000055"), n("0.1"), true},
		{[]any{n("1")}, []any{n("1.0")}, true}, {[]any{n("1")}, []any{}, false},
		{[]any{n("1"), n("2")}, []any{n("2"), n("1")}, false}, {[]any{}, nil, false},
		{map[string]any{"a": n("1")}, map[string]any{"a": n("1.0")}, true},
		{map[string]any{"a": nil}, map[string]any{"b": nil}, false},
		{map[string]any{"a": nil}, map[string]any{}, false}, {map[string]any{}, map[string]any{"a": nil}, false},
		{map[string]any{}, []any{}, false},
		{map[string]any{"a": n("1")}, map[string]any{"a": n("2")}, false},
	} {
		assert.Equal(t, test.want, fwplaw.Equal(test.a, test.b), "%v and %v", test.a, test.b)
	}
}
