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

// samples returns a value of each bucket, as JSON.
func (g generator) samples(types ...[]values.Bucket) (all []string) {
	for _, b := range slices.Concat(types...) {
		all = append(all, b.Make(g.Rand))
	}
	return all
}

// pick returns one of some values.
func (g generator) pick(all []string) string { return all[g.IntN(len(all))] }

// maxJID is the length of the longest jid. Twice as much is kept as it is.
const maxJID = 500

// jids are ids of each kind of text and of each length, which a program has to hand on as they are. They differ also
// when they are trimmed and written in small letters.
func (g generator) jids() (all []string) {
	keys := map[string]bool{}
	for i, text := range g.samples(values.Texts(), values.Lengths(maxJID)) {
		jid, _ := decodeJSON(text).(string)
		if keys[strings.ToLower(strings.TrimSpace(jid))] || jid == "" {
			jid += fmt.Sprint("-", i, strings.Repeat(" ", i%2))
		}
		keys[strings.ToLower(strings.TrimSpace(jid))] = true
		all = append(all, jid)
	}
	return all
}

// errors are texts of each kind that fit into the line of an error reply.
func (g generator) errors() (all []string) {
	for _, text := range g.samples(values.Texts()) {
		if s, ok := decodeJSON(text).(string); ok && s != "" && !strings.ContainsAny(s, "\r\n") {
			all = append(all, "ERR "+s)
		}
	}
	return all
}

// greetingSalt is what a greeting asks for.
type greetingSalt struct {
	salt       string
	iterations int
}

// greetings are salts with their numbers of iterations, few and many in turn, and equal numbers again and again. Of
// four salts two are equal.
func (g generator) greetings(n int) (all []greetingSalt) {
	const longest, low, high = 300, 9, 20_000
	texts, ends := g.samples(values.Texts()), g.samples(values.Lengths(longest))
	rounds := []string{g.pick(g.samples(values.Integers(1, low))), g.pick(g.samples(values.Integers(low*1000, high)))}
	for i := range n {
		text, _ := decodeJSON(g.pick(texts)).(string)
		end, _ := decodeJSON(g.pick(ends)).(string)
		iterations, _ := strconv.Atoi(rounds[i%2])
		salt := text + "x" + end
		if i%4 == 1 {
			salt = all[i-1].salt
		}
		all = append(all, greetingSalt{salt, iterations})
	}
	return all
}

