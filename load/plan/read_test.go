package plan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/plan"
)

// smallJobs makes jobs whose JSON can be written by hand.
func smallJobs(tb testing.TB) *plan.Jobs {
	tb.Helper()
	w := plan.Workload{Queues: plan.Queues{Number: 1}, Payload: plan.Constant(3)}
	j := w.Jobs("a", 42)
	require.Equal(tb, `{"jid":"fwpbench-a-00000007","jobtype":"fwpbench","queue":"fwpbench-a-0",`+
		`"reserve_for":1800,"retry":25,"args":["a",2,7,9,"oba"]}`,
		string(j.AppendBody(nil, 7, 2, 9, noon())))
	return j
}

func TestReadPushedJobs(t *testing.T) {
	t.Parallel()
	w := richWorkload(t)
	j := w.Jobs("run-1", 77)
	for k := range int64(2000) {
		d, err := j.Read(j.AppendBody(nil, k, 5, time.Duration(k)*ms, noon()))
		require.NoError(t, err)
		require.Equal(t, plan.Delivery{Number: k, Intended: time.Duration(k) * ms, Queue: j.QueueOf(k),
			JID: j.AppendJID(nil, k)}, d)
	}
}

// TestExactIntegers: an integer that a float does not hold ends the args of each job, and must come back.
func TestExactIntegers(t *testing.T) {
	t.Parallel()
	w := plan.Workload{ExactIntegers: true, Queues: plan.Queues{Number: 1}, Payload: plan.Constant(3)}
	j := w.Jobs("a", 42)
	for k, integer := range map[int64]string{0: "9007199254740993", 7: "9007199254741007", 1e10: "9007219254740993"} {
		body := string(j.AppendBody(nil, k, 2, 9, noon()))
		require.Contains(t, body, `",`+integer+`]}`)
		for _, same := range []string{integer, integer + ".0", integer + "e0"} {
			_, err := j.Read([]byte(strings.Replace(body, integer, same, 1)))
			require.NoError(t, err)
		}
		parsed, err := strconv.ParseFloat(integer, 64)
		require.NoError(t, err)
		rounded := strconv.FormatFloat(parsed, 'f', -1, 64)
		d, err := j.Read([]byte(strings.Replace(body, integer, rounded, 1)))
		require.ErrorContains(t, err, "args: the integer "+integer+" came as "+rounded)
		assert.Equal(t, k, d.Number)
	}
	_, err := j.Read(smallJobs(t).AppendBody(nil, 7, 2, 9, noon()))
	require.ErrorContains(t, err, "not from a job of this run")
}

