package law_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

const (
	info         = "1 C: INFO\n1 S: $x"
	infoRefused  = "1 C: INFO\n1 S: -ERR"
	fetchRefused = "1 C: FETCH q\n1 S: -ERR"
	beatOK       = `1 C: BEAT {"wid":"worker-1"}` + "\n1 S: +OK"
	flush        = "1 C: FLUSH\n1 S: +OK"
)

// TestBlame has a legal command refused, and the clause that says why it should still have
// been served: the commands before it must do no harm.
func TestBlame(t *testing.T) {
	t.Parallel()
	served := join(hello, info)
	done := join(served, pushWith(""), take, ack)
	failed := join(served, pushWith(""), take, fail)
	judge(t, map[string]row{
		"nothing before":             {join(hello, infoRefused), ""},
		"never served, after an ACK": {join(hello, pushWith(""), take, ack, infoRefused), ""},
		"served before":              {join(served, pushWith(""), infoRefused), "FWP-STATE-03 refused"},
		"after an ACK":               {join(done, infoRefused), "FWP-STATE-10 refused"},
		"after a FAIL":               {join(failed, infoRefused), "FWP-STATE-10 refused"},
		"a PUSH after an ACK":        {join(done, refuse(pushSecond(""))), "FWP-STATE-10 refused"},
		"a FETCH after an ACK":       {join(done, fetchRefused), "FWP-STATE-10 refused"},
		"a FETCH of 8 queues": {join(served, "1 C: FETCH"+" q1 q2 q3 q4 q5 q6 q7 q8", "1 S: -ERR"),
			"FWP-FETCH-03 refused"},
		"of 9, which may be too many": {join(served, "1 C: FETCH"+" q1 q2 q3 q4 q5 q6 q7 q8 q9", "1 S: -ERR"), ""},
		"a queue twice":               {join(served, "1 C: FETCH q1 q2 q1", "1 S: -ERR"), ""},
		"after an ACK and an INFO":    {join(done, info, infoRefused), "FWP-STATE-03 refused"},
		"after an ACK refused": {
			join(served, `1 C: ACK {"jid":"x"}`, "1 S: -ERR", infoRefused),
			"FWP-STATE-12 refused",
		},
		"after an ACK of no job":      {join(served, `1 C: ACK {"jid":"x"}`, "1 S: +OK", infoRefused), "FWP-STATE-10 refused"},
		"after a FLUSH":               {join(served, flush, infoRefused), "FWP-FLUSH-04 refused"},
		"after a second HELLO":        {join(served, hello, infoRefused), "FWP-HELLO-08 refused"},
		"after one that was refused":  {join(served, refuse(hello), infoRefused), "FWP-STATE-12 refused"},
		"in a simple string":          {join(served, "1 C: INFO x", "1 S: +err malformed"), "FWP-RESP-02 failure"},
		"in a bulk string":            {join(served, "1 C: ACK {}", "1 S: $ERR malformed"), "FWP-RESP-02 failure"},
		"as a number":                 {join(served, "1 C: ACK {}", "1 S: :0"), "FWP-RESP-02 failure"},
		"as a word":                   {join(served, "1 C: ACK {}", "1 S: +no"), "FWP-RESP-02 failure"},
		"as an OK in small letters":   {join(served, "1 C: ACK {}", "1 S: +ok"), "FWP-ACK-03 reply"},
		"of a good command, as text":  {join(served, `1 C: ACK {"jid":"x"}`, "1 S: +no"), "FWP-ACK-01 foreign"},
		"after a malformed command":   {join(served, "1 C: INFO x", "1 S: -ERR", infoRefused), "FWP-STATE-12 refused"},
		"HELLO after an INFO refused": {join("1 C: INFO", "1 S: -ERR", refuse(hello)), "FWP-STATE-12 refused"},
		"the 99th command":            {join(hello, strings.Repeat(info+"\n", 98)+infoRefused), "FWP-STATE-03 refused"},
		"the 101st command":           {join(hello, strings.Repeat(info+"\n", 99)+infoRefused), "FWP-LINK-03 refused"},
		"the first INFO, late": {
			join(hello, strings.Repeat(beatOK+"\n", 99)+infoRefused), "",
		},
		"a wrong reply after an ACK": {join(done, "1 C: INFO", "1 S: :1"), "FWP-INFO-01 foreign"},
	})
}

