package explore

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/scenarios"
)

// conn is the name of a connection.
func (w *writer) conn(number int) string {
	if w.single {
		return ""
	}
	return w.names.conn(number)
}

// expect writes an expectation without a window.
func (w *writer) expect(conn int, text string) { w.Expect(w.conn(conn), scenarios.Window{}, text) }

// writeHit writes the line that fails, the answer to a step.
func (w *writer) writeHit(step, conn int) {
	reply := w.replyText(step, conn) // of many rounds those before were answered
	if w.r.hit.Rule == RuleLingers {
		w.expect(conn, w.r.subject.Accepted)
	}
	w.clause()
	var window scenarios.Window // in which the reply must come
	if from, to := w.r.hit.Window[0], w.r.hit.Window[1]; to > 0 {
		window = scenarios.Window{From: from, To: to}
	}
	w.Expect(w.conn(conn), window, w.expectation(reply))
}

// expectation is what the line that fails expects, as a script has it; reply is what comes where the finding is
// about something beside it.
func (w *writer) expectation(reply string) string {
	switch w.r.hit.Rule {
	case RuleExtra, RuleGrammar, RuleClosed:
		return reply
	case RuleCrash:
		if w.t.N > 1 {
			return reply
		}
		return "<any>"
	case RuleSilent:
		return "<any>"
	case RuleLingers:
		return "<close>"
	}
	other := w.r.subject.hasTrait(w.r.hit.Rule, law.OfDelivery) && w.t.N > 1 // other rounds bring a job there
	if other || w.r.subject.hasTrait(w.r.hit.Rule, law.Unasked) {
		return reply
	}
	if text := w.symbols(w.r.hit.Expected); text != "" {
		return text
	}
	return "<any>"
}

// pushes reports whether most messages of the server answer no command: they are lines where they have come.
func (w *writer) pushes() bool { return w.Script.Dialect.Grammar().Replies.Pushes }

// writePushes writes the messages that came at a step, and what is wrong there if that is the finding. Of many rounds
// those of the first count.
func (w *writer) writePushes(i int) {
	hit := w.r.hit
	for _, a := range w.r.answers[i] {
		if a.Violation == nil && a.Pattern != "" && a.round <= 1 && w.opened[a.conn] {
			w.expect(a.conn, w.symbols(a.Pattern))
		}
	}
	if i != hit.step || hit.Violation == nil {
		return
	}
	switch {
	case w.r.subject.hasTrait(hit.Rule, law.Unasked):
		w.clause()
		w.Silence(time.Second, w.silenceConns(hit.conn)...)
	case slices.Contains([]string{RuleCrash, RuleGrammar, RuleSilent, RuleClosed}, hit.Rule):
		w.writeProbe(hit.conn)
	default:
		w.clause()
		w.expect(hit.conn, w.expectation(""))
	}
}

// writeProbe asks the server whether it still serves, when it has had time to end.
func (w *writer) writeProbe(conn int) {
	if !w.opened[conn] {
		for conn = range w.opened { // any: there is one in most cases
			break
		}
	}
	if !w.opened[conn] {
		w.Connect(w.conn(conn), scenarios.Producer, "")
	}
	w.Add(&scenarios.Silence{For: time.Second, Conns: w.silenceConns(conn)})
	w.clause()
	w.Send(w.conn(conn), w.r.subject.ProbeCommand)
	w.expect(conn, w.r.subject.Accepted)
}

// silenceConns returns the name of a connection as a silence has it: none if there is one connection only.
func (w *writer) silenceConns(conn int) []string {
	if name := w.conn(conn); name != "" {
		return []string{name}
	}
	return nil
}

// part returns what a finding is about, and what was answered there: the steps that name its job, if they are few, else
// what was answered wrongly behind what its connection sent first; of a crash that no command has shown the last steps.
func (x *exploration) part(p *pendingFinding) (Trace, playRecord) {
	const limit = 12
	trace := p.Original.Steps[:min(p.found.step+1, len(p.Original.Steps))]
	if len(trace) == 0 {
		return Trace{}, playRecord{}
	}
	s := &shrinker{config: x.config, target: p.found, deliverySteps: p.deliverySteps}
	wrongStep := s.wrongStep(trace)
	places := s.places(trace, s.jobStepMask(trace))
	switch {
	case p.Crash && p.found.conn == noConn: // of which of the last steps it died is not known
		keep := make([]bool, len(trace))
		for i := max(0, len(trace)-limit); i < len(trace); i++ {
			keep[i] = true
		}
		places = s.places(trace, keep)
	case p.found.job == "" || len(places) > limit:
		places = s.places(trace[:wrongStep+1], singleStepMask(trace[:wrongStep+1], wrongStep, true))
	}
	rec := recordOf(x.play, p.found)
	all := rec.answers
	rec.answers = map[int][]reply{}
	var t Trace
	for i, at := range places {
		t.Steps = append(t.Steps, trace[at])
		rec.answers[i] = all[at]
	}
	rec.hit.step = len(places) - 1
	rec.hit.wrongStep = max(0, slices.Index(places, wrongStep))
	return t, rec
}
