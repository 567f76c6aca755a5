package explore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// pending is a finding that is still to be shrunk.
type pending struct {
	Finding
	found found
	comes map[int]bool // the steps at which its job was delivered
	same  bool         // it is something known in another form
	began time.Time    // the last of its moments
}

// moment is how long a moment lasts at which a finding is seen.
const moment = 5 * time.Second

// seen counts that a finding was seen once more.
func (p *pending) seen(at time.Time) {
	if p.Times++; p.Moments == 0 || at.Sub(p.began) > moment {
		p.Moments, p.began = p.Moments+1, at
	}
}

// noTime is why a finding has no script where the time was over.
const noTime = "there was no time to shrink it"

// finding keeps what was found. What is known already is counted: the exploration goes on, whatever it finds.
func (x *exploration) finding(f found) {
	if f.outage != nil {
		x.result.Outages = append(x.result.Outages, *f.outage)
	}
	p := x.known[x.kind(f.Rule, f.Clause)]
	if p == nil {
		p = x.file(f)
	}
	p.seen(time.Now())
	if f.Place != "" {
		p.Places[f.Place]++
	}
}

// file keeps a finding of a new kind, to be shrunk later.
func (x *exploration) file(f found) *pending {
	x.number++
	p := &pending{found: f, comes: map[int]bool{}, Finding: Finding{
		Number: x.number, Clause: f.Clause, Rule: f.Rule, Crash: f.crash, Should: f.Should,
		Expected: f.Expected, Got: text.Shorten(f.Got), What: text.Shorten(f.What), Own: f.Own, Places: map[string]int{},
		Commands: x.play.commands, Whole: Trace{Steps: slices.Clone(x.trace)},
	}}
	for _, came := range x.play.seen {
		if came.Job != "" && came.Job == f.JID {
			p.comes[came.step] = true
		}
	}
	if x.Found != nil {
		x.Found(p.Finding)
	}
	x.known[x.kind(f.Rule, f.Clause)] = p
	x.pending = append(x.pending, p)
	return p
}

// clear returns how many findings there are that no other fault may explain.
func (x *exploration) clear() (n int) {
	for _, p := range x.pending {
		n += b2i(!p.found.Doubtful)
	}
	return n
}

// shrinkAll makes the findings small when the exploration is over: first those that nothing else may explain.
func (x *exploration) shrinkAll(ctx context.Context) {
	slices.SortStableFunc(x.pending, func(a, b *pending) int { return b2i(a.found.Doubtful) - b2i(b.found.Doubtful) })
	pool := NewPool(x.Shrinking)
	limited, cancel := pool.Begin(ctx)
	defer cancel()
	for i, p := range x.pending {
		if len(x.result.Findings) < x.enough() {
			x.shrink(limited, p, pool.Share(len(x.pending)-i, x.shown(p.Rule)))
		}
	}
}

// shown reports whether a finding of the kind of a rule was reproduced.
func (x *exploration) shown(rule string) bool {
	return slices.ContainsFunc(x.result.Findings, func(f Finding) bool {
		return f.Shown > 0 && !f.Crash && x.Subject.family(f.Rule) == x.Subject.family(rule)
	})
}

// shrink makes one finding small, within a limit.
func (x *exploration) shrink(ctx context.Context, p *pending, limit time.Duration) {
	key := x.kind(p.Rule, p.Clause)
	if x.reported[key] { // another one turned out to be this
		return
	}
	if x.minimise(ctx, p, limit); p.same {
		x.reported[key] = true
		return
	}
	switch {
	case p.found.outage != nil && p.Shown == 0: // the commands are not the reason, as far as one can tell
		return
	case p.Crash && p.Shown == 0:
		p.unconfirm()
	}
	if small := x.kind(p.Rule, p.Clause); small != key && p.Shown > 0 {
		if x.reported[small] { // the same in another form
			return
		}
		x.reported[small] = true
	}
	x.reported[key] = true
	if p.Script == "" {
		p.Unshrunk = x.unshrunk(p)
	}
	x.result.Findings = append(x.result.Findings, p.Finding)
}

// unshrunk returns the last steps of a conversation that have to do with a finding.
func (x *exploration) unshrunk(p *pending) (lines []string) {
	const most = 20
	whole := p.Whole.Steps[:min(p.found.step+1, len(p.Whole.Steps))]
	if len(whole) == 0 {
		return nil
	}
	s := &shrinker{config: x.config, target: p.found}
	for _, step := range s.suffix(s.relevant(whole), most) {
		lines = append(lines, text.Shorten(step.String()))
	}
	return lines
}

