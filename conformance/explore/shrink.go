package explore

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/scenarios"
)

// shrinker makes conversations small. Every try is a play on fresh names, on a server
// of its own if there is a way to have one.
type shrinker struct {
	config *config
	fresh  func() (scenarios.Target, func(), error)
	target found // what has to show again
	plays  int
	sent   int          // commands, in all plays
	last   found        // as it showed last
	comes  map[int]bool // the steps at which the job of the finding was delivered
}

const (
	playsAtMost = 600     // that are spent on one finding
	sentAtMost  = 200_000 // commands that are spent on one finding
	confirmed   = 5       // times that the result is played
	unitAtMost  = 20      // steps that are tried as the body of a repetition
)

// shrink fills in the small conversation of a finding, if it shows again at all.
func (s *shrinker) shrink(ctx context.Context, f *Finding) {
	small, ok := s.begin(ctx, f.Whole.Steps[:min(s.target.step+1, len(f.Whole.Steps))])
	if !ok {
		return
	}
	small = s.reduce(ctx, small)
	small = s.simplify(ctx, small)
	f.Small = small
	f.Tried = confirmed
	var shown found
	for range confirmed {
		if hit, is := s.shows(ctx, small); is {
			f.Shown++
			shown = hit
		}
	}
	if f.Shown > 0 {
		f.Clause, f.Expected, f.Got, f.What = shown.Clause, shown.Expected, shown.Got, shown.What
		f.Script = script(small, f, s.record(ctx, small))
	}
}

// begin looks for a short conversation to start from: what has to do with the finding
// alone, that again and again, the last steps, and all of it.
func (s *shrinker) begin(ctx context.Context, whole []Step) (Trace, bool) {
	for _, t := range usual(family(s.target.Rule)) {
		if _, ok := s.shows(ctx, t); ok {
			return t, true
		}
	}
	if len(whole) == 0 {
		return Trace{}, false
	}
	near, unit := s.relevant(whole), s.unit(whole)
	tries := []Trace{{Steps: unit}, {Steps: near}, {Steps: suffix(whole, 30)}}
	for _, n := range []int{60, 600, 6000} {
		for _, steps := range [][]Step{again(unit), unit, near} {
			from := body(steps)
			tries = append(tries, Trace{Steps: steps, From: from, To: len(steps), N: n})
		}
		tries = append(tries, Trace{Steps: suffix(whole, 4*n)})
	}
	for _, t := range append(tries, Trace{Steps: whole}) {
		if t.N > 1 && (t.To-t.From > unitAtMost || t.To == t.From || s.target.crash) || s.spent(ctx) {
			continue
		}
		if _, ok := s.shows(ctx, t); ok {
			return t, true
		}
	}
	return Trace{}, false
}

// unit picks the steps that name the job of the finding, and those at which it came;
// without a job, the last step.
func (s *shrinker) unit(whole []Step) []Step {
	keep := make([]bool, len(whole))
	_, symbol, _ := strings.Cut(s.target.JID, "-")
	begun := false
	for i, step := range whole {
		keep[i] = step.Kind == Send && (symbol != "" && slices.Contains(namesIn(step.text()), "$"+symbol) || s.comes[i]) || begun && step.Kind == Wait || begun && step.Action == restart
		begun = begun || keep[i]
	}
	keep[len(whole)-1] = true
	return closed(whole, keep)
}

// again leaves out the last of several FETCHes: where all that is done again and again,
// the next round does what it did.
func again(unit []Step) []Step {
	fetches := 0
	for _, step := range unit {
		if strings.HasPrefix(step.text(), "FETCH") {
			fetches++
		}
	}
	if last := len(unit) - 1; last >= 0 && fetches > 1 && strings.HasPrefix(unit[last].text(), "FETCH") {
		return slices.DeleteFunc(slices.Clone(unit[:last]), func(step Step) bool { return strings.HasPrefix(step.text(), "ACK") })
	}
	return unit
}

// body is where the opening of connections ends.
func body(steps []Step) int {
	i := 0
	for i < len(steps) && steps[i].Kind == Open {
		i++
	}
	return i
}