func TestBeforeHELLO(t *testing.T) {
	t.Parallel()
	unit, _, _ := strings.Cut(pushWith(""), "\n")
	judge(t, map[string]row{
		"PUSH":                       {join(unit, "1 S: -ERR"), ""},
		"PUSH served":                {join(unit, "1 S: +OK"), "FWP-STATE-01 reply"},
		"PUSH served, protected":     {join("protected", unit, "1 S: +OK"), "FWP-AUTH-06 reply"},
		"FETCH served":               {join("1 C: FETCH q", "1 S: $-1"), "FWP-STATE-01 reply"},
		"END served":                 {join("1 C: END", "1 S: +OK"), ""},
		"END closed":                 {join("1 C: END", "1 S: <close>"), ""},
		"END answered with a bulk":   {join("1 C: END", "1 S: $x"), "FWP-END-01 foreign"},
		"nothing about the server":   {join(hello, "1 C: INFO", "1 S: $"), "FWP-INFO-01 foreign"},
		"malformed, served":          {join("1 C: INFO x", "1 S: $x"), "FWP-STATE-01 reply"},
		"an unknown command, served": {join("1 C: XYZZY", "1 S: +OK"), ""},
		"not UTF-8, served":          {join("1 C: HELLO {\"v\":2,\"x\":\"\\xff\"}", "1 S: +OK"), ""},
		"not UTF-8, HELLO, refused":  {join("1 C: HELLO {\"v\":2,\"x\":\"\\xff\"}", "1 S: -ERR"), ""},
		"HELLO refused":              {refuse(hello), "FWP-HELLO-16 refused"},
		"HELLO of a producer":        {join(`1 C: HELLO {"v":2}`, "1 S: -ERR"), "FWP-HELLO-15 refused"},
	})
}

// TestCloses has the server end a connection, which it may for some reasons.
func TestCloses(t *testing.T) {
	t.Parallel()
	const end = "1 C: END\n1 S: +OK"
	judge(t, map[string]row{
		"of a worker":               {join(hello, "1 S: <close>"), "FWP-STATE-13 closed"},
		"of a worker, by itself":    {join(hello, "1 C: <close>"), ""},
		"of a worker, half-closed":  {join(hello, "1 C: <fin>", "1 S: <close>"), ""},
		"of one that is not judged": {join(hello, "1 unjudge", "1 S: <close>"), ""},
		"of a worker after 59 s":    {join(hello, "+59s", "1 S: <close>"), "FWP-STATE-13 closed"},
		"of a worker after 60 s":    {join(hello, "+60s", "1 S: <close>"), ""},
		"of a worker that beat": {
			join(hello, "+50s", `1 C: BEAT {"wid":"worker-1"}`, "1 S: +OK", "+59s", "1 S: <close>"),
			"FWP-STATE-13 closed",
		},
		"of a worker whose BEAT was answered late": {
			join(hello, `1 C: BEAT {"wid":"worker-1"}`, "+5s", "1 S: +OK", "+56s", "1 S: <close>"), "",
		},
		"of a worker whose BEAT was refused": {
			join(hello, "+50s", `1 C: BEAT {"wid":5}`, "1 S: -ERR", "+59s", "1 S: <close>"),
			"",
		},
		"of a producer":                       {join(`1 C: HELLO {"v":2}`, "1 S: +OK", "1 S: <close>"), ""},
		"of a quiet worker":                   {join(hello, "signal worker-1 quiet", "1 S: <close>"), ""},
		"of a worker with a command":          {join(hello, "1 C: INFO", "1 S: <close>"), "FWP-STATE-13 closed"},
		"after END":                           {join(hello, end, "1 S: <close>"), ""},
		"in the place of END's OK":            {join(hello, "1 C: END", "1 S: <close>"), ""},
		"in the place of an error to END":     {join(hello, "1 C: END x", "1 S: <close>"), "FWP-FRAME-03 reply"},
		"in the place of an error":            {"1 C: INFO\n1 S: <close>", "FWP-STATE-01 no-error"},
		"in the place of an error, protected": {"protected\n1 C: INFO\n1 S: <close>", "FWP-STATE-01 no-error"},
		"of a malformed HELLO":                {"1 C: HELLO x\n1 S: <close>", "FWP-HELLO-06 no-error"},
		"of a HELLO that is right":            {strings.Split(hello, "\n")[0] + "\n1 S: <close>", ""},
		"of a HELLO that may be refused":      {"1 C: HELLO {\"v\":3}\n1 S: <close>", ""},
		"of an unknown command":               {"1 C: XYZZY\n1 S: <close>", ""},
		"before any command":                  {"1 S: +HI {\"v\":2}\n1 S: <close>", ""},
		"after an error":                      {"1 C: INFO\n1 S: -ERR\n1 C: INFO\n1 S: <close>", ""},
		"after an error, a HELLO":             {"1 C: INFO\n1 S: -ERR\n1 C: HELLO x\n1 S: <close>", ""},
		"of a worker, after its error": {
			join("1 C: INFO", "1 S: -ERR", hello, "1 S: <close>"), "FWP-STATE-13 closed",
		},
		"of a producer after a FLUSH": {
			join(hello, `2 C: HELLO {"v":2}`, "2 S: +OK", "1 C: FLUSH", "1 S: +OK", "2 C: END x", "2 S: <close>"), "",
		},
		"of a worker after a FLUSH": {
			join(hello, "1 C: FLUSH", "1 S: +OK", "1 C: END x", "1 S: <close>"), "FWP-FRAME-03 reply",
		},
		"of a client within a second": {"1 S: +HI {\"v\":2}\n+1s\n1 C: INFO\n1 S: <close>", "FWP-STATE-01 no-error"},
		"of a client that is slow":    {"1 S: +HI {\"v\":2}\n+1001ms\n1 C: INFO\n1 S: <close>", ""},
		"before a command":            {"1 C: INFO\n+-1ms\n1 S: <close>", ""},
	})
}

