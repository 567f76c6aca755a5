package situations

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
)

func TestSameField(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		field, pushed, got string
		want               bool
	}{
		{"custom", `null`, `null`, true},
		{"custom", `null`, `{}`, true},
		{"custom", `null`, `[]`, false},
		{"custom", `{}`, `null`, false},
		{"custom", `{"a":[1,null]}`, `{"a":[1.0,null]}`, true},
		{"custom", `{"a":[1,null]}`, `{"a":[1]}`, false},
		{"custom", `{"a":1}`, `{"a":1,"trace":2}`, true},
		{"custom", `{"a":1,"b":null}`, `{"a":1,"trace":2}`, false},
		{"custom", `[1]`, `{"a":1}`, false},
		{"args", `[{"a":1}]`, `[{"a":1,"b":2}]`, false},
		{"args", `[9007199254740993]`, `[9007199254740992]`, false},
		{"args", `[1e21]`, `[1000000000000000000000]`, true},
		{"args", `["1"]`, `[1]`, false},
		{"at", `"2024-01-02T03:04:05+02:00"`, `"2024-01-02T01:04:05Z"`, true},
		{"at", `"2024-01-02T03:04:05.6789Z"`, `"2024-01-02T03:04:05.6781Z"`, true},
		{"at", `"2024-01-02T03:04:05.678Z"`, `"2024-01-02T03:04:05.679Z"`, false},
		{"created_at", `"2024-01-02T03:04:05Z"`, `"2024-01-02 03:04:05Z"`, false},
		{"created_at", `"2024-01-02T03:04:05Z"`, `1704164645`, false},
		{"queue", `"2024-01-02T03:04:05+02:00"`, `"2024-01-02T01:04:05Z"`, false},
	} {
		assert.Equal(t, row.want, sameField(row.field, decodeJSON(row.pushed), decodeJSON(row.got)), "%v", row)
	}
}

