package explore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// pending is a finding that is still to be shrunk.
type pending struct {
	Finding
	found found
	comes map[int]bool // the steps at which its job was delivered
	same  bool         // it is something known in another form
	kept  bool         // it was reproduced when it was found, and is in the result
	cut   *found       // what shows it in its small conversation, if there was no time to make that minimal
	part  Trace        // what it is about
	said  record       // in it
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
const noTime = "no time was left to shrink it"

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
		Finding: conformance.Judged(f.Violation), Number: x.number, Rule: f.Rule, Places: map[string]int{},
		Commands: x.play.commands, Whole: Trace{Steps: slices.Clone(x.trace)},
	}}
	p.Crash = f.crash
	for _, came := range x.play.seen {
		if came.Job != "" && (came.Job == f.JID || came.Job == f.job) {
			p.comes[came.step] = true
		}
	}
	p.Talk = x.talk(f)
	p.part, p.said = x.part(p)
	if x.Found != nil {
		x.Found(p.Finding)
	}
	x.known[x.kind(f.Rule, f.Clause)] = p
	x.pending = append(x.pending, p)
	return p
}

// talk returns the last of what was said on the connection of a finding, and of its job elsewhere.
func (x *exploration) talk(f found) (lines []reports.Line) {
	answers, now := map[int][]seen{}, time.Now()
	for _, a := range x.play.seen {
		answers[a.step] = append(answers[a.step], a)
	}
	say := func(at time.Time, from string, conn int, words string) {
		lines = append(lines, reports.Line{At: at.Sub(x.began), From: from, Conn: connName(conn), Text: text.Shorten(words)})
	}
	for _, i := range x.leading(f) {
		step, asked := x.trace[i], now
		if len(answers[i]) > 0 {
			asked = answers[i][0].asked
		}
		if do := step.Sends(); do != nil {
			say(asked, reports.FromClient, step.Conn(), text.Escape(x.play.fill(step.Text(), step.Conn())))
		} else {
			say(asked, reports.FromSuite, step.Conn(), step.String())
		}
		for _, a := range answers[i] {
			if a.Violation != f.Violation { // which comes last
				say(a.at, reports.FromServer, a.conn, a.Pattern)
			}
		}
	}
	say(now, reports.FromServer, f.conn, text.OneLine(cmp.Or(f.Got, f.What)))
	return lines
}

// leading returns the places of the last commands that have to do with a finding: those on its connection since that
// was opened, and those that name its job.
func (x *exploration) leading(f found) (places []int) {
	job := f.job
	own, named := 6, 0 // how many more of either kind
	if job != "" {
		own, named = 2, 4
	}
	for i := min(f.step, len(x.trace)-1); i >= 0 && own+named > 0; i-- {
		step := x.trace[i]
		switch here := step.Conn() == f.conn; {
		case named > 0 && slices.Contains(sharedNames(x.config.grammar(), step.segments()), "$"+job):
			named--
		case here && own > 0:
			if own--; step.opens() {
				own = 0
			}
		default:
			continue
		}
		places = append(places, i)
	}
	slices.Reverse(places)
	return places
}

// clear returns how many findings there are that no other bug may explain.
func (x *exploration) clear() (n int) {
	for _, p := range x.pending {
		n += b2i(!p.found.Doubtful)
	}
	return n
}

// shrinkAll makes the findings small when the exploration is over: first crashes, and those that nothing else may
// explain.
func (x *exploration) shrinkAll(ctx context.Context) {
	dead := x.play.dead
	if x.look(ctx, true); x.play.dead && !dead {
		x.result.Dead = !x.resume(ctx)
	}
	slices.SortStableFunc(x.pending, func(a, b *pending) int {
		return cmp.Or(b2i(b.Crash)-b2i(a.Crash), b2i(a.found.Doubtful)-b2i(b.found.Doubtful))
	})
	pool := NewPool(x.Shrinking)
	pool.end = pool.end.Add(-x.looked)
	limited, cancel := pool.Begin(ctx)
	defer cancel()
	for i, p := range x.pending {
		if len(x.result.Findings) < x.enough() {
			x.shrink(limited, p, pool.Share(len(x.pending)-i, x.shown(p.Rule)))
		}
	}
	for i, p := range x.pending {
		if p.cut != nil && limited.Err() == nil && (x.Fresh != nil || !x.result.Dead) {
			x.further(limited, p, pool.Share(len(x.pending)-i, false))
		}
	}
}