// TestUnaskedClose: a command that was sent on a connection that had ended is none that waited.
func TestUnaskedClose(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		behind  []string // HELLO
		unasked bool
	}{
		"without a command":  {[]string{"1 S: <close>"}, true},
		"behind a command":   {[]string{"1 C: INFO", "+1ms", "1 S: <close>"}, false},
		"ahead of a command": {[]string{"1 C: INFO", "+-1ms", "1 S: <close>"}, true},
		"with its command":   {[]string{"1 C: INFO", "1 S: <close>"}, false},
		"behind its reply":   {[]string{`1 C: BEAT {"wid":"worker-1"}`, "1 S: +OK", "1 S: <close>"}, true},
	} {
		v := talk(t, join(append([]string{hello}, test.behind...)...))
		require.NotNil(t, v, name)
		assert.Equal(t, test.unasked, v.IsIdleEnd, name)
	}
}

// A client that says nothing of when it came may be slow.
func TestCloseWithoutOpenTime(t *testing.T) {
	t.Parallel()
	w, now := fwplaw.NewWorld(), time.Now()
	w.Open(1)
	assert.Nil(t, w.Greet(1, reply(`+HI {"v":2}`)))
	w.FollowCommand(1, []byte("INFO"), now)
	assert.Equal(t, "FWP-STATE-01 no-error", summary(w.Close(1, true, now)))
	assert.Empty(t, w.Conns)

	w.Open(2)
	w.FollowCommand(2, []byte("INFO"), now) // before the greeting
	assert.Nil(t, w.Close(2, true, now), "it may have been at its limit")
}

func TestUnjudgedConns(t *testing.T) {
	t.Parallel()
	judge(t, map[string]row{
		"a connection that is not judged": {join(hello, "1 unjudge", infoRefused), ""},
		"a wrong kind on it":              {join(hello, "1 unjudge", "1 C: INFO", "1 S: :1"), ""},
		"a half-closed connection":        {join(hello, "1 C: <fin>", infoRefused), ""},
		"a job that comes to it":          {join(hello, pushWith(""), take, "1 C: <fin>", take), "FWP-STATE-05 delivered"},
		"END with an argument, served":    {join(hello, "1 C: END x", "> 1 S: +OK", infoRefused), ""},
		"a job of one that was not taken": {join(hello, pushWith(""), "1 unjudge", take, "2 C: FETCH q", "2 S: -ERR"), ""},
	})
}

// What a command may be answered with, and the clause that rules it by itself.
func TestExpects(t *testing.T) {
	t.Parallel()
	w, now := fwplaw.NewWorld(), time.Now()
	w.Open(1)
	assert.Zero(t, w.Expects(1))
	for _, test := range []struct {
		line    string
		clause  string
		answers string
	}{
		{"INFO", "FWP-STATE-01", "-"},
		{"END", "FWP-STATE-01", "+OK | - | <close>"},
		{"XYZZY", "FWP-FRAME-03", "+OK | -"},
		{`HELLO {"v":2}`, "FWP-HELLO-15", "+OK"},
	} {
		assert.Equal(t, test.clause, w.FollowCommand(1, []byte(test.line), now), test.line)
		assert.Equal(t, test.answers, w.Expects(1).String(), test.line)
	}
	w.Conns[1].Unjudged = fwplaw.NotLines
	w.FollowCommand(1, []byte("INFO"), now)
	assert.Equal(t, model.AnyAnswer, w.Expects(1))
}