// TestReadRewrittenJobs: order, white space, escapes and fields of their own.
func TestReadRewrittenJobs(t *testing.T) {
	t.Parallel()
	j := smallJobs(t)
	want := plan.Delivery{Number: 7, Intended: 9, JID: []byte("fwpbench-a-00000007")}
	for name, text := range map[string]string{
		"order": `{"args":["a",2,7,9,"oba"],"queue":"fwpbench-a-0","jobtype":"fwpbench","jid":"fwpbench-a-00000007"}`,
		"numbers": `{"args":["a",2.0,0.7e1,900e-2,"oba"],"queue":"fwpbench-a-0","jobtype":"fwpbench",` +
			`"jid":"fwpbench-a-00000007"}`,
		"spaces": " {\t\"jid\" : \"fwpbench-a-00000007\" ,\r\n \"jobtype\":\"fwpbench\", " +
			"\"queue\":\"fwpbench-a-0\",\"args\": [ \"a\" , 2 , 7 , 9 , \"oba\" ] }\n ",
		"escapes": `{"j\u0069d":"\u0066wpbench\u002Da-00000007","jobtype":"fwpb\u0065nch",` +
			`"queue":"fwpbench-\u0061-0","args":["\u0061",2,7,9,"\u006fba"]}`,
		"extra": `{"created_at":"2030-01-01T00:00:00Z","custom":{"a":{"jid":"x","args":[1,{"b":[]}]},` +
			`"é":"\ud83d\ude00\"\\\/\b\f\n\r\t"},"jid":"fwpbench-a-00000007",` +
			`"n":[-1.5e+10,0,0.1,true,false,null,{},[]],"jobtype":"fwpbench","queue":"fwpbench-a-0",` +
			`"args":["a",2,7,9,"oba"],"failure":null}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := j.Read([]byte(text))
			require.NoError(t, err)
			assert.EqualExportedValues(t, want, got)
		})
	}
	got, err := j.Read([]byte(`{"failure":{"retry_count":0},"args":["a",2,7,9,"oba"],"queue":"fwpbench-a-0",` +
		`"jobtype":"fwpbench","jid":"fwpbench-a-00000007"}`))
	require.NoError(t, err)
	assert.EqualExportedValues(t, want, got)
}

func TestReadWrongJobs(t *testing.T) {
	t.Parallel()
	const good = `{"jid":"fwpbench-a-00000007","jobtype":"fwpbench","queue":"fwpbench-a-0","args":["a",2,7,9,"oba"]}`
	j := smallJobs(t)
	for _, c := range []struct{ old, replacement, error string }{
		{`a-00000007`, `b-00000007`, `job "fwpbench-b-00000007": jid: it has the args of job 7`},
		{`a-00000007`, `a-7`, `job "fwpbench-a-7": jid: it has the args of job 7`},
		{`a-00000007`, `a-000000007`, `job "fwpbench-a-000000007": jid: it has the args of job 7`},
		{`a-00000007`, `a-0000000G`, `job "fwpbench-a-0000000G": jid: it has the args of job 7`},
		{`a-00000007`, `a-ffffffffffffffff`, `job "fwpbench-a-ffffffffffffffff": jid: it has the args of job 7`},
		{`a-00000007`, `a-00000008`, `job "fwpbench-a-00000008": args: the args are from job 7, and this is job 8`},
		{`"jid":"fwpbench-a-00000007",`, ``, `job "": jid: it has the args of job 7`},
		{`"queue":"fwpbench-a-0"`, `"queue":"default"`,
			`job "fwpbench-a-00000007": queue: came as "default", was pushed to "fwpbench-a-0"`},
		{`"queue":"fwpbench-a-0"`, `"queue":null`,
			`job "fwpbench-a-00000007": queue: came as "", was pushed to "fwpbench-a-0"`},
		{`"jobtype":"fwpbench"`, `"jobtype":"x"`,
			`job "fwpbench-a-00000007": jobtype: came as "x", was pushed as "fwpbench"`},
		{`["a",2,7,9,"oba"]`, `["b",2,7,9,"oba"]`,
			`job "fwpbench-a-00000007": args: the args are not from a job of this run`},
		{`["a",2,7,9,"oba"]`, `["a",2,7.1,9,"oba"]`,
			`job "fwpbench-a-00000007": args: the args are not from a job of this run`},
		{`["a",2,7,9,"oba"]`, `["a",2,7,9,"oba",1]`,
			`job "fwpbench-a-00000007": args: the args are not from a job of this run`},
		{`["a",2,7,9,"oba"]`, `["a"]`, `job "fwpbench-a-00000007": args: the args are not from a job of this run`},
		{`["a",2,7,9,"oba"]`, `{"a":1}`, `job "fwpbench-a-00000007": args: the args are not from a job of this run`},
		{`["a",2,7,9,"oba"]`, `["a",2,7,99999999999999999999,"oba"]`,
			`job "fwpbench-a-00000007": args: the args are not from a job of this run`},
		{`"oba"`, `"ob"`, `job "fwpbench-a-00000007": args: the padding of 2 bytes differs from the 3 bytes that ` +
			`were pushed`},
		{`"oba"`, `"obb"`, `job "fwpbench-a-00000007": args: the padding of 3 bytes differs from the 3 bytes that ` +
			`were pushed`},
		{good, `{"jid":"x","args":[]}`, `job "x" is not from this run`},
		{good, `{"jid":5}`, `job "" is not from this run`},
		{good, `{}`, `job "" is not from this run`},
		{good, ``, `the body is not a job in JSON: byte 0: expected {`},
		{good, `[]`, `the body is not a job in JSON: byte 0: expected {`},
		{good, `{"jid":"x"} x`, `the body is not a job in JSON: byte 12: expected nothing after the job`},
		{good, `{"jid":"x",}`, `the body is not a job in JSON: byte 11: expected "`},
		{good, `{"a":01}`, `the body is not a job in JSON: byte 5: expected a number`},
		{good, `{"a":[1,]}`, `the body is not a job in JSON: byte 8: expected a value`},
		{good, `{"a":"\x"}`, `the body is not a job in JSON: byte 7: expected another letter after a backslash`},
		{good, `{"a":"\u12g4"}`, `the body is not a job in JSON: byte 10: expected four hexadecimal digits after \u`},
		{good, `{"a":"`, `the body is not a job in JSON: byte 6: expected the end of a string`},
		{good, `{"a":"\`, `the body is not a job in JSON: byte 7: expected the end of a string`},
		{good, "{\"a\":\"\n\"}", `the body is not a job in JSON: byte 6: expected no control character in a string`},
		{good, `{"a":-}`, `the body is not a job in JSON: byte 5: expected a number`},
		{good, `{"jid":"a","jid":"b"}`, `the body is not a job in JSON: byte 17: expected each field once`},
		{good, `{"args":[],"args":[]}`, `the body is not a job in JSON: byte 20: expected args once`},
	} {
		text := strings.Replace(good, c.old, c.replacement, 1)
		_, err := j.Read([]byte(text))
		assert.EqualError(t, err, c.error, "%s", text)
	}
}

func TestReadIsNotExhausted(t *testing.T) {
	t.Parallel()
	_, err := smallJobs(t).Read([]byte(`{"a":` + strings.Repeat("[", 1<<20)))
	var bodyErr *plan.BodyError
	require.ErrorAs(t, err, &bodyErr)
	assert.Equal(t, "expected at most 1000 levels", bodyErr.Description)
}

func TestLargePayload(t *testing.T) {
	t.Parallel()
	w := plan.Workload{Payload: plan.Constant(plan.MaxPayload)}
	j := w.Jobs("a", 1)
	text := j.AppendBody(nil, 1, 0, 0, noon())
	_, err := j.Read(text)
	require.NoError(t, err)
	text[len(text)-4] ^= 1
	_, err = j.Read(text)
	var wrongErr *plan.WrongError
	require.ErrorAs(t, err, &wrongErr)
	assert.Equal(t, "args", wrongErr.Part)
}

//nolint:paralleltest // AllocsPerRun counts what the whole process allocates
func TestNoAllocations(t *testing.T) {
	for _, size := range []string{"100", "100-2000", "1:80,2000:20", "lognormal:500,1.2"} {
		w := richWorkload(t)
		var err error
		w.Payload, err = plan.ParseSize(size)
		require.NoError(t, err)
		j := w.Jobs("run", 1)
		line, now, k := make([]byte, 0, 1<<20), noon(), int64(0)
		assert.Zero(t, testing.AllocsPerRun(1000, func() {
			line = j.AppendBody(line[:0], k, 3, time.Second, now)
			k++
		}), "AppendBody, payload %s", size)

		w.JobTypes = nil // a type that JSON escapes is the unusual case
		j = w.Jobs("run", 1)
		line = j.AppendBody(line[:0], 5, 3, time.Second, now)
		text := line
		assert.Zero(t, testing.AllocsPerRun(1000, func() {
			if _, err := j.Read(text); err != nil {
				panic(err)
			}
		}), "Read, payload %s", size)
	}
}

// FuzzRead: Read never panics, calls JSON what encoding/json calls JSON, and takes only
// what says that it is job k for exactly one k.
func FuzzRead(f *testing.F) {
	j := smallJobs(f)
	f.Add(j.AppendBody(nil, 7, 2, 9, noon()))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := j.Read(text)
		if bodyErr, ok := errors.AsType[*plan.BodyError](err); ok {
			require.LessOrEqual(t, bodyErr.Offset, len(text))
			if strings.HasSuffix(bodyErr.Description, "once") || strings.HasSuffix(bodyErr.Description, "levels") {
				return // JSON, and none of ours
			}
			first := bytes.TrimLeft(text, " \t\r\n")
			require.False(t, json.Valid(text) && first[0] == '{', "%s: %s", err, text)
			return
		}
		require.True(t, json.Valid(text), "taken for JSON: %s", text)
		if err != nil {
			return
		}
		var job struct {
			JID     string `json:"jid"`
			JobType string `json:"jobtype"`
			Queue   string `json:"queue"`
			Args    []any  `json:"args"`
		}
		if !utf8.Valid(text) || json.Unmarshal(text, &job) != nil {
			return // encoding/json matches keys without their case
		}
		require.Equal(t, string(j.AppendJID(nil, d.Number)), string(d.JID))
	})
}

func BenchmarkAppendBody(b *testing.B) {
	w, err := plan.Preset("roundtrip")
	require.NoError(b, err)
	j, line, k := w.Jobs("run", 1), []byte(nil), int64(0)
	b.ReportAllocs()
	for b.Loop() {
		line = j.AppendBody(line[:0], k, 3, time.Second, time.Time{})
		k++
	}
	b.SetBytes(int64(len(line)))
}

func BenchmarkRead(b *testing.B) {
	w, err := plan.Preset("roundtrip")
	require.NoError(b, err)
	j := w.Jobs("run", 1)
	text := j.AppendBody(nil, 77, 3, time.Second, time.Time{})
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := j.Read(text); err != nil {
			b.Fatal(err)
		}
	}
}
