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
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// pendingFinding is a finding that is still to be shrunk.
type pendingFinding struct {
	Finding
	found         sighting
	deliverySteps map[int]bool // the steps at which its job was delivered
	isKnown       bool         // it is something known in another form
	isInResult    bool         // it was reproduced when it was found, and is in the result
	cut           *sighting    // what shows it in its small conversation, if there was no time to make that minimal
	part          Trace        // what it is about
	record        playRecord   // in it
	began         time.Time    // the last of its moments
}

// moment is how long a moment lasts at which a finding is seen.
const moment = 5 * time.Second

// addMoment counts that a finding was seen once more.
func (p *pendingFinding) addMoment(at time.Time) {
	if p.Times++; p.Moments == 0 || at.Sub(p.began) > moment {
		p.Moments, p.began = p.Moments+1, at
	}
}

// noTimeReason is why a finding has no script where the time was over.
const noTimeReason = "no time was left to shrink it"

// finding keeps what was found. What is known already is counted: the exploration goes on, whatever it finds.
func (x *exploration) finding(f sighting) {
	if f.outage != nil {
		x.result.Outages = append(x.result.Outages, *f.outage)
	}
	p := x.byKind[x.kind(f.Rule, f.Clause)]
	if p == nil {
		p = x.file(f)
	}
	p.addMoment(time.Now())
	if f.Place != "" {
		p.Places[f.Place]++
	}
}

// file keeps a finding of a new kind, to be shrunk later.
func (x *exploration) file(f sighting) *pendingFinding {
	x.number++
	p := &pendingFinding{found: f, deliverySteps: map[int]bool{}, Finding: Finding{
		Finding: conformance.FindingOf(f.Violation), Number: x.number, Rule: f.Rule, Places: map[string]int{},
		Commands: x.play.commands, Original: Trace{Steps: slices.Clone(x.trace)},
	}}
	p.Crash, p.Looks = f.crash, f.looks
	for _, reply := range x.play.replies {
		if reply.JID != "" && (reply.JID == f.JID || reply.JID == f.job) {
			p.deliverySteps[reply.step] = true
		}
	}
	p.Conversation = x.lastLines(f)
	p.part, p.record = x.part(p)
	if x.Found != nil {
		x.Found(p.Finding)
	}
	x.byKind[x.kind(f.Rule, f.Clause)] = p
	x.pending = append(x.pending, p)
	return p
}

// lastLines returns the last of what was said on the connection of a finding, and of its job elsewhere.
func (x *exploration) lastLines(f sighting) (lines []reports.Line) {
	answers, now := map[int][]reply{}, time.Now()
	for _, a := range x.play.replies {
		answers[a.step] = append(answers[a.step], a)
	}
	say := func(at time.Time, from string, conn int, words string) {
		lines = append(lines, reports.Line{At: at.Sub(x.began), From: from, Conn: connName(conn), Text: text.Shorten(words)})
	}
	for _, i := range x.relatedPlaces(f) {
		step, sentAt := x.trace[i], now
		if len(answers[i]) > 0 {
			sentAt = answers[i][0].sentAt
		}
		if do := step.Sends(); do != nil {
			say(sentAt, reports.FromClient, step.Conn(), text.Escape(x.play.fill(step.Text(), step.Conn())))
		} else {
			say(sentAt, reports.FromSuite, step.Conn(), step.String())
		}
		for _, a := range answers[i] {
			if a.Violation != f.Violation { // which comes last
				say(a.at, reports.FromServer, a.conn, a.Pattern)
			}
		}
	}
	say(now, reports.FromServer, f.conn, text.OneLine(cmp.Or(f.Got, f.Detail)))
	return lines
}

// relatedPlaces returns the places of the last commands that have to do with a finding: those on its connection since
// that was opened, and those that name its job.
func (x *exploration) relatedPlaces(f sighting) (places []int) {
	job := f.job
	connCount, jobCount := 6, 0 // how many more of either kind
	if job != "" {
		connCount, jobCount = 2, 4
	}
	for i := min(f.step, len(x.trace)-1); i >= 0 && connCount+jobCount > 0; i-- {
		step := x.trace[i]
		switch isOnConn := step.Conn() == f.conn; {
		case jobCount > 0 && slices.Contains(sharedNames(x.config.grammar(), step.segments()), "$"+job):
			jobCount--
		case isOnConn && connCount > 0:
			if connCount--; step.opens() {
				connCount = 0
			}
		default:
			continue
		}
		places = append(places, i)
	}
	slices.Reverse(places)
	return places
}

// countClear returns how many findings there are that no other bug may explain.
func (x *exploration) countClear() (n int) {
	for _, p := range x.pending {
		n += b2i(!p.found.Doubtful)
	}
	return n
}