// unconfirm makes a crash that did not come again one without a clause: which of the commands was the cause is not
// known.
func (p *pending) unconfirm() {
	const most = 5 // commands that are listed
	all := slices.DeleteFunc(slices.Clone(p.found.owing), func(text string) bool { return text == "" })
	for i := len(p.Whole.Steps) - 1; i >= 0 && len(all) < most; i-- {
		if text := p.Whole.Steps[i].Text(); p.Whole.Steps[i].Sends() != nil && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	for i, text := range all {
		all[i] = fmt.Sprintf("%.100q", text)
	}
	p.Clause, p.Should = "", false
	p.What = "the server died, and which command was the cause is not known; those without a reply and the last ones: " +
		strings.Join(all, ", ") + "; with a way to restart the server the cause is looked for"
}

// minimise looks for a short conversation that shows a finding, or notes why there is none.
func (x *exploration) minimise(ctx context.Context, p *pending, limit time.Duration) {
	switch {
	case x.Unshrunk:
		p.Unscripted = "it was not shrunk"
		return
	case ctx.Err() != nil:
		p.Unscripted = noTime
		return
	case x.Fresh == nil && x.result.Dead:
		p.Unscripted = "the server is gone and cannot be started again"
		return
	}
	s := &shrinker{config: x.config, fresh: x.Fresh, limit: limit, progress: x.report}
	s.target, s.comes, s.before = p.found, p.comes, x.reported
	if x.Fresh == nil {
		s.revive = x.Revive
	}
	s.shrink(ctx, &p.Finding)
	if p.Doubtful = p.found.Doubtful && p.Shown == 0; p.Shown > 0 {
		p.Own = ""
	}
	x.result.Left, p.same = append(x.result.Left, s.left...), s.same
}

const revivals = 20 // of a server that dies again and again

// resume goes on with a server that was gone. The states of its jobs are not known.
func (x *exploration) resume(ctx context.Context) bool {
	if x.play.outage == nil && !x.play.ends {
		x.gen.ended()
	}
	x.revived++
	again := x.revived <= revivals && x.play.asks(ctx) != nil
	if x.revived > revivals || again && !x.Revive(ctx) {
		return false
	}
	for _, n := range slices.Sorted(maps.Keys(x.play.conns)) {
		x.play.drop(x.play.conns[n], scenarios.Closed)
	}
	if again && x.play.pushes() { // the server sends nothing any more for the sake of what was sent before
		x.play.law.Operated(scenarios.NeedRestart, "", "")
	}
	x.play.law.Unjudge("")
	x.trace, x.play.seen = nil, nil // what ended the server need not be played again
	x.play.dead, x.play.ends, x.play.outage = false, false, nil
	return true
}

// Shorten looks for a short conversation that shows what was found otherwise than by
// exploring, and fills it in if there is one. rule is that of the law that it would break
// there; start is a conversation that may show it, nil if there is none. If it breaks another
// of these clauses, which are reported already, only the clause is filled in. It blocks, no
// longer than Shrinking or until ctx is done.
func (e *Explorer) Shorten(ctx context.Context, f *Finding, rule string, start []Step, reported ...string) {
	f.Unscripted = ""
	if ctx.Err() != nil {
		f.Unscripted = noTime
		return
	}
	s := &shrinker{config: e.config(), fresh: e.Fresh, limit: e.Shrinking, progress: e.Progress, target: found{
		Violation: &law.Violation{Clause: f.Clause, Rule: rule, JID: "-" + e.Subject.Jobs + "1"}, step: max(len(start)-1, 0),
	}}
	s.reported = slices.DeleteFunc(slices.Clone(reported), func(clause string) bool { return clause == f.Clause })
	f.Whole.Steps = start
	s.shrink(ctx, f)
	f.Whole = Trace{} // what many clients did is no conversation
}

// ShortenCrash is Shorten for a server that died while many clients were at work. What
// they did is no conversation: only the seeds in which several clients do the same again
// and again are tried. Each time the server is started again.
func (e *Explorer) ShortenCrash(ctx context.Context, f *Finding) {
	s := &shrinker{config: e.config(), fresh: e.Fresh, limit: e.Shrinking, progress: e.Progress}
	s.doing = Progress{Activity: Shrinking, Finding: f.Name()}
	s.target = found{Violation: &law.Violation{Rule: f.Rule}, crash: true}
	if e.Fresh == nil {
		s.revive = e.Revive
		defer e.ensureServing(ctx)
	}
	limited, cancel := within(ctx, s.limit)
	defer cancel()
	f.Unscripted = "it did not die again of the conversations that were tried, " +
		"in which two or three clients do the same again and again"
	t, ok := s.first(limited, e.Subject.seeds(Concurrent), false)
	if !ok {
		return
	}
	f.Small, f.Unscripted = t, ""
	s.confirm(ctx, f)
	plain := *f // what the clients did is no title
	plain.What = ""
	if f.Script = script(f.Small, &plain, s.best); f.Script == "" {
		f.Unscripted = "no line of a script can say it"
	}
}

// Serves reports whether the target answers on new connections, and asks for as long as
// Timeout if it does not.
func (e *Explorer) Serves(ctx context.Context) bool {
	return newPlay(e.config(), freshPrefix()).serves(ctx)
}

// ensureServing restarts the server if the last try killed it.
func (e *Explorer) ensureServing(ctx context.Context) {
	if newPlay(e.config(), freshPrefix()).asks(ctx) != nil {
		e.Revive(ctx)
	}
}

// Revive restarts a server that is gone, if Restarts allows it and the target can, and
// reports whether it serves then.
func (e *Explorer) Revive(ctx context.Context) bool { return e.Restarts && e.config().restarts(ctx) }

// restarts has the server restarted, and reports whether that was done and whether it serves then.
func (c *config) restarts(ctx context.Context) bool {
	t, can := c.target.(play.Restarter)
	return can && t.Restart(context.WithoutCancel(ctx)) == nil && newPlay(c, freshPrefix()).serves(ctx)
}
