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
	info    = "1 C: INFO\n1 S: $x"
	noInfo  = "1 C: INFO\n1 S: -ERR"
	noFetch = "1 C: FETCH q\n1 S: -ERR"
	beating = `1 C: BEAT {"wid":"worker-1"}` + "\n1 S: +OK"
	flush   = "1 C: FLUSH\n1 S: +OK"
)

// TestBlame has a legal command refused, and the clause that says why it should still have
// been served: the commands before it must do no harm.
func TestBlame(t *testing.T) {
	t.Parallel()
	served := all(hello, info)
	done := all(served, with(""), take, ack)
	failed := all(served, with(""), take, fail)
	judge(t, map[string]row{
		"nothing before":             {all(hello, noInfo), ""},
		"never served, after an ACK": {all(hello, with(""), take, ack, noInfo), ""},
		"served before":              {all(served, with(""), noInfo), "FWP-STATE-03 refused"},
		"after an ACK":               {all(done, noInfo), "FWP-STATE-10 refused"},
		"after a FAIL":               {all(failed, noInfo), "FWP-STATE-10 refused"},
		"a PUSH after an ACK":        {all(done, refused(second(""))), "FWP-STATE-10 refused"},
		"a FETCH after an ACK":       {all(done, noFetch), "FWP-STATE-10 refused"},
		"a FETCH of 8 queues": {all(served, "1 C: FETCH"+" q1 q2 q3 q4 q5 q6 q7 q8", "1 S: -ERR"),
			"FWP-FETCH-03 refused"},
		"of 9, which may be too many": {all(served, "1 C: FETCH"+" q1 q2 q3 q4 q5 q6 q7 q8 q9", "1 S: -ERR"), ""},
		"a queue twice":               {all(served, "1 C: FETCH q1 q2 q1", "1 S: -ERR"), ""},
		"after an ACK and an INFO":    {all(done, info, noInfo), "FWP-STATE-03 refused"},
		"after an ACK refused": {
			all(served, `1 C: ACK {"jid":"x"}`, "1 S: -ERR", noInfo),
			"FWP-STATE-12 refused",
		},
		"after an ACK of no job":      {all(served, `1 C: ACK {"jid":"x"}`, "1 S: +OK", noInfo), "FWP-STATE-10 refused"},
		"after a FLUSH":               {all(served, flush, noInfo), "FWP-FLUSH-04 refused"},
		"after a second HELLO":        {all(served, hello, noInfo), "FWP-HELLO-08 refused"},
		"after one that was refused":  {all(served, refused(hello), noInfo), "FWP-STATE-12 refused"},
		"in a simple string":          {all(served, "1 C: INFO x", "1 S: +err malformed"), "FWP-RESP-02 failure"},
		"in a bulk string":            {all(served, "1 C: ACK {}", "1 S: $ERR malformed"), "FWP-RESP-02 failure"},
		"as a number":                 {all(served, "1 C: ACK {}", "1 S: :0"), "FWP-RESP-02 failure"},
		"as a word":                   {all(served, "1 C: ACK {}", "1 S: +no"), "FWP-RESP-02 failure"},
		"as an OK in small letters":   {all(served, "1 C: ACK {}", "1 S: +ok"), "FWP-ACK-03 reply"},
		"of a good command, as text":  {all(served, `1 C: ACK {"jid":"x"}`, "1 S: +no"), "FWP-ACK-01 foreign"},
		"after a malformed command":   {all(served, "1 C: INFO x", "1 S: -ERR", noInfo), "FWP-STATE-12 refused"},
		"HELLO after an INFO refused": {all("1 C: INFO", "1 S: -ERR", refused(hello)), "FWP-STATE-12 refused"},
		"the 99th command":            {all(hello, strings.Repeat(info+"\n", 98)+noInfo), "FWP-STATE-03 refused"},
		"the 101st command":           {all(hello, strings.Repeat(info+"\n", 99)+noInfo), "FWP-LINK-03 refused"},
		"the first INFO, late": {
			all(hello, strings.Repeat(beating+"\n", 99)+noInfo), "",
		},
		"a wrong reply after an ACK": {all(done, "1 C: INFO", "1 S: :1"), "FWP-INFO-01 foreign"},
	})
}

func TestBeforeHELLO(t *testing.T) {
	t.Parallel()
	unit, _, _ := strings.Cut(with(""), "\n")
	judge(t, map[string]row{
		"PUSH":                       {all(unit, "1 S: -ERR"), ""},
		"PUSH served":                {all(unit, "1 S: +OK"), "FWP-STATE-01 reply"},
		"PUSH served, protected":     {all("protected", unit, "1 S: +OK"), "FWP-AUTH-06 reply"},
		"FETCH served":               {all("1 C: FETCH q", "1 S: $-1"), "FWP-STATE-01 reply"},
		"END served":                 {all("1 C: END", "1 S: +OK"), ""},
		"END closed":                 {all("1 C: END", "1 S: <close>"), ""},
		"END answered with a bulk":   {all("1 C: END", "1 S: $x"), "FWP-END-01 foreign"},
		"nothing about the server":   {all(hello, "1 C: INFO", "1 S: $"), "FWP-INFO-01 foreign"},
		"malformed, served":          {all("1 C: INFO x", "1 S: $x"), "FWP-STATE-01 reply"},
		"an unknown command, served": {all("1 C: XYZZY", "1 S: +OK"), ""},
		"not UTF-8, served":          {all("1 C: HELLO {\"v\":2,\"x\":\"\\xff\"}", "1 S: +OK"), ""},
		"not UTF-8, HELLO, refused":  {all("1 C: HELLO {\"v\":2,\"x\":\"\\xff\"}", "1 S: -ERR"), ""},
		"HELLO refused":              {refused(hello), "FWP-HELLO-16 refused"},
		"HELLO of a producer":        {all(`1 C: HELLO {"v":2}`, "1 S: -ERR"), "FWP-HELLO-15 refused"},
	})
}