// relevant picks the steps that share a name with what was awaited when the finding
// came up, or the connection if there was no name, and the waits.
func (s *shrinker) relevant(whole []Step) []Step {
	words := s.words(whole)
	keep := make([]bool, len(whole))
	begin := 0 // of the connection
	for i, step := range whole {
		if step.Kind == Open && step.Conn == s.target.conn {
			begin = i
		}
	}
	for i, step := range whole {
		named := slices.ContainsFunc(namesIn(step.text()), func(w string) bool { return words[w] })
		keep[i] = step.Kind == Send && (named || s.target.JID == "" && step.Conn == s.target.conn && i > begin) || step.Kind == Wait || step.Kind == Operate
	}
	keep[len(whole)-1] = true
	return closed(whole, keep)
}

// words are the names that the finding has to do with.
func (s *shrinker) words(whole []Step) map[string]bool {
	words := map[string]bool{}
	add := func(text string) {
		for _, w := range namesIn(text) {
			words[w] = true
		}
	}
	for _, text := range append(s.target.owing, whole[len(whole)-1].text()) {
		add(text)
	}
	_, symbol, _ := strings.Cut(s.target.JID, "-")
	if symbol == "" {
		return words
	}
	words["$"+symbol] = true
	for _, step := range whole {
		if strings.HasPrefix(step.text(), "PUSH") && slices.Contains(namesIn(step.text()), "$"+symbol) {
			add(step.text())
		}
	}
	return words
}

// namesIn lists the names of the play in a text, worker ids apart.
func namesIn(text string) []string {
	var all []string
	for {
		i := strings.IndexByte(text, '$')
		if i < 0 {
			return all
		}
		text = text[i:]
		end := 1
		for end < len(text) && (text[end] >= 'a' && text[end] <= 'z' || text[end] >= '0' && text[end] <= '9') {
			end++
		}
		if strings.HasPrefix(text, "$jid") || strings.HasPrefix(text, "$queue") {
			all = append(all, text[:end])
		}
		text = text[max(end, 1):]
	}
}

// suffix is the last n steps, with the connections that they need.
func suffix(whole []Step, n int) []Step {
	keep := make([]bool, len(whole))
	for i := max(0, len(whole)-n); i < len(whole); i++ {
		keep[i] = true
	}
	return closed(whole, keep)
}

// closed adds to the kept steps those that open and end their connections. The
// openings come first where they can.
func closed(whole []Step, keep []bool) []Step {
	open := map[int]int{} // the step that opened a connection last
	for i, step := range whole {
		if step.Kind == Open {
			open[step.Conn] = i
			continue
		}
		if at, ok := open[step.Conn]; keep[i] && ok && step.Kind != Wait && step.Kind != Operate {
			keep[at] = true
		}
	}
	ends := map[int]bool{}
	var steps []Step
	for i, step := range whole {
		if step.Kind == Open {
			ends[step.Conn] = keep[i]
		}
		if keep[i] || step.Kind == End && ends[step.Conn] {
			steps = append(steps, step)
		}
	}
	return steps
}

// shows plays a conversation and says whether the finding came up.
func (s *shrinker) shows(ctx context.Context, t Trace) (found, bool) {
	s.plays++
	p, end := s.play(ctx, t, func(p *play) bool { return s.hit(p) >= 0 })
	defer end()
	s.sent += p.commands
	if i := s.hit(p); i >= 0 {
		s.last = p.found[i]
		return p.found[i], true
	}
	return found{}, false
}

// family joins rules that are about the same: a job that does not come shows in
// several ways.
func family(rule string) string {
	switch rule {
	case "late", "order", "asleep", "stalled":
		return "missing"
	}
	return rule
}

func (s *shrinker) hit(p *play) int {
	return slices.IndexFunc(p.found, func(f found) bool { return family(f.Rule) == family(s.target.Rule) && f.crash == s.target.crash })
}