// shrinker returns one for when the exploration is over.
func (x *exploration) shrinker(limit time.Duration, target found) *shrinker {
	s := &shrinker{config: x.config, fresh: x.Fresh, limit: limit, progress: x.report, target: target}
	if x.Fresh == nil {
		s.revive = x.Revive
	}
	return s
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
	if p.kept || x.reported[key] { // another one turned out to be this
		return
	}
	x.minimise(ctx, p, limit)
	x.keep(p, key)
}

// keep puts a finding into the result, unless it is there in another form; key is its kind before it was shrunk.
func (x *exploration) keep(p *pending, key string) {
	switch {
	case p.same:
		x.reported[key] = true
		return
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
	x.reported[key], p.kept = true, true
	if p.Script == "" {
		p.Unshrunk = x.unshrunk(p)
	}
	x.result.Findings = append(x.result.Findings, p.Finding)
}

// unshrunk returns a script of what a finding is about, which was not played; where the language cannot express that,
// the last steps of the conversation that have to do with it.
func (x *exploration) unshrunk(p *pending) (lines []string) {
	if p.Rule != "" && len(p.part.Steps) > 0 {
		if whole := script(p.part, &p.Finding, p.said); whole != "" {
			return strings.Split(strings.TrimRight(whole, "\n"), "\n")
		}
	}
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
	if len(all) > 0 {
		p.Behind = all[0]
	}
	for i, text := range all {
		all[i] = fmt.Sprintf("%.100q", text)
	}
	p.Clause, p.Should = "", false
	behind, others := "a new connection", "" // the likeliest is the first: it has no reply, or is the last one
	if len(all) > 0 {
		behind = all[0]
	}
	if len(all) > 1 {
		others = "; the cause may also be another of the last commands or of those without a reply: " +
			strings.Join(all[1:], ", ")
	}
	p.What = "the server died, last after " + behind + others + "; the command that caused it is unknown: with a way " +
		"to restart the server fwpcheck searches for it"
}

// minimise looks for a short conversation that shows a finding, or notes why there is none.
func (x *exploration) minimise(ctx context.Context, p *pending, limit time.Duration) {
	switch {
	case x.Unshrunk:
		p.Unscripted = "it was not shrunk"
		return
	case ctx.Err() != nil:
		p.Unscripted = cmp.Or(p.Unscripted, noTime)
		return
	case x.Fresh == nil && x.result.Dead:
		p.Unscripted = strings.TrimSuffix("the server is gone and cannot be restarted; before that, "+p.Unscripted,
			"; before that, ")
		return
	}
	s := x.shrinker(limit, p.found)
	s.comes, s.before = p.comes, x.reported
	p.Unscripted = ""
	s.shrink(ctx, &p.Finding)
	p.Doubtful = p.found.Doubtful && p.Shown == 0
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
		job: e.Subject.Jobs + "1",
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
	f.Unscripted = "it did not die again in the tried conversations, in which two or three clients repeat the same " +
		"commands"
	t, ok := s.first(limited, e.Subject.seeds(Concurrent), false)
	if !ok {
		return
	}
	f.Small, f.Unscripted = t, ""
	s.confirm(ctx, f)
	plain := *f // what the clients did is no title
	plain.What = ""
	if f.Script = script(f.Small, &plain, s.best); f.Script == "" {
		f.Unscripted = "a script cannot express it"
	}
}

// Serves reports whether the target answers on new connections, and asks for as long as Timeout if it does not. When
// ctx is done before, it is said to serve; refusing says that it refused connections then.
func (e *Explorer) Serves(ctx context.Context) (serves, refusing bool) {
	p := newPlay(e.config(), freshPrefix())
	return p.serves(ctx), p.refusing
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
