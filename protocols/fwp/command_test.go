package fwp_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// legalCommands are lines that a client may send; the first ones are the
// specification's own.
var legalCommands = []struct{ line, verb, args string }{
	{`HELLO {"v":2}`, fwp.HELLO, `{"v":2}`},
	{`HELLO {"hostname":"localhost","wid":"4qpc2443vpvai","pid":2676,"labels":["golang"],"v":2}`, fwp.HELLO,
		`{"hostname":"localhost","wid":"4qpc2443vpvai","pid":2676,"labels":["golang"],"v":2}`},
	{`HELLO {"pwdhash":"1e440e3f3d2db545e9129bb4b63121b6b09d594dae4344d1d2a309af0e2acac1","v":2}`, fwp.HELLO,
		`{"pwdhash":"1e440e3f3d2db545e9129bb4b63121b6b09d594dae4344d1d2a309af0e2acac1","v":2}`},
	{`BEAT {"wid": "4qpc2443vpvai","rss_kb":54176}`, fwp.BEAT, `{"wid": "4qpc2443vpvai","rss_kb":54176}`},
	{`BEAT {"wid": "4qpc2443vpvai","current_state": "quiet"}`, fwp.BEAT,
		`{"wid": "4qpc2443vpvai","current_state": "quiet"}`},
	{"END", fwp.END, ""},
	{"FLUSH", fwp.FLUSH, ""},
	{"INFO", fwp.INFO, ""},
	{"FETCH", fwp.FETCH, ""},
	{"FETCH default", fwp.FETCH, "default"},
	{"FETCH critical default bulk", fwp.FETCH, "critical default bulk"},
	{"FETCH h\xc3\xa9 {}", fwp.FETCH, "h\xc3\xa9 {}"},
	{`BEAT {"wid": "x"}`, fwp.BEAT, `{"wid": "x"}`},
	{"BEAT { \t\"wid\" :\t\"x\" }", fwp.BEAT, "{ \t\"wid\" :\t\"x\" }"},
	{`PUSH {}`, fwp.PUSH, `{}`},
	{`PUSH {"jid":"a","jobtype":"b","args":[9007199254740993,"}{ \r\n"]}`, fwp.PUSH,
		`{"jid":"a","jobtype":"b","args":[9007199254740993,"}{ \r\n"]}`},
	{`ACK {"jid":5,"jid":6}`, fwp.ACK, `{"jid":5,"jid":6}`},
	{`FAIL {"jid":"a","errtype":"E","message":"m","backtrace":["a","b"]}`, fwp.FAIL,
		`{"jid":"a","errtype":"E","message":"m","backtrace":["a","b"]}`},
}

func TestParseCommandLegal(t *testing.T) {
	t.Parallel()
	for _, v := range legalCommands {
		c, err := fwp.ParseCommand([]byte(v.line))
		require.NoError(t, err, "%q", v.line)
		assert.Equal(t, v.verb, c.Verb)
		assert.Equal(t, v.args, string(c.Args))
		assert.Equal(t, len(v.verb) == len(v.line), c.Args == nil, "nil Args mean that there was no space")
		assert.Equal(t, v.line+"\r\n", string(fwp.AppendCommand(nil, c)))
	}
}

const (
	allVerbs  = "one of the verbs HELLO, FLUSH, INFO, END, PUSH, FETCH, ACK, FAIL, BEAT"
	validJSON = "valid JSON ("
)