// shrinkAll makes the findings small when the exploration is over: first crashes, and those that nothing else may
// explain.
func (x *exploration) shrinkAll(ctx context.Context) {
	wasDead := x.play.isDead
	if x.look(ctx, true); x.play.isDead && !wasDead {
		x.result.IsDead = !x.resume(ctx)
	}
	slices.SortStableFunc(x.pending, func(a, b *pendingFinding) int {
		return cmp.Or(b2i(b.Crash)-b2i(a.Crash), b2i(a.found.Doubtful)-b2i(b.found.Doubtful))
	})
	pool := NewPool(x.Shrinking)
	pool.end = pool.end.Add(-x.lookTime)
	limited, cancel := pool.Begin(ctx)
	defer cancel()
	for i, p := range x.pending {
		if len(x.result.Findings) < x.maxFindings() {
			x.shrink(limited, p, pool.Share(len(x.pending)-i, x.isReproduced(p.Rule)))
		}
	}
	for i, p := range x.pending {
		if p.cut != nil && limited.Err() == nil && (x.StartTarget != nil || !x.result.IsDead) {
			x.shrinkFurther(limited, p, pool.Share(len(x.pending)-i, false))
		}
	}
}

// shrinker returns one for when the exploration is over.
func (x *exploration) shrinker(limit time.Duration, target sighting) *shrinker {
	s := &shrinker{config: x.config, startTarget: x.StartTarget, limit: limit, progress: x.report, target: target}
	if x.StartTarget == nil {
		s.revive = x.Revive
	}
	return s
}

// isReproduced reports whether a finding of the kind of a rule was reproduced.
func (x *exploration) isReproduced(rule string) bool {
	return slices.ContainsFunc(x.result.Findings, func(f Finding) bool {
		return f.Hits > 0 && !f.Crash && x.Alphabet.family(f.Rule) == x.Alphabet.family(rule)
	})
}

// shrink makes one finding small, within a limit.
func (x *exploration) shrink(ctx context.Context, p *pendingFinding, limit time.Duration) {
	key := x.kind(p.Rule, p.Clause)
	if p.isInResult || x.reportedKinds[key] { // another one turned out to be this
		return
	}
	x.minimise(ctx, p, limit)
	x.keep(p, key)
}

// keep puts a finding into the result, unless it is there in another form; key is its kind before it was shrunk.
func (x *exploration) keep(p *pendingFinding, key string) {
	switch {
	case p.isKnown:
		x.reportedKinds[key] = true
		return
	case p.found.outage != nil && p.Hits == 0: // the commands are not the reason, as far as one can tell
		return
	case p.Crash && p.Hits == 0:
		p.dropClause()
	}
	if kind := x.kind(p.Rule, p.Clause); kind != key && p.Hits > 0 {
		if x.reportedKinds[kind] { // the same in another form
			return
		}
		x.reportedKinds[kind] = true
	}
	x.reportedKinds[key], p.isInResult = true, true
	if p.Script == "" {
		p.Unshrunk = x.unshrunkLines(p)
	}
	x.result.Findings = append(x.result.Findings, p.Finding)
}

// unshrunkLines returns a script of what a finding is about, which was not played; where the language cannot express
// that, the last steps of the conversation that have to do with it.
func (x *exploration) unshrunkLines(p *pendingFinding) (lines []string) {
	if p.Rule != "" && len(p.part.Steps) > 0 {
		if conversation := script(p.part, &p.Finding, p.record); conversation != "" {
			return strings.Split(strings.TrimRight(conversation, "\n"), "\n")
		}
	}
	const limit = 20
	conversation := p.Original.Steps[:min(p.found.step+1, len(p.Original.Steps))]
	if len(conversation) == 0 {
		return nil
	}
	s := &shrinker{config: x.config, target: p.found}
	for _, step := range s.suffix(s.relevantSteps(conversation), limit) {
		lines = append(lines, text.Shorten(step.String()))
	}
	return lines
}

