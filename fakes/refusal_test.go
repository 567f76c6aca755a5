package fakes_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
)

// Each of these lines is refused on an identified connection, which stays open.
var refusedLines = []string{
	"", " ", "info", "Info", "INFO ", " INFO", "INFO x", "FLUSH x", "FLUSH ", "END ", "END x", "NOPE", "PUSHB []", "\x00",
	"INFO\x00",
	"FETCH ", "FETCH  a", "FETCH a ", "FETCH a  b", "FETCH a\tb", "FETCH \xff",
	"INFO\r", "IN\rFO", "\xff\xfe", `HELLO {"v":2}`,
	"PUSH", "PUSH ", `PUSH  {"jid":"a","jobtype":"t","args":[]}`, `PUSH {"jid":"a","jobtype":"t","args":[]} `,
	`PUSH {"jid":"a","jobtype":"t","args":[]}{}`,
	"PUSH []", "PUSH 5", "PUSH null", `PUSH "x"`, "PUSH {", `PUSH {"jid":"a","jobtype":"t","args":[}`, "PUSH {}",
	`PUSH {"a":}`,
	`PUSH {"jobtype":"t","args":[]}`, `PUSH {"jid":5,"jobtype":"t","args":[]}`,
	`PUSH {"jid":null,"jobtype":"t","args":[]}`, `PUSH {"JID":"a","jobtype":"t","args":[]}`,
	`PUSH {"jid":"a","args":[]}`, `PUSH {"jid":"a","jobtype":null,"args":[]}`, `PUSH {"jid":"a","jobtype":[],"args":[]}`,
	`PUSH {"jid":"a","jobtype":"t"}`, `PUSH {"jid":"a","jobtype":"t","args":{}}`,
	`PUSH {"jid":"a","jobtype":"t","args":null}`, `PUSH {"jid":"a","jobtype":"t","args":"[]"}`,
	"ACK", "ACK {}", "ACK []", "ACK null", `ACK {"jid":5}`, `ACK {"jid":"unknown"}`, `ACK "unknown"`,
	"FAIL", "FAIL {}", `FAIL {"jid":"unknown"}`, `FAIL {"jid":"held","errtype":5}`, `FAIL {"jid":"held","message":[]}`,
	`FAIL {"jid":"held","backtrace":"x"}`, `FAIL {"jid":"held","backtrace":["x",null]}`,
	"BEAT", "BEAT {}", "BEAT w", `BEAT {"wid":5}`, `BEAT {"wid":"unknown"}`, `BEAT {"wid":"w","rss_kb":"1"}`,
	`BEAT {"wid":"w","rss_kb":1.5}`, `BEAT {"wid":"w","current_state":1}`,
}

// Each of these, appended to a job that is well-formed, makes it one that is not.
var refusedFields = []string{
	`"queue":""`, `"queue":"a b"`, `"queue":"a\tb"`, `"queue":"a\u0000"`, `"queue":"a\u00a0b"`, `"queue":5`, `"queue":[]`,
	`"reserve_for":59`, `"reserve_for":0`, `"reserve_for":-5`, `"reserve_for":1.5`, `"reserve_for":"60"`,
	`"reserve_for":60.0`, `"reserve_for":99999999999999999999`,
	`"at":"garbage"`, `"at":"2024-13-01T00:00:00Z"`, `"at":"2024-01-01"`, `"at":5`, `"at":"2024-01-01T00:00:00"`,
	`"at":" "`,
	`"retry":"3"`, `"retry":1.5`, `"retry":true`, `"backtrace":"3"`, `"backtrace":[]`,
	`"created_at":"yesterday"`, `"created_at":""`, `"created_at":5`, `"custom":[]`, `"custom":"x"`, `"custom":5`,
}

