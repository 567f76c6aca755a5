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
func (s *shrinker) begin(ctx context.Context, whole []Step) (Trace, bool) {
	if s.look {
		t, ok := s.first(ctx, slices.DeleteFunc(s.short(whole), func(t Trace) bool { return !s.affords(t) }), false)
		s.same = s.same && !ok // that it shows is known
		return t, ok
	}
	seeds := slices.DeleteFunc(s.config.subject.seeds(s.target.Rule), func(t Trace) bool { return !s.affords(t) })
	if t, ok := s.first(ctx, seeds, false); ok {
		return t, true
	}
	s.same = false // a usual conversation that shows something known is no explanation
	if len(whole) == 0 {
		return Trace{}, false
	}
	some := slices.DeleteFunc(s.candidates(whole), func(t Trace) bool { return !s.repeatable(t) || !s.affords(t) })
	if s.sideBySide() { // what waits for a job that does not come must not use up the time for all
		limited, cancel := within(ctx, s.limit/2)
		defer cancel()
		ctx = limited
	}
	t, ok := s.first(ctx, some, true)
	s.late = ctx.Err() != nil
	return t, ok
}

// candidates are parts of a conversation that may show the finding, the shorter first.
func (s *shrinker) candidates(whole []Step) []Trace {
	near, unit := s.relevant(whole), s.unit(whole)
	all := []Trace{{Steps: unit}, {Steps: near}, {Steps: s.suffix(whole, 30)}}
	if s.silentDeath() {
		all = slices.Insert(all, 1, append(s.alone(whole), Trace{Steps: s.suffix(whole, 6)})...)
	}
	if s.twin != nil { // what counts shows with the first conversations, or on one server alone
		return append(all, Trace{Steps: s.suffix(whole, 120)}, Trace{Steps: whole})
	}
	for _, n := range []int{60, 600, 6000} { // bugs that count do so by 50, 500 or 5,000
		for _, steps := range [][]Step{s.round(unit), unit, near} {
			all = append(all, Repeated(steps, n))
		}
		all = append(all, Trace{Steps: s.suffix(whole, 4*n)})
	}
	return append(all, Trace{Steps: whole})
}

// short are parts of a conversation that may show a finding by themselves, the shortest first: what names its job, the
// command that was answered wrongly on a new connection, usual ones, its connection, and the last steps.
func (s *shrinker) short(whole []Step) (all []Trace) {
	const most = 80 // steps
	about := s.about(whole)
	alone := s.one(whole[:about+1], about, false)
	behind(&alone[len(alone)-1]) // else no step awaits the answer
	add := func(steps []Step) {
		known := func(t Trace) bool { return slices.Equal(t.Steps, steps) }
		if len(steps) <= most && !slices.ContainsFunc(all, known) {
			all = append(all, Trace{Steps: steps})
		}
	}
	if s.target.job != "" { // without what was done to that before, the command shows nothing
		add(s.unit(whole))
	}
	add(alone)
	add(s.one(whole, about, false))
	add(s.one(whole, about, true))
	if s.silentDeath() {
		all = append(all, s.alone(whole)...)
	}
	for _, t := range s.config.subject.seeds(s.target.Rule) {
		if t.N <= 1 {
			all = append(all, t)
		}
	}
	add(s.suffix(whole, 3)) //nolint:mnd // a few
	add(s.connection(whole, most/4))
	near := s.relevant(whole)
	add(slices.DeleteFunc(slices.Clone(near), func(step Step) bool { return step.waits() > 0 && step.waits() < shortest }))
	add(near)
	add(s.suffix(whole, most/4))
	return all
}

// shortest is a wait that matters by itself: shorter ones only let the clock go on.
const shortest = 50 * time.Millisecond

// about returns the place of the step that was answered wrongly.
func (s *shrinker) about(whole []Step) int {
	if at := s.target.about; at >= 0 && at < len(whole) {
		return at
	}
	return len(whole) - 1
}

// connection is what was done last on the connection of a finding since it was opened.
func (s *shrinker) connection(whole []Step, most int) []Step {
	keep := make([]bool, len(whole))
	for i := len(whole) - 1; i >= 0 && most > 0; i-- {
		if whole[i].Conn() != s.target.conn {
			continue
		}
		keep[i] = true
		if most--; whole[i].opens() {
			break
		}
	}
	keep[len(whole)-1] = true
	return s.closed(whole, keep)
}

// one returns a step by itself on a new connection, or behind what its connection sent first; and the last of all, at
// which something came up.
func (s *shrinker) one(whole []Step, at int, behind bool) []Step {
	return s.closed(whole, lonely(whole, at, behind))
}

// lonely marks the steps of one.
func lonely(whole []Step, at int, behind bool) []bool {
	keep := make([]bool, len(whole))
	keep[at], keep[len(whole)-1] = true, true
	first := at
	for n := at - 1; behind && n >= 0 && (whole[n].Conn() != whole[at].Conn() || !whole[n].opens()); n-- {
		if whole[n].Conn() == whole[at].Conn() && whole[n].Sends() != nil {
			first = n
		}
	}
	keep[first] = true
	return keep
}

// alone returns the last steps that send something, each by itself behind what its connection sent first.
func (s *shrinker) alone(whole []Step) (all []Trace) {
	const most = 4
	for i := len(whole) - 1; i > 0 && len(all) < most; i-- {
		if whole[i].Sends() != nil {
			all = append(all, Trace{Steps: s.one(whole[:i+1], i, true)})
		}
	}
	return all
}

