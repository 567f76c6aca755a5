package situations

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/values"
)

// generator makes the values of jobs from the types of their fields. It makes the same ones in each play, so that a
// finding can be confirmed by another one.
type generator struct{ *rand.Rand }

func newGenerator() generator { return generator{rand.New(rand.NewPCG(1, 2))} } //nolint:gosec // repeatable

// each returns a value of each bucket, as JSON.
func (g generator) each(types ...[]values.Bucket) (all []string) {
	for _, b := range slices.Concat(types...) {
		all = append(all, b.Make(g.Rand))
	}
	return all
}

// anyOf returns one of some values.
func (g generator) anyOf(all []string) string { return all[g.IntN(len(all))] }

// mostJID is the length of the longest jid. Twice as much is kept as it is.
const mostJID = 500

// jids are ids of each kind of text and of each length, which a program has to hand on as they are. They differ also
// when they are trimmed and written in small letters.
func (g generator) jids() (all []string) {
	seen := map[string]bool{}
	for i, text := range g.each(values.Texts(), values.Lengths(mostJID)) {
		jid, _ := decoded(text).(string)
		if seen[strings.ToLower(strings.TrimSpace(jid))] || jid == "" {
			jid += fmt.Sprint("-", i, strings.Repeat(" ", i%2))
		}
		seen[strings.ToLower(strings.TrimSpace(jid))] = true
		all = append(all, jid)
	}
	return all
}

// errors are texts of each kind that fit into the line of an error reply.
func (g generator) errors() (all []string) {
	for _, text := range g.each(values.Texts()) {
		if s, is := decoded(text).(string); is && s != "" && !strings.ContainsAny(s, "\r\n") {
			all = append(all, "ERR "+s)
		}
	}
	return all
}

// salted is what a greeting asks for.
type salted struct {
	salt       string
	iterations int
}

// greetings are salts with their numbers of iterations, few and many in turn, and equal numbers again and again. Of
// four salts two are equal.
func (g generator) greetings(n int) (all []salted) {
	const longest, few, most = 300, 9, 20_000
	texts, ends := g.each(values.Texts()), g.each(values.Lengths(longest))
	rounds := []string{g.anyOf(g.each(values.Integers(1, few))), g.anyOf(g.each(values.Integers(few*1000, most)))}
	for i := range n {
		text, _ := decoded(g.anyOf(texts)).(string)
		end, _ := decoded(g.anyOf(ends)).(string)
		iterations, _ := strconv.Atoi(rounds[i%2])
		salt := text + "x" + end
		if i%4 == 1 {
			salt = all[i-1].salt
		}
		all = append(all, salted{salt, iterations})
	}
	return all
}

// packed returns JSON arrays of n values each. No array is longer than a number of characters, if all that some
// languages escape is escaped; longer values are left out.
func packed(all []string, n, most int) (arrays []string) {
	var some []string
	size := 0
	for _, v := range all {
		length := escapedLen(v)
		if length > most {
			continue
		}
		if len(some) == n || size+length > most {
			arrays, some, size = append(arrays, array(some)), nil, 0
		}
		some, size = append(some, v), size+length+1
	}
	return append(arrays, array(some))
}

// escapedLen is how many characters a text has when all that some languages escape in JSON is escaped.
func escapedLen(text string) (n int) {
	const escape = len(`\u0000`)
	for _, c := range text {
		switch {
		case c > 0xffff:
			n += 2 * escape
		case c > '~' || strings.ContainsRune("<>&/'", c):
			n += escape
		default:
			n++
		}
	}
	return n
}

func array(values []string) string { return "[" + strings.Join(values, ",") + "]" }

// counted returns JSON arrays of integers, of each length up to most at which programs differ.
func counted(most int) (arrays []string) {
	for _, n := range values.Sizes(most) {
		some := make([]string, n)
		for i := range some {
			some[i] = fmt.Sprint(i % 10)
		}
		arrays = append(arrays, array(some))
	}
	return arrays
}

// jobsWithJIDs returns a job for each id.
func jobsWithJIDs(jids ...string) (jobs []job) {
	for _, jid := range jids {
		jobs = append(jobs, job{jid: jid})
	}
	return jobs
}

// jobsWithArgs returns a job of a type for each JSON array.
func jobsWithArgs(jobtype string, all ...string) (jobs []job) {
	for _, args := range all {
		jobs = append(jobs, job{jobtype: jobtype, args: args})
	}
	return jobs
}

// jobsWith returns a job of a type for each text with further members.
func jobsWith(jobtype string, all ...string) (jobs []job) {
	for _, more := range all {
		jobs = append(jobs, job{jobtype: jobtype, more: "," + more})
	}
	return jobs
}

// The arguments that workers and producers have in common.
const (
	unusualText = `["héllo wörld","日本語","🦆🦆","\u0000\u2028"]`
	nested      = `[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]`
)

// deliveredJIDs has two jobs for each id, one of which fails: both reports have it.
func deliveredJIDs() []job {
	jobs := jobsWithJIDs(newGenerator().jids()...)
	for _, j := range jobs {
		jobs = append(jobs, job{jid: j.jid + j.jid, jobtype: "fwp.fail", args: `["x"]`})
	}
	return jobs
}