// dropClause makes a crash that did not come again one without a clause: which of the commands was the cause is not
// known.
func (p *pendingFinding) dropClause() {
	const limit = 5 // commands that are listed
	all := slices.DeleteFunc(slices.Clone(p.found.owing), func(text string) bool { return text == "" })
	for i := len(p.Original.Steps) - 1; i >= 0 && len(all) < limit; i-- {
		if text := p.Original.Steps[i].Text(); p.Original.Steps[i].Sends() != nil && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if len(all) > 0 {
		p.LikelyCause = all[0]
	}
	for i, text := range all {
		all[i] = fmt.Sprintf("%.100q", text)
	}
	p.Clause, p.IsRecommendation = "", false
	behind, others := "a new connection", "" // the likeliest is the first: it has no reply, or is the last one
	if len(all) > 0 {
		behind = all[0]
	}
	if len(all) > 1 {
		others = "; the cause may also be another of the last commands or of those without a reply: " +
			strings.Join(all[1:], ", ")
	}
	p.Detail = cmp.Or(p.Looks.String(), "the server died") + ", last after " + behind + others +
		"; the command that caused it is unknown: with a way " +
		"to restart the server fwpcheck searches for it"
}

// minimise looks for a short conversation that shows a finding, or notes why there is none.
func (x *exploration) minimise(ctx context.Context, p *pendingFinding, limit time.Duration) {
	switch {
	case x.SkipsShrinking:
		p.UnscriptedReason = "it was not shrunk"
		return
	case ctx.Err() != nil:
		p.UnscriptedReason = cmp.Or(p.UnscriptedReason, noTimeReason)
		return
	case x.StartTarget == nil && x.result.IsDead:
		reason := "the server is gone and cannot be restarted; before that, " + p.UnscriptedReason
		p.UnscriptedReason = strings.TrimSuffix(reason, "; before that, ")
		return
	}
	s := x.shrinker(limit, p.found)
	s.deliverySteps, s.earlier = p.deliverySteps, x.reportedKinds
	p.UnscriptedReason = ""
	s.shrink(ctx, &p.Finding)
	p.IsDoubtful = p.found.Doubtful && p.Hits == 0
	x.result.LeftoverJobs, p.isKnown = append(x.result.LeftoverJobs, s.leftover...), s.isKnown
}

const maxRevivals = 20 // of a server that dies again and again

// resume goes on with a server that was gone. The states of its jobs are not known.
func (x *exploration) resume(ctx context.Context) bool {
	if x.play.outage == nil && !x.play.mayEnd {
		x.gen.noteDeath()
	}
	x.revived++
	needsRevival := x.revived <= maxRevivals && x.play.askRoles(ctx) != nil
	if x.revived > maxRevivals || needsRevival && !x.Revive(ctx) {
		return false
	}
	for _, n := range slices.Sorted(maps.Keys(x.play.conns)) {
		x.play.drop(x.play.conns[n], scenarios.Closed)
	}
	if needsRevival && x.play.pushes() { // the server sends nothing any more for the sake of what was sent before
		x.play.law.Operated(target.Restart, "")
	}
	x.play.law.StopJudging("")
	x.trace, x.play.replies = nil, nil // what ended the server need not be played again
	x.play.isDead, x.play.mayEnd, x.play.outage = false, false, nil
	return true
}

// Shorten looks for a short conversation that shows what was found otherwise than by
// exploring, and fills it in if there is one. rule is that of the law that it would break
// there; start is a conversation that may show it, nil if there is none. If it breaks another
// of these clauses, which are reported already, only the clause is filled in. It blocks, no
// longer than Shrinking or until ctx is done.
func (e *Explorer) Shorten(ctx context.Context, f *Finding, rule string, start []Step, clauses ...string) {
	f.UnscriptedReason = ""
	if ctx.Err() != nil {
		f.UnscriptedReason = noTimeReason
		return
	}
	s := &shrinker{config: e.config(), startTarget: e.StartTarget, limit: e.Shrinking, progress: e.Progress,
		target: sighting{
			Violation: &law.Violation{Clause: f.Clause, Rule: rule, JID: "-" + e.Alphabet.Jobs + "1"},
			step:      max(len(start)-1, 0),
			job:       e.Alphabet.Jobs + "1",
		}}
	s.reportedClauses = slices.DeleteFunc(slices.Clone(clauses), func(clause string) bool { return clause == f.Clause })
	f.Original.Steps = start
	s.shrink(ctx, f)
	f.Original = Trace{} // what many clients did is no conversation
}

// ShortenCrash is Shorten for a server that died while many clients were at work. What
// they did is no conversation: only the seeds in which several clients do the same again
// and again are tried. Each time the server is started again.
func (e *Explorer) ShortenCrash(ctx context.Context, f *Finding) {
	s := &shrinker{config: e.config(), startTarget: e.StartTarget, limit: e.Shrinking, progress: e.Progress}
	s.activity = Progress{Activity: Shrinking, Finding: f.Name()}
	s.target = sighting{Violation: &law.Violation{Rule: f.Rule}, crash: true}
	if e.StartTarget == nil {
		s.revive = e.Revive
		defer e.ensureServing(ctx)
	}
	limited, cancel := withLimit(ctx, s.limit)
	defer cancel()
	f.UnscriptedReason = "it did not die again in the tried conversations, in which two or three clients repeat the " +
		"same " +
		"commands"
	t, ok := s.first(limited, e.Alphabet.seeds(Concurrent), false)
	if !ok {
		return
	}
	f.Reduction, f.UnscriptedReason = t, ""
	s.confirm(ctx, f)
	untitled := *f // what the clients did is no title
	untitled.Detail = ""
	if f.Script = script(f.Reduction, &untitled, s.best); f.Script == "" {
		f.UnscriptedReason = "a script cannot express it"
	}
}

// Serves reports whether the target answers on new connections, and asks for as long as Timeout if it does not. When
// ctx is done before, it is said to serve; refusing says that it refused connections then.
func (e *Explorer) Serves(ctx context.Context) (serves, refusing bool) {
	p := newPlay(e.config(), newPrefix())
	return p.serves(ctx), p.isRefusing
}

// ensureServing restarts the server if the last try killed it.
func (e *Explorer) ensureServing(ctx context.Context) {
	if newPlay(e.config(), newPrefix()).askRoles(ctx) != nil {
		e.Revive(ctx)
	}
}

// Revive restarts a server that is gone, if Restarts allows it and the target can, and
// reports whether it serves then.
func (e *Explorer) Revive(ctx context.Context) bool { return e.Restarts && e.config().restart(ctx) }
