package moves

import (
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
)

// New returns FWP as a subject of exploring.
func New() *explore.Alphabet { return NewWith("") }

// NewWith returns it with what an extension adds, without some of its verbs: those that a server does not have.
func NewWith(extension fwpscript.Extension, missing ...string) *explore.Alphabet {
	adds := func(verb string) bool { return extension.Has(verb) && !slices.Contains(missing, verb) }
	return &explore.Alphabet{
		Dialect: fwpscript.Dialect{Extension: extension},
		Start: func(t law.Terms) explore.Law {
			l := newLaw(t)
			l.world.HasExtensionVerb = adds
			return l
		},
		Generate:     alphabet,
		Lives:        Lives,
		Jobs:         "jid",
		Situations:   model.Situations(),
		Greeting:     `+HI {"v":2}`,
		Accepted:     "+OK",
		ProbeCommand: `HELLO {"v":2}`,
		Introduction: explore.Introduction{Verb: fwp.HELLO, Line: hello, Fields: workerFields},
		Ruling:       ruling,
		ProbeLine:    livenessBeat,
		Family:       family,
		Rules:        rulesOf(extension),
		Seeds:        seeds,
		Simplify:     simplify,
		Round:        round,
		Reset:        reset(),
		Disruptions: []target.Action{
			target.Kill, target.KillServer, target.Restart, target.Pause, target.Partition,
		},
	}
}

// Law returns the law of FWP.
func Law() law.Definition { return LawOf("") }

// LawOf returns the law of FWP with the rules of an extension for what that adds.
func LawOf(extension fwpscript.Extension) law.Definition {
	return law.Definition{
		Start: func(t law.Terms) law.Law {
			l := newLaw(t)
			l.world.HasExtensionVerb = extension.Has
			return l
		}, Rules: rulesOf(extension), Greets: true,
	}
}

// family joins rules that are about the same: a job that does not come shows in several
// ways.
func family(rule string) string {
	switch rule {
	case "late", "order", "not-woken", "stalled":
		return "missing"
	}
	return rule
}

// reset has a job come and go in which every field is what it is by default.
func reset() []explore.Step {
	const conn, jid, queue = explore.Cleaner + 1<<19, "$jid1000000", "$queue1000000"
	return []explore.Step{
		consumer(conn, 1000000),
		push(conn, jid, queue, `,"retry":25,"backtrace":0,"reserve_for":1800`), line(conn, "FETCH %s", queue), ack(conn, jid),
		explore.End(conn, scenarios.Closed),
	}
}

// round leaves out the last of several FETCHes, and the ACKs: the next round fetches.
func round(steps []explore.Step) []explore.Step {
	fetches := 0
	for _, step := range steps {
		fetches += b2i(sendsVerb(step, fwp.FETCH))
	}
	last := len(steps) - 1
	if fetches < 2 || !sendsVerb(steps[last], fwp.FETCH) {
		return steps
	}
	return slices.DeleteFunc(slices.Clone(steps[:last]), func(step explore.Step) bool { return sendsVerb(step, fwp.ACK) })
}

// sendsVerb reports whether a step sends a line that begins with a verb.
func sendsVerb(step explore.Step, verb string) bool {
	return strings.HasPrefix(step.Text(), verb)
}
