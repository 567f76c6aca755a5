package law_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/transcript"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
)

// TestReasons plays conversations after which a job, or a connection, is not judged.
func TestReasons(t *testing.T) {
	t.Parallel()
	const flush = "2 C: FLUSH"
	for name, test := range map[string]struct {
		talk      string
		job, conn fwplaw.Reason
	}{
		"judged":                   {join(hello, pushWith(""), take), fwplaw.Judged, fwplaw.Judged},
		"a jid comes twice":        {join(hello, pushWith(""), pushWith("")), fwplaw.SameJID, fwplaw.Judged},
		"a wrong PUSH has its jid": {join(hello, pushWith(","), pushWith("")), fwplaw.SameJID, fwplaw.Judged},
		"a PUSH is tolerated":      {join(hello, pushWith(`,"retry":-2`)), fwplaw.Tolerated, fwplaw.Judged},
		"a member comes twice":     {join(hello, pushWith(`,"custom":{"a":1,"a":2}`)), fwplaw.Tolerated, fwplaw.Judged},
		"and is like any other":    {join(hello, pushWith(`,"reserve_for":5`)), fwplaw.Judged, fwplaw.Judged},
		"an ACK is refused":        {join(hello, pushWith(""), take, refuse(ack)), fwplaw.Disallowed, fwplaw.Judged},
		"a fail in small letters": {
			join(hello, pushWith(""), take, strings.Replace(fail, "FAIL", "fail", 1)), fwplaw.Disallowed, fwplaw.Judged,
		},
		"a FAIL is refused":         {join(hello, pushWith(""), take, refuse(fail)), fwplaw.Disallowed, fwplaw.Judged},
		"an ACK is answered oddly":  {join(hello, pushWith(""), take, "1 C: ACK x\n1 S: +OK"), fwplaw.Judged, fwplaw.Judged},
		"a wrong FLUSH":             {join(hello, pushWith(""), "1 C: FLUSH x\n1 S: +OK"), fwplaw.Disallowed, fwplaw.Judged},
		"a FLUSH without an answer": {join(hello, otherHello, pushWith(""), flush, "2 C: <close>"), fwplaw.PerhapsFlushed, fwplaw.Judged},
		"a FETCH of another kind":   {join(hello, pushWith(""), "1 C: FETCH q\n1 S: +OK"), fwplaw.Disallowed, fwplaw.Judged},
		"another queue's FETCH":     {join(hello, pushWith(""), "1 C: FETCH r\n1 S: +OK"), fwplaw.Judged, fwplaw.Judged},
		"a wrong END":               {join(hello, pushWith(""), "1 C: END x\n1 S: +OK"), fwplaw.Judged, fwplaw.Disallowed},
		"a wrong HELLO": {
			join("2 C: INFO\n2 S: -ERR", "1 C: HELLO x\n1 S: +OK"), fwplaw.Judged, fwplaw.Disallowed,
		},
		"bytes": {join(hello, pushWith(""), "1 unjudge"), fwplaw.Judged, fwplaw.NotLines},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newConversation(t)
			c.play(test.talk, func(transcript.Event, *law.Violation) {}) // what it breaks is for other tests
			if j := c.w.Jobs["jid-0000000000000001"]; j != nil {
				assert.Equal(t, test.job, j.Unjudged, "%s", j.Unjudged)
			}
			assert.Equal(t, test.conn, c.w.Conns[1].Unjudged, "%s", c.w.Conns[1].Unjudged)
		})
	}
}

func TestUnjudge(t *testing.T) {
	t.Parallel()
	w := fwplaw.NewWorld()
	a, b := &fwplaw.Job{JID: "a"}, &fwplaw.Job{JID: "b"}
	w.Jobs["a"], w.Jobs["b"] = a, b
	w.Unjudge("a", fwplaw.Reported)
	assert.Equal(t, []fwplaw.Reason{fwplaw.Reported, fwplaw.Judged}, []fwplaw.Reason{a.Unjudged, b.Unjudged})
	w.Unjudge("", fwplaw.Reported)
	assert.Equal(t, fwplaw.Reported, b.Unjudged)
	assert.Equal(t, "reported", b.Unjudged.String())
}

// TestLossAfterRefusal judges that a job does not come, behind a command that was refused and may be why.
func TestLossAfterRefusal(t *testing.T) {
	t.Parallel()
	judge(t, map[string]row{
		"with a FLUSH refused": {
			join(hello, pushWith(""), "1 C: FLUSH x", "1 S: -ERR", fetchNothing),
			"FWP-FLUSH-03 missing doubtful",
		},
		"with a FLUSH that failed": {
			join(hello, pushWith(""), "1 C: FLUSH", "1 S: -ERR", fetchNothing),
			"FWP-FLUSH-01 missing doubtful",
		},
		"with a FLUSH refused, behind which another job came": {
			join(hello, pushWith(""), pushSecond(""), "1 C: FLUSH x", "1 S: -ERR", "1 C: FETCH q", "1 S: JOB2", fetchNothing),
			"FWP-PUSH-04 missing",
		},
		"with a FETCH refused": {
			join(hello, pushWith(""), "1 C: FETCH  q", "1 S: -ERR", "1 C: FLUSH x", "1 S: -ERR", fetchNothing),
			"FWP-STATE-12 missing doubtful",
		},
		"just after a FETCH refused": {
			join(hello, "1 C: FETCH  q", "1 S: -ERR", pushWith(""), fetchNothing), "FWP-STATE-12 missing doubtful",
		},
		"long after a FETCH refused": {
			join(hello, "1 C: FETCH  q", "1 S: -ERR", "+5s", pushWith(""), fetchNothing), "FWP-PUSH-04 missing",
		},
		"the second after a FETCH refused": {
			join(hello, "1 C: FETCH  q", "1 S: -ERR", pushWith(""), take, pushSecond(""), fetchNothing), "FWP-PUSH-04 missing",
		},
		"when another was lost without one": {
			join(hello, pushWith(""), strings.Replace(fetchNothing, "1 S", "> 1 S", 1), pushSecond(""), "1 C: FETCH  q", "1 S: -ERR", fetchNothing),
			"FWP-PUSH-04 missing",
		},
	})
}

// A violation says whether the job that is missing was delivered before.
func TestMissingAgain(t *testing.T) {
	t.Parallel()
	assert.True(t, talk(t, join(hello, pushWith(""), take, fail, "+150s", fetchNothing)).LacksRedelivery)
	assert.False(t, talk(t, join(hello, pushWith(""), fetchNothing)).LacksRedelivery)
}