// silentDeath reports whether no missing reply tells of which command the server died: it is one of the last.
func (s *shrinker) silentDeath() bool { return s.target.crash && s.config.grammar().Replies.Pushes }

// repeatable reports whether a conversation is short enough for what it is repeated, if it
// is. What ends a server is not repeated.
func (s *shrinker) repeatable(t Trace) bool {
	unit := t.To - t.From
	return t.N <= 1 || unit > 0 && unit <= unitAtMost && !s.target.crash
}

// affords reports whether a conversation does not wait for longer than there is time, and does not disrupt a server on
// which the exploration goes on: what comes of that would be held against it.
func (s *shrinker) affords(t Trace) bool {
	var once, again time.Duration
	for i, step := range t.Steps {
		if is, _ := step.disrupts(); is && s.look && s.bench == nil {
			return false
		}
		if once += step.waits(); i >= t.From && i < t.To {
			again += step.waits()
		}
	}
	return s.limit == 0 || once+again*time.Duration(max(t.N-1, 0)) <= s.limit/3
}

// first returns the first conversation that shows the finding. sparing: it stops when enough was tried, but for those
// that were played beside the others.
func (s *shrinker) first(ctx context.Context, all []Trace, sparing bool) (Trace, bool) {
	at := 0
	for shown := range s.tries(ctx, all) {
		switch {
		case shown:
			s.best = s.latest
			return all[at], true
		case sparing && s.spent(ctx) && !s.sideBySide():
			return Trace{}, false
		}
		at++
	}
	return Trace{}, false
}

// unit picks the steps that name the job of the finding, and those at which it came;
// without a job, the last step.
func (s *shrinker) unit(whole []Step) []Step { return s.closed(whole, s.ofJob(whole)) }

// ofJob marks the steps of unit.
func (s *shrinker) ofJob(whole []Step) []bool {
	keep := make([]bool, len(whole))
	symbol := s.target.job
	begun := false
	for i, step := range whole {
		switch {
		case step.Sends() != nil:
			keep[i] = s.comes[i] || symbol != "" && slices.Contains(s.names(step), "$"+symbol)
		case begun:
			is, _ := step.disrupts()
			keep[i] = is || step.waits() > 0
		}
		begun = begun || keep[i]
	}
	keep[len(whole)-1] = true
	return keep
}

// seeds are short conversations in which a bug often shows as one of a rule. They are
// tried before those that come from the exploration: a bug that shows with every job is
// better shown with the plainest one.
func (s *Subject) seeds(rule string) []Trace {
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

// relevant picks the steps that share a name with what was awaited when the finding
// came up, or the connection if there was no name, and the waits.
func (s *shrinker) relevant(whole []Step) []Step {
	words := s.words(whole)
	keep := make([]bool, len(whole))
	begin, begun := 0, false // the connection, what has to do with the finding
	for i, step := range whole {
		if step.opens() && step.Conn() == s.target.conn {
			begin = i
		}
	}
	for i, step := range whole {
		switch do := step.Do.(type) {
		case *scenarios.Send:
			named := slices.ContainsFunc(s.names(step), func(w string) bool { return words[w] })
			keep[i] = do.Ending == scenarios.Open && (named || s.target.JID == "" && step.Conn() == s.target.conn && i > begin)
		case *scenarios.Silence:
			keep[i] = begun
		case *scenarios.Operate:
			keep[i] = true
		}
		begun = begun || keep[i]
	}
	keep[len(whole)-1] = true
	return s.closed(whole, keep)
}

// words are the names that the finding has to do with.
func (s *shrinker) words(whole []Step) map[string]bool {
	words := map[string]bool{}
	add := func(names []string) {
		for _, w := range names {
			words[w] = true
		}
	}
	add(s.names(whole[len(whole)-1]))
	add(s.target.named)
	for _, text := range s.target.owing {
		add(sharedNames(s.config.grammar(), Builder{s.config.subject.Dialect}.Parse(text)))
	}
	symbol := s.target.job
	if symbol == "" {
		return words
	}
	words["$"+symbol] = true
	for _, step := range whole {
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
func (s *shrinker) suffix(whole []Step, n int) []Step {
	keep := make([]bool, len(whole))
	for i := max(0, len(whole)-n); i < len(whole); i++ {
		keep[i] = true
	}
	return s.closed(whole, keep)
}

// closed adds to the kept steps those that open and end their connections, and by which clients introduce themselves
// before. The openings come first where they can.
func (s *shrinker) closed(whole []Step, keep []bool) (steps []Step) {
	for _, at := range s.places(whole, keep) {
		steps = append(steps, whole[at])
	}
	return steps
}

// places returns where the steps of closed are.
func (s *shrinker) places(whole []Step, keep []bool) (all []int) {
	verb := s.config.subject.Introduction.Verb
	before := map[int][]int{} // by connection: the steps that opened it last, and introduced its client since then
	for i, step := range whole {
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
	for i, step := range whole {
		if step.opens() {
			ends[step.Conn()] = keep[i]
		}
		if keep[i] || step.Ends() && ends[step.Conn()] {
			all = append(all, i)
		}
	}
	return all
}

// Repeated returns a trace that opens connections and then repeats what is sent on them.
// No connection is closed: the next round uses it again.
func Repeated(steps []Step, n int) Trace {
	var opened []int
	var begin, round []Step
	for _, step := range steps {
		switch step.Do.(type) {
		case *scenarios.Connect:
			if !slices.Contains(opened, step.Conn()) {
				opened, begin = append(opened, step.Conn()), append(begin, step)
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