var brokenCommands = []struct {
	line     string
	offset   int
	expected string
	got      string
}{
	// the line and the verb
	{"", 0, "a verb", "the end of the line"},
	{" INFO", 0, "a verb", `" INFO"`},
	{"\tINFO", 0, allVerbs, `"\tINFO"`},
	{"info", 0, "INFO in upper case", `"info"`},
	{`Hello {"v":2}`, 0, "HELLO in upper case", `"Hello {\"v\":2}"`},
	{"FOO", 0, allVerbs, `"FOO"`},
	{"INFOS", 0, allVerbs, `"INFOS"`},
	{"INFO\t", 4, "one space or the end of the line after INFO", `"\t"`},
	{`HELLO{"v":2}`, 5, "one space or the end of the line after HELLO", `"{\"v\":2}"`},
	{"FETCH\tdefault", 5, "one space or the end of the line after FETCH", `"\tdefault"`},
	{"INFO\r\n", 4, "a line without CR or LF inside", `"\r\n"`},
	{"INFO\n", 4, "a line without CR or LF inside", `"\n"`},
	{"IN\rFO", 2, "a line without CR or LF inside", `"\rFO"`},
	{"PUSH {\r\n}", 6, "a line without CR or LF inside", `"\r\n}"`},
	{"PUSH {\"a\":\"\xff\"}", 11, "UTF-8 text", `"\xff\"}"`},
	{"FETCH \xc3", 6, "UTF-8 text", `"\xc3"`},

	// no arguments
	{"INFO ", 4, "the end of the line: INFO takes no arguments", `" "`},
	{"FLUSH all", 5, "the end of the line: FLUSH takes no arguments", `" all"`},
	{"END {}", 3, "the end of the line: END takes no arguments", `" {}"`},

	// queues
	{"FETCH ", 6, "a queue name after one space", "the end of the line"},
	{"FETCH  default", 6, "a queue name after one space", `" default"`},
	{"FETCH a  b", 8, "a queue name after one space", `" b"`},
	{"FETCH a ", 8, "a queue name after one space", "the end of the line"},
	{"FETCH a\tb", 7, "a queue name without white space", `"\tb"`},

	// one JSON object
	{"HELLO", 5, "one space and a JSON object", "the end of the line"},
	{"HELLO ", 6, "a JSON object after one space", "the end of the line"},
	{`HELLO  {"v":2}`, 6, "a JSON object after one space", `" {\"v\":2}"`},
	{"HELLO \t{}", 6, "a JSON object after one space", `"\t{}"`},
	{`PUSH []`, 5, "a JSON object after one space", `"[]"`},
	{`PUSH 5`, 5, "a JSON object after one space", `"5"`},
	{`PUSH null`, 5, "a JSON object after one space", `"null"`},
	{`ACK "jid"`, 4, "a JSON object after one space", `"\"jid\""`},
	{`ACK {} `, 6, "the end of the line after the JSON object", `" "`},
	{`ACK {}{}`, 6, "the end of the line after the JSON object", `"{}"`},
	{`ACK {} {}`, 6, "the end of the line after the JSON object", `" {}"`},
	{`ACK {"jid":"a"}x`, 15, "the end of the line after the JSON object", `"x"`},
	{`ACK {"jid":"a"`, 14, "the rest of the JSON object", "the end of the line"},
	{`ACK {"jid":"a`, 13, "the rest of the JSON object", "the end of the line"},
	{`ACK {"jid":{}`, 13, "the rest of the JSON object", "the end of the line"},
	{`ACK {`, 5, "the rest of the JSON object", "the end of the line"},
	{`ACK {'jid':"a"}`, 5, validJSON, `"'jid':\"a\"}"`},
	{`ACK {"jid":}`, 11, validJSON, `"}"`},
	{`ACK {"jid":"a",}`, 15, validJSON, `"}"`},
	{`ACK {"jid":01}`, 12, validJSON, `"1}"`},
	{"ACK {\"jid\":\"\t\"}", 12, validJSON, `"\t\"}"`},
}

func TestParseCommandBroken(t *testing.T) {
	t.Parallel()
	for _, v := range brokenCommands {
		c, err := fwp.ParseCommand([]byte(v.line))
		var broken *fwp.CommandError
		require.ErrorAs(t, err, &broken, "%q", v.line)
		assert.Zero(t, c)
		assert.Equal(t, v.offset, broken.Offset, "%q", v.line)
		assert.Equal(t, v.got, broken.Got, "%q", v.line)
		if v.expected == validJSON {
			assert.Contains(t, broken.Expected, v.expected) // the rest is encoding/json's
			continue
		}
		assert.Equal(t, v.expected, broken.Expected, "%q", v.line)
	}
	err := &fwp.CommandError{Offset: 5, Expected: "a", Got: `"b"`}
	assert.EqualError(t, err, `command syntax: byte 5: expected a, got "b"`)
}

// Splitting judges nothing and loses nothing.
func TestSplitCommand(t *testing.T) {
	t.Parallel()
	cases := []struct {
		line string
		want fwp.Command
	}{
		{"", fwp.Command{}},
		{" ", fwp.Command{Args: []byte{}}},
		{"INFO", fwp.Command{Verb: "INFO"}},
		{"INFO ", fwp.Command{Verb: "INFO", Args: []byte{}}},
		{"info  a ", fwp.Command{Verb: "info", Args: []byte(" a ")}},
		{"FETCH a b", fwp.Command{Verb: "FETCH", Args: []byte("a b")}},
		{"A\tB\xff", fwp.Command{Verb: "A\tB\xff"}},
	}
	for _, v := range cases {
		c := fwp.SplitCommand([]byte(v.line))
		assert.Equal(t, v.want, c, "%q", v.line)
		assert.Equal(t, v.line+"\r\n", string(fwp.AppendCommand(nil, c)))
	}
	for _, v := range brokenCommands {
		assert.Equal(t, v.line+"\r\n", string(fwp.AppendCommand(nil, fwp.SplitCommand([]byte(v.line)))))
	}
}