// play plays a conversation until enough is true.
func (s *shrinker) play(ctx context.Context, t Trace, enough func(*play) bool) (*play, func()) {
	c, end := *s.config, func() {}
	if s.fresh != nil {
		target, stop, err := s.fresh()
		if err == nil {
			c.target, end = target, stop
		}
	}
	p := newPlay(&c, freshPrefix())
	for i := 0; i < len(t.Steps); i++ {
		if t.N > 1 && i == t.From {
			for p.round = 1; p.round <= t.N && !enough(p); p.round++ {
				p.all(ctx, t.Steps[t.From:t.To], t.From, enough)
			}
			p.round = 0
			i = t.To - 1
			continue
		}
		p.all(ctx, t.Steps[i:i+1], i, enough)
	}
	p.poll(ctx)
	if s.fresh == nil && !p.dead {
		p.tidy(ctx)
	}
	p.close()
	return p, end
}

// all plays steps, the first of which is number from.
func (p *play) all(ctx context.Context, steps []Step, from int, enough func(*play) bool) {
	for i := range steps {
		if enough(p) || p.dead || ctx.Err() != nil {
			return
		}
		p.step = from + i
		p.do(ctx, &steps[i])
	}
}

// reduce takes steps away as long as the finding shows: first the number of
// repetitions, then halves, quarters and so on down to single steps.
func (s *shrinker) reduce(ctx context.Context, t Trace) Trace {
	t = effective(t)
	for n := max(1, len(t.Steps)/2); ; {
		shorter := false
		for at := 0; at < len(t.Steps) && !s.spent(ctx); {
			if less := without(t, at, min(at+n, len(t.Steps))); len(less.Steps) > 0 && s.still(ctx, less) {
				t, shorter = less, true
				continue
			}
			at += n
		}
		if n == 1 && !shorter || s.spent(ctx) {
			return t
		}
		if t = effective(t); n > 1 {
			n = min(n/2, max(1, len(t.Steps)/2))
		}
	}
}

// effective leaves out what is done on connections that are not open, which has no
// effect.
func effective(t Trace) Trace {
	if t.N > 1 {
		return t
	}
	open := map[int]bool{}
	return Trace{Steps: slices.DeleteFunc(slices.Clone(t.Steps), func(step Step) bool {
		known := open[step.Conn]
		switch step.Kind {
		case Open:
			open[step.Conn] = true
			return false
		case End:
			open[step.Conn] = false
		}
		return step.Kind != Wait && step.Kind != Operate && !known
	})}
}

// spent tells whether enough was tried.
func (s *shrinker) spent(ctx context.Context) bool {
	return s.plays >= playsAtMost || s.sent >= sentAtMost || ctx.Err() != nil
}

// still tells whether a conversation shows the finding, twice where time plays a part.
func (s *shrinker) still(ctx context.Context, t Trace) bool {
	_, ok := s.shows(ctx, t)
	if ok && slices.ContainsFunc(t.Steps, func(step Step) bool { return step.Kind == Wait }) {
		_, ok = s.shows(ctx, t)
		if ok {
			_, ok = s.shows(ctx, t)
		}
	}
	return ok
}

// without leaves the steps [from,to) out.
func without(t Trace, from, to int) Trace {
	shift := func(at int) int { return at - max(0, min(at, to)-from)*b2i(at > from) }
	return Trace{Steps: slices.Concat(t.Steps[:from], t.Steps[to:]), From: shift(t.From), To: shift(t.To), N: t.N}
}

// tidy removes what a short play has left, as far as that takes no waiting.
func (p *play) tidy(ctx context.Context) {
	p.round = 0
	for _, j := range p.remaining(time.Now()) {
		if strings.Count(j.JID, "-") > 1 { // of a repetition: its jobs were reported there
			return
		}
	}
	p.sweep(ctx, func(steps ...Step) {
		for i := range steps {
			if !strings.HasPrefix(steps[i].text(), "FETCH") || p.anyReady() {
				p.do(ctx, &steps[i])
			}
		}
	})
}

func (p *play) anyReady() bool {
	return slices.ContainsFunc(p.remaining(time.Now()), func(j *model.Job) bool { return j.Where == model.Enqueued })
}
