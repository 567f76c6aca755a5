package explore

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/law"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
)

// steps reads a conversation: "1(" opens a connection, "1)" ends it, "1x" sends x on it.
func steps(text string) (all []Step) {
	b := Builder{fwpscript.Dialect{}}
	for word := range strings.FieldsSeq(text) {
		conn, action := int(word[0]-'0'), word[1:]
		switch action {
		case "(":
			all = append(all, b.Open(conn, scenarios.Raw, ""))
		case ")":
			all = append(all, End(conn, scenarios.Closed))
		default:
			all = append(all, b.Line(conn, "%s", action))
		}
	}
	return all
}

// written is the opposite of steps.
func written(all []Step) string {
	var words []string
	for _, step := range all {
		text := step.Text()
		switch {
		case step.opens():
			text = "("
		case step.Ends():
			text = ")"
		}
		words = append(words, string(rune('0'+step.Conn()))+text)
	}
	return strings.Join(words, " ")
}

// TestReduceReturnsWhatWasPlayed: without a try nothing is left out, not even what has no effect: a script is written
// of the conversation and of the record of its play, step by step.
func TestReduceReturnsWhatWasPlayed(t *testing.T) {
	t.Parallel()
	const trace = "1a 1( 1b"
	s := &shrinker{config: &config{subject: &Alphabet{}}, plays: maxPlays}
	assert.Equal(t, trace, written(s.reduce(t.Context(), Trace{Steps: steps(trace)}).Steps))
}

// TestStepsWithoutEffect: what is done on a connection that is not open may be dropped without a try, but not where
// steps are repeated: the round before may have opened it.
func TestStepsWithoutEffect(t *testing.T) {
	t.Parallel()
	for before, after := range map[string]string{
		"1( 1a 1b 1)":       "1( 1a 1b 1)",
		"1( 1a 1) 1b":       "1( 1a 1)",
		"1a 1( 1b":          "1( 1b",
		"1( 1) 1) 1( 1a":    "1( 1) 1( 1a",
		"1( 2a 1b 2( 2c":    "1( 1b 2( 2c",
		"1( 1a 1) 1( 1b 1)": "1( 1a 1) 1( 1b 1)",
	} {
		trace := Trace{Steps: steps(before)}
		assert.Equal(t, after, written(trace.pick(effectivePlaces(trace, trace.places())).Steps))
		trace.N = 2
		assert.Equal(t, before, written(trace.pick(effectivePlaces(trace, trace.places())).Steps), "repeated")
	}
}

// TestStepsComeWithIntroductions: a part of a conversation has what opened its connections, and by which their clients
// introduced themselves before.
func TestStepsComeWithIntroductions(t *testing.T) {
	t.Parallel()
	s := &shrinker{config: &config{subject: &Alphabet{Introduction: Introduction{Verb: "HELLO"}}}}
	for trace, part := range map[string]string{
		"1( 1HELLO 2( 2HELLO 2a 1b":      "1( 1HELLO 1b",
		"1( 1a 1HELLO 1c 1b":             "1( 1HELLO 1b",
		"1( 1HELLO 1) 1( 1a 1b":          "1( 1b",
		"2( 1( 1HELLO 1HELLO{} 2a 1b 1)": "1( 1HELLO 1HELLO{} 1b 1)",
		"1HELLO 1( 1b 1HELLO":            "1( 1b",
	} {
		all := steps(trace)
		keep := make([]bool, len(all))
		for i, step := range all {
			keep[i] = step.Text() == "b"
		}
		assert.Equal(t, part, written(s.selectSteps(all, keep)), trace)
	}
}

// TestOnlyKeepsTheRepetition: of a trace whose middle is repeated, the rest of the middle still is.
func TestOnlyKeepsTheRepetition(t *testing.T) {
	t.Parallel()
	trace := Trace{Steps: steps("1( 1a 1b 1c 1d"), From: 1, To: 4, N: 7}
	for _, test := range []struct {
		keep     []int
		from, to int
	}{
		{[]int{0, 1, 2, 3, 4}, 1, 4}, {[]int{1, 2, 3}, 0, 3}, {[]int{0, 2, 4}, 1, 2}, {[]int{0, 4}, 1, 1}, {[]int{3}, 0, 1},
	} {
		less := trace.pick(test.keep)
		assert.Len(t, less.Steps, len(test.keep))
		assert.Equal(t, []int{test.from, test.to, 7}, []int{less.From, less.To, less.N}, test.keep)
	}
}