// packArrays returns JSON arrays of n values each. No array is longer than a number of characters, if all that some
// languages escape is escaped; longer values are left out.
func packArrays(all []string, n, limit int) (arrays []string) {
	var elements []string
	size := 0
	for _, v := range all {
		length := escapedLen(v)
		if length > limit {
			continue
		}
		if len(elements) == n || size+length > limit {
			arrays, elements, size = append(arrays, array(elements)), nil, 0
		}
		elements, size = append(elements, v), size+length+1
	}
	return append(arrays, array(elements))
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

// intArrays returns JSON arrays of integers, of each length up to limit at which programs differ.
func intArrays(limit int) (arrays []string) {
	for _, n := range values.Sizes(limit) {
		elements := make([]string, n)
		for i := range elements {
			elements[i] = fmt.Sprint(i % 10)
		}
		arrays = append(arrays, array(elements))
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

// jobsWithMembers returns a job of a type for each text with further members.
func jobsWithMembers(jobtype string, all ...string) (jobs []job) {
	for _, members := range all {
		jobs = append(jobs, job{jobtype: jobtype, members: "," + members})
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
	const size, deepest, each, long = 600, 60, 20, 40_000
	const arity = 255 // of functions in Erlang
	g := newGenerator()
	return slices.Concat(
		jobsWithArgs("fwp.ok", `[]`, `["`+strings.Repeat("é", long)+`"]`),
		jobsWithArgs("fwp.ok", intArrays(arity)...),
		jobsWithArgs("fwp.ok", packArrays(g.samples(values.Arrays(size, deepest)), each, long)...),
		jobsWithArgs("fwp.fail", packArrays(g.samples(values.Texts(), values.Lengths(16*size)), 1, long)...),
		jobsWithArgs("fwp.fail", `["`+strings.Repeat("日", long)+`"]`, `["x`+strings.Repeat("日", long)+`"]`))
}

// deliveredFields has jobs with all fields at once, each with some value of its type, beside jobs with a few.
func deliveredFields() []job {
	const size, deepest = 64, 32
	g := newGenerator()
	instants := g.samples(values.Instants())
	retries, reserved := g.samples(values.Integers(-1, math.MaxInt32)), g.samples(values.Integers(60, math.MaxInt32))
	lines, types := g.samples(values.Integers(0, math.MaxInt32)), g.samples(values.Texts())
	jobs := jobsWithMembers("fwp.ok", `"fwp_unknown":{"deep":[1,2]}`, `"custom":null`, `"retry":0`, `"reserve_for":1800`,
		"\r\n \"fwp_lines\":\r\n[1,\n\t2]", // its JSON has several lines
		`"at":"1999-01-02T03:04:05.5Z","retry":25`)
	const failure = `,"failure":{"retry_count":%d,"remaining":22,"failed_at":"2024-01-02T03:04:05Z","message":"x"}`
	for _, retry := range []string{"-1", "0"} {
		jobs = append(jobs, job{jobtype: "fwp.fail", args: `["x"]`, members: `,"custom":null,"retry":` + retry})
	}
	for i, custom := range g.samples(values.Objects(size, deepest)) {
		jobtype := []string{"fwp.ok", "fwp.fail", ""}[i%3]
		if jobtype == "" {
			text, _ := decodeJSON(g.pick(types)).(string)
			jobtype = text + "!"
		}
		jobs = append(jobs, job{jobtype: jobtype, args: `["x"]`, members: fmt.Sprintf(
			`,"custom":%s,"retry":%s,"reserve_for":%s,"backtrace":%s,"created_at":%s,"enqueued_at":%s`,
			custom, g.pick(retries), g.pick(reserved), g.pick(lines), g.pick(instants), g.pick(instants)) +
			strings.Repeat(fmt.Sprintf(failure, i), g.IntN(2))})
	}
	return jobs
}

// echoArguments are arguments that every language can tell apart: PHP has one value for an empty object and an empty
// array. They fit into messages that libraries cut to 100 characters.
func echoArguments() []string {
	const each, maxArgs, maxBytes, deepest = 10, 40, 90, 10
	g := newGenerator()
	exact := slices.DeleteFunc(g.samples(values.Numbers()), func(text string) bool { return !isExact(text) })
	objects := slices.DeleteFunc(g.samples(values.Objects(each, deepest)),
		func(text string) bool { return strings.Contains(text, "{}") })
	return slices.Concat([]string{
		`["a","b"]`, `[""]`, `[null,true,false,0]`, `["1",1,"null",null]`, `[[1,2],[3,[4]]]`,
		`[{"a":[1,{"b":"c"}]},"after it"]`, `["before it",{"key":"value","other":[]}]`, `[[1,2]]`, `[3,1,2,1,1]`,
		`[1,null,null]`, `["ünï",[1,{"a":null}],"\"x\""]`, `[1,2,3,4,5,"six",[7],{"eight":8},null,10,false,12]`,
	}, intArrays(maxArgs), packArrays(g.samples(values.Texts(), values.Lengths(maxBytes)), each, maxBytes),
		packArrays(exact, each, maxBytes), packArrays(objects, each, maxBytes))
}

// isExact reports whether a number is one in every language: a double holds it, and all integers of its size.
func isExact(text string) bool {
	const limit = 1 << 53
	r, ok := new(big.Rat).SetString(text)
	f, err := json.Number(text).Float64()
	return ok && err == nil && math.Abs(f) < limit && r.Cmp(new(big.Rat).SetFloat64(f)) == 0
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