func TestArrayIn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[1,2]`: `[1,2]`, `failed with [1,["x"]] at line [3]`: `[1,["x"]]`, `[not JSON] but ["this"]`: `["this"]`,
		`none`: "", `[`: "", `[1`: "",
	} {
		got, has := arrayIn(text)
		assert.Equal(t, want != "", has, text)
		if has {
			assert.True(t, sameValue(decodeJSON(want), got), text)
		}
	}
}

func TestTextsOfJSON(t *testing.T) {
	t.Parallel()
	assert.Equal(t, `{"a":[1]}`, shortJSON(map[string]any{"a": []any{1}}))
	assert.Len(t, shortJSON(strings.Repeat("x", 200)), 120+len("..."))
	assert.Equal(t, "a, b, c", enumerate([]string{"a", "b", "c"}))
	assert.Equal(t, "a, b, c and 2 more", enumerate([]string{"a", "b", "c", "d", "e"}))
	assert.Equal(t, "one", firstLine("one; the last lines that it printed:\ntwo"))
}

// TestUnitsOfJobs: what a job leaves out has a value that means nothing special.
func TestUnitsOfJobs(t *testing.T) {
	t.Parallel()
	u := job{jid: "j"}.unit("q")
	assert.Equal(t, unit{jid: "j", json: `{"jid":"j","jobtype":"fwp.ok","args":[],"queue":"q"}`}, u)
	u = job{jid: "j", jobtype: "x", args: "[1]", queue: "own", members: `,"retry":0`}.unit("q")
	assert.Equal(t, `{"jid":"j","jobtype":"x","args":[1],"queue":"own","retry":0}`, u.json)
	first, second := job{}.unit("q").jid, job{}.unit("q").jid
	assert.NotEqual(t, first, second)
	assert.Regexp(t, `^fwp[a-z0-9]{20,}$`, job{}.unit("q").jid)
}

// TestUnusualJobs: every job is JSON, with the id and the arguments of the row.
func TestUnusualJobs(t *testing.T) {
	t.Parallel()
	for name, jobs := range map[string][]job{
		"jids": deliveredJIDs(), "arguments": deliveredArguments(), "fields": deliveredFields(),
		"given arguments": pushArguments(), "given fields": pushFields(),
	} {
		assert.Greater(t, len(jobs), 8, name)
		for _, j := range jobs {
			u := j.unit("q")
			fields, ok := decodeJSON(u.json).(map[string]any)
			assert.True(t, ok, u.json)
			assert.Equal(t, u.jid, fields["jid"])
		}
	}
	for _, args := range echoArguments() {
		assert.LessOrEqual(t, escapedLen(args), 100, args)
	}
}

// TestGeneratedValues: they are the same in each play, and none is there twice.
func TestGeneratedValues(t *testing.T) {
	t.Parallel()
	jids := map[string]bool{}
	for _, j := range deliveredJIDs() {
		assert.False(t, jids[j.jid] || j.jid == "", j.jid)
		jids[j.jid] = true
	}
	first := deliveredFields()
	assert.Equal(t, first, deliveredFields())
	assert.Equal(t, []string{"[1,2]", "[3]"}, packArrays([]string{"1", "2", "12345", "3"}, 2, 4))
	assert.Equal(t, []string{"[]", "[0]", "[0,1]", "[0,1,2]"}, intArrays(3))
	assert.Equal(t, 1+6+12, escapedLen("aé🦆"))
	for text, want := range map[string]bool{
		"1": true, "-0.5": true, "1e3": true, "0.1": false, "9007199254740993": false, "1e21": false,
		"9007199254740991": true,
	} {
		assert.Equal(t, want, isExact(text), text)
	}
	types := map[string]int{}
	for _, j := range manyJobs(300) {
		types[j.jobtype]++
	}
	assert.Len(t, types, 4)
	greetings := newGenerator().greetings(8)
	for i, g := range greetings {
		assert.Equal(t, i%2 == 0, g.iterations < 10, g)
		assert.Equal(t, i%4 == 1, i > 0 && g.salt == greetings[i-1].salt, "the salt of the one before it")
	}
	for _, text := range newGenerator().errors() {
		assert.NotContains(t, text, "\n")
	}
}

func TestOutcomesOfJobs(t *testing.T) {
	t.Parallel()
	for jobtype, want := range map[string]clientrules.Outcome{
		"fwp.ok": {IsKnown: true}, "fwp.fail": {IsKnown: true, IsFailure: true}, "fwp.echo": {IsKnown: true, IsFailure: true},
		unknownType: {IsKnown: true, IsFailure: true}, "fwp.sleep": {IsKnown: true, Duration: 1500 * time.Millisecond}, "other": {},
	} {
		assert.Equal(t, want, outcomeOf(jobtype, []any{1.5}), jobtype)
	}
	assert.Zero(t, secondsOf(nil))
	assert.Zero(t, secondsOf([]any{"1"}))
}

// TestInputGrows: a program reads what its input has, waits for more, and reads the end.
func TestInputGrows(t *testing.T) {
	t.Parallel()
	in := newInput("one", "two")
	buf := make([]byte, 5)
	n, err := in.Read(buf)
	assert.NoError(t, err)
	assert.Equal(t, "one\nt", string(buf[:n]))
	in.add("three")
	in.end()
	rest, err := io.ReadAll(in)
	assert.NoError(t, err)
	assert.Equal(t, "wo\nthree\n", string(rest))
	_, err = in.Read(buf)
	assert.ErrorIs(t, err, io.EOF)
}

func TestPrintedLinesAreBounded(t *testing.T) {
	t.Parallel()
	l := new(lines)
	for range maxPrinted + 10 {
		l.add("x")
	}
	assert.Len(t, l.all(), maxPrinted)
	l.all()[0].Text = "y"
	assert.Equal(t, "x", l.all()[0].Text, "the caller has a copy")
}

// TestCommandsHaveTheirEnvironment: words and variables tell a program the same.
func TestCommandsHaveTheirEnvironment(t *testing.T) {
	t.Parallel()
	e := Environment{URL: "tcp://h:1", Queues: []string{"a", "b"}, Concurrency: 3}
	assert.Equal(t, []string{
		"FAKTORY_URL=tcp://h:1", "FAKTORY_PROVIDER", providerName, "FWP_QUEUES=a,b", "FWP_CONCURRENCY=3",
	}, e.variables())
	e.UsesProvider, e.CA, e.Zone = true, "/ca.pem", oddZone
	assert.Equal(t, []string{
		"FAKTORY_URL=" + deadURL, "FAKTORY_PROVIDER=" + providerName, providerName + "=tcp://h:1", "FWP_QUEUES=a,b",
		"FWP_CONCURRENCY=3", "TZ=Asia/Kathmandu", "SSL_CERT_FILE=/ca.pem", "NODE_EXTRA_CA_CERTS=/ca.pem", "REQUESTS_CA_BUNDLE=/ca.pem",
	}, e.variables())
	for _, row := range []struct {
		words, part string
		want        bool
	}{
		{"run -q {queues}", "queues", true}, {"run -q {queues}", "concurrency", false}, {"run -c {n}", "concurrency", true},
		{"run -c {concurrency}", "concurrency", true}, {"run {n}", "queues", false},
	} {
		assert.Equal(t, row.want, Command{Words: strings.Fields(row.words)}.Sets(row.part), row.words)
	}
}