// deliveredArguments has the messages of failures, too. The longest are of characters with two and three bytes:
// wherever a worker cuts a message, it cuts one of them in two.
func deliveredArguments() []job {
	const most, deepest, each, long = 600, 60, 20, 40_000
	const arity = 255 // of functions in Erlang
	g := newGenerator()
	return slices.Concat(
		jobsWithArgs("fwp.ok", `[]`, `["`+strings.Repeat("é", long)+`"]`),
		jobsWithArgs("fwp.ok", counted(arity)...),
		jobsWithArgs("fwp.ok", packed(g.each(values.Arrays(most, deepest)), each, long)...),
		jobsWithArgs("fwp.fail", packed(g.each(values.Texts(), values.Lengths(16*most)), 1, long)...),
		jobsWithArgs("fwp.fail", `["`+strings.Repeat("日", long)+`"]`, `["x`+strings.Repeat("日", long)+`"]`))
}

// deliveredFields has jobs with all fields at once, each with some value of its type, beside jobs with a few.
func deliveredFields() []job {
	const most, deepest = 64, 32
	g := newGenerator()
	instants := g.each(values.Instants())
	retries, reserved := g.each(values.Integers(-1, math.MaxInt32)), g.each(values.Integers(60, math.MaxInt32))
	lines, types := g.each(values.Integers(0, math.MaxInt32)), g.each(values.Texts())
	jobs := jobsWith("fwp.ok", `"fwp_unknown":{"deep":[1,2]}`, `"custom":null`, `"retry":0`, `"reserve_for":1800`,
		"\r\n \"fwp_lines\":\r\n[1,\n\t2]", // its JSON has several lines
		`"at":"1999-01-02T03:04:05.5Z","retry":25`)
	const failure = `,"failure":{"retry_count":%d,"remaining":22,"failed_at":"2024-01-02T03:04:05Z","message":"x"}`
	for _, retry := range []string{"-1", "0"} {
		jobs = append(jobs, job{jobtype: "fwp.fail", args: `["x"]`, more: `,"custom":null,"retry":` + retry})
	}
	for i, custom := range g.each(values.Objects(most, deepest)) {
		jobtype := []string{"fwp.ok", "fwp.fail", ""}[i%3]
		if jobtype == "" {
			text, _ := decoded(g.anyOf(types)).(string)
			jobtype = text + "!"
		}
		jobs = append(jobs, job{jobtype: jobtype, args: `["x"]`, more: fmt.Sprintf(
			`,"custom":%s,"retry":%s,"reserve_for":%s,"backtrace":%s,"created_at":%s,"enqueued_at":%s`,
			custom, g.anyOf(retries), g.anyOf(reserved), g.anyOf(lines), g.anyOf(instants), g.anyOf(instants)) +
			strings.Repeat(fmt.Sprintf(failure, i), g.IntN(2))})
	}
	return jobs
}

// echoed are arguments that every language can tell apart: PHP has one value for an empty object and an empty array.
// They fit into messages that libraries cut to 100 characters.
func echoed() []string {
	const each, mostArgs, mostBytes, deepest = 10, 40, 90, 10
	g := newGenerator()
	exact := slices.DeleteFunc(g.each(values.Numbers()), func(text string) bool { return !isExact(text) })
	objects := slices.DeleteFunc(g.each(values.Objects(each, deepest)),
		func(text string) bool { return strings.Contains(text, "{}") })
	return slices.Concat([]string{
		`["a","b"]`, `[""]`, `[null,true,false,0]`, `["1",1,"null",null]`, `[[1,2],[3,[4]]]`,
		`[{"a":[1,{"b":"c"}]},"after it"]`, `["before it",{"key":"value","other":[]}]`, `[[1,2]]`, `[3,1,2,1,1]`,
		`[1,null,null]`, `["ünï",[1,{"a":null}],"\"x\""]`, `[1,2,3,4,5,"six",[7],{"eight":8},null,10,false,12]`,
	}, counted(mostArgs), packed(g.each(values.Texts(), values.Lengths(mostBytes)), each, mostBytes),
		packed(exact, each, mostBytes), packed(objects, each, mostBytes))
}

// isExact reports whether a number is one in every language: a double holds it, and all integers of its size.
func isExact(text string) bool {
	const most = 1 << 53
	r, is := new(big.Rat).SetString(text)
	f, err := json.Number(text).Float64()
	return is && err == nil && math.Abs(f) < most && r.Cmp(new(big.Rat).SetFloat64(f)) == 0
}

// manyJobs are jobs of all types in no order, so that each nth one of some kind has something that differs.
func manyJobs(n int) (jobs []job) {
	g := newGenerator()
	for i := range n {
		j := job{jobtype: "fwp.ok", args: fmt.Sprint("[", i, "]")}
		switch g.IntN(20) {
		case 0:
			j = job{jobtype: "fwp.sleep", args: "[0.05]"}
		case 1:
			j.jobtype = unknownType
		case 2, 3, 4:
			j = job{jobtype: "fwp.fail", args: fmt.Sprintf(`["job %d"]`, i)}
		}
		jobs = append(jobs, j)
	}
	return jobs
}
