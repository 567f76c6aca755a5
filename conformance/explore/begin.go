package explore

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/scenarios"
)

// begin looks for a short conversation to start from: what has to do with the finding
// alone, that again and again, the last steps, and all of it.
func (s *shrinker) begin(ctx context.Context, trace []Step) (Trace, bool) {
	if s.look {
		t, ok := s.first(ctx, slices.DeleteFunc(s.shortTraces(trace), func(t Trace) bool { return !s.affords(t) }), false)
		s.isKnown = s.isKnown && !ok // that it shows is known
		return t, ok
	}
	seeds := slices.DeleteFunc(s.config.subject.seeds(s.target.Rule), func(t Trace) bool { return !s.affords(t) })
	if t, ok := s.first(ctx, seeds, false); ok {
		return t, true
	}
	s.isKnown = false // a usual conversation that shows something known is no explanation
	if len(trace) == 0 {
		return Trace{}, false
	}
	traces := slices.DeleteFunc(s.candidates(trace), func(t Trace) bool { return !s.isRepeatable(t) || !s.affords(t) })
	if s.isParallel() { // what waits for a job that does not come must not use up the time for all
		limited, cancel := withLimit(ctx, s.limit/2)
		defer cancel()
		ctx = limited
	}
	t, ok := s.first(ctx, traces, true)
	s.isLate = ctx.Err() != nil
	return t, ok
}

// candidates are parts of a conversation that may show the finding, the shorter first.
func (s *shrinker) candidates(trace []Step) []Trace {
	relevantSteps, unit := s.relevantSteps(trace), s.unit(trace)
	all := []Trace{{Steps: unit}, {Steps: relevantSteps}, {Steps: s.suffix(trace, 30)}}
	if s.isSilentDeath() {
		all = slices.Insert(all, 1, append(s.singleStepTraces(trace), Trace{Steps: s.suffix(trace, 6)})...)
	}
	if s.twin != nil { // what counts shows with the first conversations, or on one server alone
		return append(all, Trace{Steps: s.suffix(trace, 120)}, Trace{Steps: trace})
	}
	for _, n := range []int{60, 600, 6000} { // bugs that count do so by 50, 500 or 5,000
		for _, steps := range [][]Step{s.round(unit), unit, relevantSteps} {
			all = append(all, Repeat(steps, n))
		}
		all = append(all, Trace{Steps: s.suffix(trace, 4*n)})
	}
	return append(all, Trace{Steps: trace})
}

// shortTraces are parts of a conversation that may show a finding by themselves, the shortest first: what names its
// job, the command that was answered wrongly on a new connection, usual ones, its connection, and the last steps.
func (s *shrinker) shortTraces(trace []Step) (all []Trace) {
	const limit = 80 // steps
	wrongStep := s.wrongStep(trace)
	single := s.singleStep(trace[:wrongStep+1], wrongStep, false)
	awaitAnswer(&single[len(single)-1]) // else no step awaits the answer
	add := func(steps []Step) {
		isEqual := func(t Trace) bool { return slices.Equal(t.Steps, steps) }
		if len(steps) <= limit && !slices.ContainsFunc(all, isEqual) {
			all = append(all, Trace{Steps: steps})
		}
	}
	if s.target.job != "" { // without what was done to that before, the command shows nothing
		add(s.unit(trace))
	}
	add(single)
	add(s.singleStep(trace, wrongStep, false))
	add(s.singleStep(trace, wrongStep, true))
	if s.isSilentDeath() {
		all = append(all, s.singleStepTraces(trace)...)
	}
	for _, t := range s.config.subject.seeds(s.target.Rule) {
		if t.N <= 1 {
			all = append(all, t)
		}
	}
	add(s.suffix(trace, 3)) //nolint:mnd // a few
	add(s.connection(trace, limit/4))
	relevantSteps := s.relevantSteps(trace)
	add(slices.DeleteFunc(slices.Clone(relevantSteps), func(step Step) bool {
		return step.waitTime() > 0 &&
			step.waitTime() < minWait
	}))
	add(relevantSteps)
	add(s.suffix(trace, limit/4))
	return all
}

// minWait is a wait that matters by itself: shorter ones only let the clock go on.
const minWait = 50 * time.Millisecond

// wrongStep returns the place of the step that was answered wrongly.
func (s *shrinker) wrongStep(trace []Step) int {
	if at := s.target.wrongStep; at >= 0 && at < len(trace) {
		return at
	}
	return len(trace) - 1
}