func TestRefusedLinesLeaveTheSessionAsItWas(t *testing.T) {
	t.Parallel()
	s := start(t, fakes.Config{})
	c := consume(t, s, "w")
	require.Equal(t, "+OK", c.do(job("held", `"queue":"h"`)))
	require.Contains(t, c.do("FETCH h"), `"held"`)
	lines := refusedLines
	for _, field := range refusedFields {
		lines = append(lines, job("a", field))
	}
	for _, line := range lines {
		assert.Regexp(t, "^-ERR [^\r\n]+$", c.do(line), "%q", line)
	}
	for _, line := range []string{"INFO\n", "\n", "FLUSH\n"} {
		c.send(line)
		assert.Regexp(t, "^-ERR ", c.read(), "%q", line)
	}
	info := c.do("INFO")
	assert.Contains(t, info, `"queues":{"default":0}`, "nothing was enqueued")
	assert.Contains(t, info, `"working":1}`, "the job is still held")
	assert.Equal(t, "+OK", c.do(`FAIL {"jid":"held","errtype":null}`))
}

func TestBeforeHello(t *testing.T) {
	t.Parallel()
	s := start(t, fakes.Config{})
	w := dial(t, s)
	w.read()
	for _, line := range []string{"INFO", "FLUSH", "END", "FETCH", job("a", ""), `ACK {"jid":"a"}`, `FAIL {"jid":"a"}`,
		`BEAT {"wid":"a"}`, "HELP",
		"HELLO", "HELLO ", "HELLO []", "HELLO 2", "HELLO {", "HELLO {}", `HELLO {"v":1}`, `HELLO {"v":3}`, `HELLO {"v":"2"}`,
		`HELLO {"v":2.0}`, `HELLO {"v":null}`,
		`HELLO {"v":2} `, `HELLO  {"v":2}`, `hello {"v":2}`, `HELLO {"v":2,"pwdhash":5}`,
		`HELLO {"v":2,"wid":"w"}`, `HELLO {"v":2,"hostname":5}`, `HELLO {"v":2,"pid":"5"}`, `HELLO {"v":2,"labels":"x"}`,
		`HELLO {"v":2,"wid":5,"hostname":"h","pid":1,"labels":[]}`, `HELLO {"v":2,"wid":"w","hostname":"h","pid":1}`,
		`HELLO {"v":2,"wid":"w","hostname":"h","pid":1.5,"labels":[]}`,
		`HELLO {"v":2,"wid":"w","hostname":"h","pid":1,"labels":[1]}`} {
		assert.Regexp(t, "^-ERR ", w.do(line), "%q", line)
	}
	assert.Equal(t, "+OK", w.do(`HELLO {"v":2,"hostname":"h","extra":null}`))
	assert.Contains(t, w.do("INFO"), `"queues":{"default":0}`)
}

func TestOneWorkerManyConnections(t *testing.T) {
	t.Parallel()
	s := start(t, fakes.Config{})
	consume(t, s, "w")
	first := consume(t, s, "w")
	other := dial(t, s)
	other.read()
	assert.Regexp(t, "^-ERR ", other.do(`HELLO {"hostname":"elsewhere","wid":"w","pid":17,"labels":["go"],"v":2}`))
	assert.Equal(t, "+OK", first.do(`BEAT {"wid":"w"}`))
	assert.Equal(t, "+OK", other.greetAgain(producer).do(`BEAT {"wid":"w"}`))
}

func (w *wire) greetAgain(hello string) *wire {
	require.Equal(w.t, "+OK", w.do(hello))
	return w
}

func TestLimits(t *testing.T) {
	t.Parallel()
	s := start(t, fakes.Config{MaxLine: 10_000, MaxQueues: 2, MaxQueueJobs: 1, MaxQueueName: 8, MinJID: 4, MaxJID: 16})
	p := produce(t, s)
	for _, line := range []string{
		"INFO" + strings.Repeat("x", 9_997), "INFO" + strings.Repeat("x", 100_000), strings.Repeat("x", 10_001),
		job("abcd", `"x":"`+strings.Repeat("x", 10_000)+`"`),
		job("abc", ""), job("abcdefghijklmnopq", ""), job("abcd", `"queue":"abcdefghi"`), "FETCH abcdefghi",
	} {
		assert.Regexp(t, "^-ERR ", p.do(line), "%.20q", line)
	}
	assert.Equal(t, "+OK", p.do(job("abcd", `"x":"`+strings.Repeat("x", 9_900)+`"`)))
	assert.Regexp(t, "^-ERR the queue is full", p.do(job("abcd", "")))
	assert.Equal(t, "+OK", p.do(job("abcdefghijklmnop", `"queue":"b"`)), "a jid of as many bytes as there may be")
	assert.Regexp(t, "^-ERR there are too many queues", p.do(job("abcd", `"queue":"c"`)))
	assert.Contains(t, p.do("FETCH"), `"`+strings.Repeat("x", 9_900)+`"`)
	assert.Equal(t, "+OK", p.do(job("abcd", `"queue":"c"`)))
}