// TestCloses has the server end a connection, which it may for some reasons.
func TestCloses(t *testing.T) {
	t.Parallel()
	const end = "1 C: END\n1 S: +OK"
	judge(t, map[string]row{
		"of a worker":               {all(hello, "1 S: <close>"), "FWP-STATE-13 closed"},
		"of a worker, by itself":    {all(hello, "1 C: <close>"), ""},
		"of a worker, half-closed":  {all(hello, "1 C: <fin>", "1 S: <close>"), ""},
		"of one that is not judged": {all(hello, "1 unjudge", "1 S: <close>"), ""},
		"of a worker after 59 s":    {all(hello, "+59s", "1 S: <close>"), "FWP-STATE-13 closed"},
		"of a worker after 60 s":    {all(hello, "+60s", "1 S: <close>"), ""},
		"of a worker that beat": {
			all(hello, "+50s", `1 C: BEAT {"wid":"worker-1"}`, "1 S: +OK", "+59s", "1 S: <close>"),
			"FWP-STATE-13 closed",
		},
		"of a worker whose BEAT was answered late": {
			all(hello, `1 C: BEAT {"wid":"worker-1"}`, "+5s", "1 S: +OK", "+56s", "1 S: <close>"), "",
		},
		"of a worker whose BEAT was refused": {
			all(hello, "+50s", `1 C: BEAT {"wid":5}`, "1 S: -ERR", "+59s", "1 S: <close>"),
			"",
		},
		"of a producer":                       {all(`1 C: HELLO {"v":2}`, "1 S: +OK", "1 S: <close>"), ""},
		"of a quiet worker":                   {all(hello, "signal worker-1 quiet", "1 S: <close>"), ""},
		"of a worker with a command":          {all(hello, "1 C: INFO", "1 S: <close>"), "FWP-STATE-13 closed"},
		"after END":                           {all(hello, end, "1 S: <close>"), ""},
		"in the place of END's OK":            {all(hello, "1 C: END", "1 S: <close>"), ""},
		"in the place of an error to END":     {all(hello, "1 C: END x", "1 S: <close>"), "FWP-FRAME-03 reply"},
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
			all("1 C: INFO", "1 S: -ERR", hello, "1 S: <close>"), "FWP-STATE-13 closed",
		},
		"of a producer after a FLUSH": {
			all(hello, `2 C: HELLO {"v":2}`, "2 S: +OK", "1 C: FLUSH", "1 S: +OK", "2 C: END x", "2 S: <close>"), "",
		},
		"of a worker after a FLUSH": {
			all(hello, "1 C: FLUSH", "1 S: +OK", "1 C: END x", "1 S: <close>"), "FWP-FRAME-03 reply",
		},
		"of a client within a second": {"1 S: +HI {\"v\":2}\n+1s\n1 C: INFO\n1 S: <close>", "FWP-STATE-01 no-error"},
		"of a client that is slow":    {"1 S: +HI {\"v\":2}\n+1001ms\n1 C: INFO\n1 S: <close>", ""},
		"before a command":            {"1 C: INFO\n+-1ms\n1 S: <close>", ""},
	})
}

// TestAnEndThatNothingAskedFor: a command that was sent on a connection that had ended is none that waited.
func TestAnEndThatNothingAskedFor(t *testing.T) {
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
		v := talk(t, all(append([]string{hello}, test.behind...)...))
		require.NotNil(t, v, name)
		assert.Equal(t, test.unasked, v.Unasked, name)
	}
}

// A client that says nothing of when it came may be slow.
func TestNobodyKnowsWhenTheClientCame(t *testing.T) {
	t.Parallel()
	w, now := fwplaw.NewWorld(), time.Now()
	w.Open(1)
	assert.Nil(t, w.Greet(1, reply(`+HI {"v":2}`)))
	w.Sent(1, []byte("INFO"), now)
	assert.Equal(t, "FWP-STATE-01 no-error", brief(w.Close(1, true, now)))
	assert.Empty(t, w.Conns)

	w.Open(2)
	w.Sent(2, []byte("INFO"), now) // before the greeting
	assert.Nil(t, w.Close(2, true, now), "it may have been at its limit")
}

func TestWhatIsNotJudged(t *testing.T) {
	t.Parallel()
	judge(t, map[string]row{
		"a connection that is not judged": {all(hello, "1 unjudge", noInfo), ""},
		"a wrong kind on it":              {all(hello, "1 unjudge", "1 C: INFO", "1 S: :1"), ""},
		"a half-closed connection":        {all(hello, "1 C: <fin>", noInfo), ""},
		"a job that comes to it":          {all(hello, with(""), take, "1 C: <fin>", take), "FWP-STATE-05 delivered"},
		"END with an argument, served":    {all(hello, "1 C: END x", "> 1 S: +OK", noInfo), ""},
		"a job of one that was not taken": {all(hello, with(""), "1 unjudge", take, "2 C: FETCH q", "2 S: -ERR"), ""},
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
		assert.Equal(t, test.clause, w.Sent(1, []byte(test.line), now), test.line)
		assert.Equal(t, test.answers, w.Expects(1).String(), test.line)
	}
	w.Conns[1].Unjudged = fwplaw.NotLines
	w.Sent(1, []byte("INFO"), now)
	assert.Equal(t, model.Anything, w.Expects(1))
}