// connection is what was done last on the connection of a finding since it was opened.
func (s *shrinker) connection(trace []Step, limit int) []Step {
	keep := make([]bool, len(trace))
	for i := len(trace) - 1; i >= 0 && limit > 0; i-- {
		if trace[i].Conn() != s.target.conn {
			continue
		}
		keep[i] = true
		if limit--; trace[i].opens() {
			break
		}
	}
	keep[len(trace)-1] = true
	return s.selectSteps(trace, keep)
}

// singleStep returns a step by itself on a new connection, or behind what its connection sent first; and the last of
// all, at which something came up.
func (s *shrinker) singleStep(trace []Step, at int, keepsFirst bool) []Step {
	return s.selectSteps(trace, singleStepMask(trace, at, keepsFirst))
}

// singleStepMask marks the steps that singleStep picks.
func singleStepMask(trace []Step, at int, keepsFirst bool) []bool {
	keep := make([]bool, len(trace))
	keep[at], keep[len(trace)-1] = true, true
	first := at
	for n := at - 1; keepsFirst && n >= 0 && (trace[n].Conn() != trace[at].Conn() || !trace[n].opens()); n-- {
		if trace[n].Conn() == trace[at].Conn() && trace[n].Sends() != nil {
			first = n
		}
	}
	keep[first] = true
	return keep
}

// singleStepTraces returns the last steps that send something, each by itself behind what its connection sent first.
func (s *shrinker) singleStepTraces(trace []Step) (all []Trace) {
	const limit = 4
	for i := len(trace) - 1; i > 0 && len(all) < limit; i-- {
		if trace[i].Sends() != nil {
			all = append(all, Trace{Steps: s.singleStep(trace[:i+1], i, true)})
		}
	}
	return all
}

// isSilentDeath reports whether no missing reply tells of which command the server died: it is one of the last.
func (s *shrinker) isSilentDeath() bool { return s.target.crash && s.config.grammar().Replies.Pushes }

// isRepeatable reports whether a conversation is short enough for what it is repeated, if it
// is. What ends a server is not repeated.
func (s *shrinker) isRepeatable(t Trace) bool {
	unit := t.To - t.From
	return t.N <= 1 || unit > 0 && unit <= maxUnit && !s.target.crash
}

// affords reports whether a conversation does not wait for longer than there is time, and does not disrupt a server on
// which the exploration goes on: what comes of that would be held against it.
func (s *shrinker) affords(t Trace) bool {
	var total, roundTime time.Duration
	for i, step := range t.Steps {
		if ok, _ := step.disrupts(); ok && s.look && s.trialServer == nil {
			return false
		}
		if total += step.waitTime(); i >= t.From && i < t.To {
			roundTime += step.waitTime()
		}
	}
	return s.limit == 0 || total+roundTime*time.Duration(max(t.N-1, 0)) <= s.limit/3
}

// first returns the first conversation that shows the finding. sparing: it stops when enough was tried, but for those
// that were played beside the others.
func (s *shrinker) first(ctx context.Context, all []Trace, sparing bool) (Trace, bool) {
	at := 0
	for isShown := range s.tries(ctx, all) {
		switch {
		case isShown:
			s.best = s.latest
			return all[at], true
		case sparing && s.isSpent(ctx) && !s.isParallel():
			return Trace{}, false
		}
		at++
	}
	return Trace{}, false
}

// unit picks the steps that name the job of the finding, and those at which it came;
// without a job, the last step.
func (s *shrinker) unit(trace []Step) []Step { return s.selectSteps(trace, s.jobStepMask(trace)) }

// jobStepMask marks the steps that unit picks.
func (s *shrinker) jobStepMask(trace []Step) []bool {
	keep := make([]bool, len(trace))
	symbol := s.target.job
	hasBegun := false
	for i, step := range trace {
		switch {
		case step.Sends() != nil:
			keep[i] = s.deliverySteps[i] || symbol != "" && slices.Contains(s.names(step), "$"+symbol)
		case hasBegun:
			ok, _ := step.disrupts()
			keep[i] = ok || step.waitTime() > 0
		}
		hasBegun = hasBegun || keep[i]
	}
	keep[len(trace)-1] = true
	return keep
}

// seeds are short conversations in which a bug often shows as one of a rule. They are
// tried before those that come from the exploration: a bug that shows with every job is
// better shown with the plainest one.
func (s *Alphabet) seeds(rule string) []Trace {
	if s.Seeds == nil {
		return nil
	}
	return s.Seeds(s.family(rule))
}