// What the jobs take is there again when they are acknowledged, purged from their queue or removed by FLUSH.
func TestRoomForJobs(t *testing.T) {
	t.Parallel()
	for _, hook := range []func(*fakes.Event){nil, func(*fakes.Event) {}} {
		s := start(t, fakes.Config{MaxStored: 22_000, Hook: hook})
		p, c := produce(t, s), consume(t, s, "w")
		big := `"x":"` + strings.Repeat("x", 9_000) + `"`
		for range 3 {
			assert.Equal(t, "+OK", p.do(job("abcd", big)))
			assert.Equal(t, "+OK", p.do(job("abce", big+`,"at":"2199-01-01T00:00:00Z"`)))
			assert.Regexp(t, "^-ERR the server has no room for more jobs", p.do(job("abcf", big)))
			assert.Contains(t, c.do("FETCH default"), "abcd")
			assert.Regexp(t, "^-ERR the server has no room", p.do(job("abcf", big)), "a job that is held counts")
			assert.Equal(t, "+OK", c.do(`ACK {"jid":"abcd"}`))
			assert.Equal(t, "+OK", p.do(job("abcf", big)))
			assert.Equal(t, "+OK", p.do("FLUSH"))
		}
	}
}

// Lines that are not complete share a limit; what one took is there again when it has ended.
func TestUnfinishedLinesOfAllConnections(t *testing.T) {
	t.Parallel()
	s := start(t, fakes.Config{MaxUnfinished: 1 << 20})
	p := produce(t, s)
	for range 3 {
		assert.Regexp(t, "^-ERR .* more than 1048576 bytes of unfinished lines",
			p.do("PUSH "+strings.Repeat("x", 1<<20+10_000)))
		assert.Equal(t, "+OK", p.do(job("abcd", `"x":"`+strings.Repeat("x", 700_000)+`"`)))
	}
}

// Servers with the same Memory have their bounds together, and what one has is there again when it is closed.
func TestServersShareTheirMemory(t *testing.T) {
	t.Parallel()
	memory := new(fakes.Memory)
	config := fakes.Config{MaxStored: 22_000, MaxUnfinished: 1 << 20, Memory: memory}
	server, other := start(t, config), start(t, config)
	big := `"x":"` + strings.Repeat("x", 15_000) + `"`
	p, q := produce(t, server), produce(t, other)
	assert.Equal(t, "+OK", p.do(job("abcd", big)))
	assert.Regexp(t, "^-ERR the server has no room", q.do(job("abcd", big)))
	server.Close()
	assert.Equal(t, "+OK", q.do(job("abcd", big)))
}

func TestLinesInPieces(t *testing.T) {
	t.Parallel()
	s := start(t, fakes.Config{})
	p := produce(t, s)
	for _, b := range []byte("INFO\r\n") {
		p.send(string(b))
	}
	assert.Regexp(t, `^\$\{`, p.read())
	p.send(strings.Repeat("INFO\r\n", 2) + "FETCH nothing-there\r\nINF")
	assert.Regexp(t, `^\$\{`, p.read())
	assert.Regexp(t, `^\$\{`, p.read())
	p2 := produce(t, s)
	require.Equal(t, "+OK", p2.do(job("to-one-who-sent-on", `"queue":"nothing-there"`)))
	assert.Contains(t, p.read(), "to-one-who-sent-on")
	p.send("O\r\n")
	assert.Regexp(t, `^\$\{`, p.read())
	big := strings.Repeat("é", 1<<20)
	assert.Equal(t, "+OK", p.do(`PUSH {"jid":"big","jobtype":"t","args":["`+big+`"]}`))
	assert.Contains(t, p.do("FETCH"), `["`+big+`"]`)
}