// TestAlone: of the last steps that send something each is played by itself, behind the first one of its connection.
func TestAlone(t *testing.T) {
	t.Parallel()
	b := Builder{fwpscript.Dialect{}}
	steps := []Step{
		b.Open(1, scenarios.Raw, ""), b.Line(1, "join old"), b.Open(1, scenarios.Raw, ""), b.Line(1, "join a"),
		b.Open(2, scenarios.Raw, ""), b.Line(2, "ping"), b.Line(1, "put q"), Wait(1), b.Line(1, "take q"),
	}
	s := &shrinker{config: &config{subject: &Alphabet{}}}
	var all []string
	for _, trace := range s.singleStepTraces(steps) {
		text := ""
		for _, step := range trace.Steps {
			text += step.Text() + ";"
		}
		all = append(all, text)
	}
	assert.Equal(t, []string{";join a;take q;", ";join a;put q;", ";ping;", ";join a;"}, all)
}

// TestMovesThatEndAServer: a move after which the server is gone in most cases is not made any more, and one that was
// by chance the last before is.
func TestMovesThatEndAServer(t *testing.T) {
	t.Parallel()
	g := &generator{last: map[string]uint64{}, moveCounts: map[string]int{"kill": 3, "ping": 7}, fatal: map[string]int{}}
	for _, name := range []string{"kill", "ping", "kill", "ping", "ping"} {
		g.latest = name
		g.noteDeath()
		assert.True(t, g.affords(Move{Name: name}))
	}
	g.latest = "kill"
	g.noteDeath()
	assert.False(t, g.affords(Move{Name: "kill"}))
	assert.True(t, g.affords(Move{Name: "ping"}))
}

// What was reproduced already in another form is shrunk for less time; what was not, or is something else, is not.
func TestKnownKindsAreShrunkForLessTime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before Finding
		want   bool
	}{
		"reproduced":     {Finding{Rule: "delivered", Hits: 1}, true},
		"not reproduced": {Finding{Rule: "delivered"}, false},
		"another kind":   {Finding{Rule: "missing", Hits: 5}, false},
		"a crash":        {Finding{Rule: "delivered", Hits: 5, Finding: conformance.Finding{Crash: true}}, false},
	} {
		x := exploration{Explorer: &Explorer{Alphabet: &Alphabet{}}, result: &Result{Findings: []Finding{test.before}}}
		assert.Equal(t, test.want, x.isReproduced("delivered"), name)
	}
}

// TestShort: what is tried first when something was just found, the shortest first: what names its job, the command
// that was answered wrongly on a new connection, what its connection was sent first, and the connection.
func TestShort(t *testing.T) {
	t.Parallel()
	b := Builder{fwpscript.Dialect{}}
	conversation := []Step{
		b.Open(1, scenarios.Raw, ""), b.Open(2, scenarios.Raw, ""), b.Line(1, "first"), b.Line(2, "make $jid1"),
		b.Line(1, "second"), b.Line(1, "take $jid1"), b.Line(2, "other"),
	}
	ahead := conversation[5]
	conversation[5].Ahead = true
	s := &shrinker{config: &config{subject: &Alphabet{Dialect: fwpscript.Dialect{}, Jobs: "jid"}}}
	s.target = sighting{Violation: &law.Violation{JID: "x-jid1"}, job: "jid1", step: 6, wrongStep: 5, conn: 1}
	var all []string
	for _, trace := range s.shortTraces(conversation) {
		all = append(all, written(trace.Steps))
	}
	assert.Equal(t, []string{"1( 2( 2make $jid1 1take $jid1 2other", "1( 1take $jid1", "1( 2( 1take $jid1 2other",
		"1( 2( 1first 1take $jid1 2other", "1( 2( 1second 1take $jid1 2other",
		"1( 2( 1first 1second 1take $jid1 2other", "1( 2( 1first 2make $jid1 1second 1take $jid1 2other"}, all)
	assert.Equal(t, ahead, s.shortTraces(conversation)[1].Steps[1], "its answer is awaited")
}

// TestALookThatEndsTheServer: a server that is gone behind a look has crashed, though the clean-up alone has seen it;
// nothing is known of one that was started for the look.
func TestALookThatEndsTheServer(t *testing.T) {
	t.Parallel()
	trace := Trace{Steps: steps("1( 1a 1b")}
	crash := sighting{Violation: &law.Violation{Rule: RuleCrash, Clause: "A-1"}, crash: true, step: 1}
	for clause, p := range map[string]*playthrough{"": {isDead: true}, "A-1": {isDead: true, sightings: []sighting{crash}}} {
		s := &shrinker{config: &config{}}
		s.noteEnd(p, trace)
		assert.Equal(t, &trace, s.ended)
		assert.True(t, s.fatal.crash)
		assert.Equal(t, clause, s.fatal.Clause)
		assert.Less(t, s.fatal.step, len(trace.Steps))
		s = &shrinker{config: &config{}, trialServer: &trialServer{}}
		s.noteEnd(p, trace)
		assert.Nil(t, s.ended)
	}
}