// round leaves out what the next round does anyway where steps are repeated.
func (s *shrinker) round(unit []Step) []Step {
	if s.config.subject.Round == nil {
		return unit
	}
	return s.config.subject.Round(unit)
}

// relevantSteps picks the steps that share a name with what was awaited when the finding
// came up, or the connection if there was no name, and the waits.
func (s *shrinker) relevantSteps(trace []Step) []Step {
	words := s.words(trace)
	keep := make([]bool, len(trace))
	begin, hasBegun := 0, false // the connection, what has to do with the finding
	for i, step := range trace {
		if step.opens() && step.Conn() == s.target.conn {
			begin = i
		}
	}
	for i, step := range trace {
		switch do := step.Do.(type) {
		case *scenarios.Send:
			hasName := slices.ContainsFunc(s.names(step), func(w string) bool { return words[w] })
			keep[i] = do.Ending == scenarios.Open && (hasName || s.target.JID == "" && step.Conn() == s.target.conn && i > begin)
		case *scenarios.Silence:
			keep[i] = hasBegun
		case *scenarios.Operate:
			keep[i] = true
		}
		hasBegun = hasBegun || keep[i]
	}
	keep[len(trace)-1] = true
	return s.selectSteps(trace, keep)
}

// words are the names that the finding has to do with.
func (s *shrinker) words(trace []Step) map[string]bool {
	words := map[string]bool{}
	add := func(names []string) {
		for _, w := range names {
			words[w] = true
		}
	}
	add(s.names(trace[len(trace)-1]))
	add(s.target.names)
	for _, text := range s.target.owing {
		add(sharedNames(s.config.grammar(), Builder{s.config.subject.Dialect}.Parse(text)))
	}
	symbol := s.target.job
	if symbol == "" {
		return words
	}
	words["$"+symbol] = true
	for _, step := range trace {
		if names := s.names(step); slices.Contains(names, "$"+symbol) { // the job is made there
			add(names)
			break
		}
	}
	return words
}

// names lists the names in what a step sends, but for those of clients, where they introduce themselves.
func (s *shrinker) names(step Step) []string {
	if s.config.subject.Introduction.Verb != "" {
		return sharedNames(s.config.grammar(), step.segments())
	}
	var all []string
	for _, name := range namesIn(step.segments()) {
		if familyOf(s.config.grammar(), name.Base()) != "" {
			all = append(all, "$"+name.Base())
		}
	}
	return all
}

// suffix is the last n steps, with the connections that they need.
func (s *shrinker) suffix(trace []Step, n int) []Step {
	keep := make([]bool, len(trace))
	for i := max(0, len(trace)-n); i < len(trace); i++ {
		keep[i] = true
	}
	return s.selectSteps(trace, keep)
}

// selectSteps adds to the kept steps those that open and end their connections, and by which clients introduce
// themselves before. The openings come first where they can.
func (s *shrinker) selectSteps(trace []Step, keep []bool) (steps []Step) {
	for _, at := range s.places(trace, keep) {
		steps = append(steps, trace[at])
	}
	return steps
}

// places returns where the steps of selectSteps are in the trace.
func (s *shrinker) places(trace []Step, keep []bool) (all []int) {
	verb := s.config.subject.Introduction.Verb
	before := map[int][]int{} // by connection: the steps that opened it last, and introduced its client since then
	for i, step := range trace {
		conn := step.Conn()
		switch introduces := verb != "" && strings.HasPrefix(step.Text(), verb); {
		case step.opens():
			before[conn] = []int{i}
		case keep[i]:
			for _, at := range before[conn] {
				keep[at] = true
			}
		case introduces && before[conn] != nil:
			before[conn] = append(before[conn], i)
		}
	}
	ends := map[int]bool{}
	for i, step := range trace {
		if step.opens() {
			ends[step.Conn()] = keep[i]
		}
		if keep[i] || step.Ends() && ends[step.Conn()] {
			all = append(all, i)
		}
	}
	return all
}

// Repeat returns a trace that opens connections and then repeats what is sent on them.
// No connection is closed: the next round uses it again.
func Repeat(steps []Step, n int) Trace {
	var conns []int
	var begin, round []Step
	for _, step := range steps {
		switch step.Do.(type) {
		case *scenarios.Connect:
			if !slices.Contains(conns, step.Conn()) {
				conns, begin = append(conns, step.Conn()), append(begin, step)
			}
		case *scenarios.Operate:
		default:
			if !step.Ends() {
				round = append(round, step)
			}
		}
	}
	return Trace{Steps: slices.Concat(begin, round), From: len(begin), To: len(begin) + len(round), N: n}
}
