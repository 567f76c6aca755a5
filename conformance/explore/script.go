package explore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/scenarios"
)

// playRecord is a conversation as it was played once: what each step was answered with,
// and what was found.
type playRecord struct {
	subject        *Alphabet
	answers        map[int][]reply
	hit            sighting
	prefix         string
	times          map[string]string
	greetingClause string // the clause by which a server speaks first
}

// recordOf returns the record of a play that showed the finding.
func recordOf(p *playthrough, hit sighting) playRecord {
	r := playRecord{
		subject: p.subject, answers: map[int][]reply{}, hit: hit, prefix: p.prefix, times: p.times,
		greetingClause: p.greetingClause(),
	}
	for i, a := range p.replies {
		a.order = i
		r.answers[a.step] = append(r.answers[a.step], a)
	}
	return r
}

// writer writes a conversation as a script. The builder's error is why the language cannot express it.
type writer struct {
	*scenarios.Builder

	t      Trace
	f      *Finding
	r      playRecord
	names  *shortNames // nil: names stay as they are
	single bool        // there is one connection, which needs no name
	awaits map[int]int // by connection: the step whose answer is still to be written
	opened map[int]bool
}

// hasManyLines reports whether a finding is about more answers than there were lines in
// made-up bytes.
func hasManyLines(t Trace, hit sighting) bool {
	return hit.Rule == RuleExtra && slices.ContainsFunc(t.Steps, func(s Step) bool {
		return s.isUnbounded() && s.Conn() == hit.conn && strings.Count(s.Text(), "\n") > 1
	})
}

func newWriter(s *Alphabet, t Trace) *writer {
	w := &writer{
		Builder: scenarios.NewBuilder(s.Dialect), r: playRecord{subject: s},
		t: t, awaits: map[int]int{}, opened: map[int]bool{}, single: len(connections(t.Steps)) == 1,
	}
	w.Rename = w.rename
	w.Comment("") // an empty line below the header
	return w
}

// script writes a conversation in the suite's language; empty if that cannot be done.
func script(t Trace, f *Finding, r playRecord) string {
	// No line can express that two values differ, or how many replies come.
	if r.subject.hasTrait(r.hit.Rule, law.Unwritten) || r.answers == nil || hasManyLines(t, r.hit) ||
		slices.ContainsFunc(t.Steps, isUnwritable) {
		return ""
	}
	names := newShortNames(r.subject.Dialect)
	var w *writer
	for range 2 { // first for the names that there are
		w = newWriter(r.subject, t)
		w.f, w.r, w.names = f, r, names
		w.writeFinding()
		names.isFinal = true
	}
	text := w.text()
	if slices.ContainsFunc(scenarios.Lint(w.Script), func(p *scenarios.Problem) bool { return !p.Advice }) {
		return "" // it cannot be played
	}
	return text
}

// writeFinding writes the script of a finding.
func (w *writer) writeFinding() {
	title := w.f.Detail
	if title == "" {
		title = fmt.Sprintf("expected %s, got %s", w.f.Expected, w.f.Got)
	}
	if w.f.Clause != "" {
		title = w.f.Clause + ": " + title
	}
	w.Script.Title = w.names.title(w.symbols(titleOf(title)))
	_, w.Script.Needs = w.ruling()
	if w.needsPassword() && !slices.Contains(w.Script.Needs, scenarios.NeedPassword) {
		w.Script.Needs = append(w.Script.Needs, scenarios.NeedPassword)
	}
	for i := range w.t.Steps {
		if w.t.N > 1 && i == w.t.From {
			w.Begin(&scenarios.Block{Kind: scenarios.Repeat, Count: w.t.N})
		}
		w.step(i, &w.t.Steps[i])
		if w.pushes() {
			w.writePushes(i)
		}
		if i == w.r.hit.step || w.t.N > 1 && i == w.t.To-1 {
			w.answers()
		}
		if w.t.N > 1 && i == w.t.To-1 {
			w.End()
		}
	}
	w.answers()
	w.writeProbeLine()
}

// text is the script; empty if the language cannot express it.
func (w *writer) text() string {
	text, err := w.Text()
	if err != nil {
		return ""
	}
	return string(text)
}

// ruling returns what the subject knows of the clause of the finding.
func (w *writer) ruling() (level string, needs []scenarios.Need) {
	if w.f.IsRecommendation {
		level = "SHOULD"
	}
	if w.r.subject.Ruling == nil {
		return level, nil
	}
	return w.r.subject.Ruling(w.f.Clause, level)
}

// needsPassword reports whether a value is sent that is computed from a password.
func (w *writer) needsPassword() bool {
	g := w.Script.Dialect.Grammar()
	return slices.ContainsFunc(w.t.Steps, func(s Step) bool { return needsPassword(g, s.segments()) })
}

// step writes one step.
func (w *writer) step(i int, s *Step) {
	switch do := s.Do.(type) {
	case *scenarios.Connect:
		w.open(i, s.Conn(), do)
	case *scenarios.Send:
		if do.Ending != scenarios.Open {
			w.ends(i, s.Conn(), do.Ending)
			return
		}
		conn := s.Conn()
		w.answer(conn)
		w.send(conn, do, s.Text())
		if w.reads(i, s) && !w.pushes() {
			w.awaits[conn] = i
		}
		if !s.Ahead {
			w.answer(conn)
		}
	case *scenarios.Expect:
		w.answer(s.Conn())
	case *scenarios.Silence:
		w.wait(i, do.For)
	case *scenarios.Operate:
		if _, stops := s.disrupts(); stops {
			w.stops()
		} else {
			w.answers()
		}
		next := *do
		if do.Action == target.KillServer {
			next.Action = target.Kill
		}
		next.Statement, next.Worker = scenarios.Statement{}, w.RenameIn(do.Worker)
		w.Add(&next)
	}
}

// ends writes the end of a connection, and what comes after the client's half of it is closed.
func (w *writer) ends(i, conn int, ending scenarios.Ending) {
	_, ok := w.awaits[conn]
	delete(w.awaits, conn)
	delete(w.opened, conn)
	w.Close(w.conn(conn), ending)
	if ok && i == w.r.hit.step && conn == w.r.hit.conn && ending == scenarios.HalfClosed {
		w.writeHit(i, conn)
	}
}

// open writes the opening of a connection; with its greeting if that is the finding.
func (w *writer) open(i, conn int, do *scenarios.Connect) {
	if w.opened[conn] { // the one before is over
		w.Close(w.conn(conn), scenarios.Closed)
	}
	w.opened[conn] = true
	if i == w.r.hit.step && w.r.hit.conn == conn && !w.pushes() {
		w.Connect(w.conn(conn), scenarios.Raw, "")
		w.greeting(conn, do)
		return
	}
	hello := ""
	if do.Hello != nil {
		hello = do.Hello.String()
		if client := "$" + w.Script.Dialect.Grammar().Names.Client; w.introduces() { // all connections say the same
			hello = w.r.subject.Introduction.Fields(do)
		} else if w.names.isSingleUse(client) && w.Renamed(hello) == `{"`+client[1:]+`":"`+client+`"}` {
			hello = "" // it has that one by itself
		}
	}
	w.Connect(w.conn(conn), do.Role, hello)
	if do.Role == scenarios.Raw {
		w.expectGreeting(conn)
	}
}

// expectGreeting expects what the server sends first, if it does.
func (w *writer) expectGreeting(conn int) {
	if hi := w.r.subject.Greeting; hi != "" {
		w.expect(conn, hi)
	}
}

// introduces reports whether a client's introduction is written out.
func (w *writer) introduces() bool {
	verb := w.r.subject.Introduction.Verb
	at := w.r.hit.step
	return verb != "" && (at >= 0 && w.t.Steps[at].opens() ||
		slices.ContainsFunc(w.t.Steps, func(s Step) bool { return strings.HasPrefix(s.Text(), verb) }))
}

// greeting writes the greeting of the server and the introduction of the client, of which
// one is the finding.
func (w *writer) greeting(conn int, do *scenarios.Connect) {
	first := w.r.subject.Greeting
	if w.r.hit.crash || w.r.subject.hasTrait(w.r.hit.Rule, law.AtGreeting) ||
		w.r.hit.Rule == RuleSilent && w.r.hit.Clause == w.r.greetingClause {
		w.clause()
		if !w.r.hit.crash {
			first = w.expectation(first)
		}
		w.expect(conn, first)
		return
	}
	w.expectGreeting(conn)
	w.Send(w.conn(conn), w.r.subject.Introduction.Line(do, w.needsPassword()))
	w.clause()
	w.expect(conn, w.expectation(w.r.subject.Accepted))
}

// clause ties what follows to the clause of the finding. What the catalogue only notes
// is judged here: the conversation is one that every reading would have go on.
func (w *writer) clause() {
	if w.f.Clause == "" {
		return
	}
	level, _ := w.ruling()
	w.Mark(scenarios.ClauseMark{Clause: w.f.Clause, Level: level})
}

// send writes a client line.
func (w *writer) send(conn int, do *scenarios.Send, text string) {
	isPlain := isPrintable(text)
	line := &scenarios.Send{Conn: w.conn(conn), Bytewise: do.Bytewise && isPlain, Raw: !isPlain || do.Raw && !do.Bytewise}
	for _, t := range do.Segments {
		line.Segments = append(line.Segments, w.RenameIn(t))
	}
	last := len(line.Segments) - 1
	switch {
	case line.Bytewise:
		line.Segments = []scenarios.Template{slices.Concat(line.Segments...)}
	case !do.Raw && !isPlain:
		line.Segments[last] = append(line.Segments[last], w.Template("\r\n")[0]...)
	}
	w.Add(line)
}

// isPrintable reports whether a line can stand in a script as it is.
func isPrintable(text string) bool {
	notALine := func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u2028' || r == 0xfffd }
	return text != "" && strings.TrimSpace(text) == text && !strings.ContainsFunc(text, notALine) &&
		!strings.Contains(text, scenarios.Cut)
}

// answers writes all answers that are still owed.
func (w *writer) answers() {
	for _, conn := range connections(w.t.Steps) {
		w.answer(conn)
	}
}

// answer writes the S: line of the step that a connection was sent last.
func (w *writer) answer(conn int) {
	i, ok := w.awaits[conn]
	if !ok {
		return
	}
	delete(w.awaits, conn)
	hit := w.r.hit
	if hit.conn == conn && i == hit.wrongStep {
		w.writeHit(i, conn)
		return
	}
	w.expect(conn, w.replyText(i, conn))
}

// replyText is what a step was answered with, as far as that matters. Of many rounds the
// first counts, since the last is the broken one; an answer may have come while a later
// step was played.
func (w *writer) replyText(step, conn int) string {
	a, ok := w.firstReply(step, conn)
	switch {
	case !ok:
		return "<any>"
	case a.OpenPattern != "" && !w.isFirstOfJob(step):
		return a.OpenPattern
	}
	return w.symbols(a.Pattern)
}

// firstReply is the first of all answers to a step.
func (w *writer) firstReply(step, conn int) (first reply, ok bool) {
	for i := step; i < len(w.t.Steps); i++ {
		if s := w.t.Steps[i]; i > step && s.Sends() != nil && s.Conn() == conn {
			break
		}
		for _, a := range w.r.answers[i] {
			if a.conn == conn && (!ok || a.order < first.order) {
				first, ok = a, true
			}
		}
	}
	return first, ok
}

// isFirstOfJob reports whether a step is the first to name the job of the finding, which the
// server then has to accept.
func (w *writer) isFirstOfJob(step int) bool {
	name := w.r.hit.job
	first := slices.IndexFunc(w.t.Steps, func(s Step) bool {
		return slices.Contains(sharedNames(w.Script.Dialect.Grammar(), s.segments()), "$"+name)
	})
	return name != "" && first == step
}

// wait writes a silence on the connections that owe nothing.
func (w *writer) wait(i int, d time.Duration) {
	if d < 10*time.Millisecond {
		return
	}
	var idle []string
	if len(w.awaits) > 0 {
		if idle = w.idleConns(i); len(idle) == 0 || w.single {
			return
		}
	}
	if i == w.r.hit.step {
		w.clause()
	}
	w.Silence(d, idle...)
}

// idleConns names the connections that owe no answer at a step.
func (w *writer) idleConns(step int) []string {
	var all []string
	for _, conn := range connections(w.t.Steps[:step]) {
		if _, awaited := w.awaits[conn]; !awaited {
			all = append(all, w.conn(conn))
		}
	}
	return all
}

// writeProbeLine asks what the finding is about once more where no line shows it.
func (w *writer) writeProbeLine() {
	if w.r.subject.ProbeLine == nil {
		return
	}
	for _, s := range w.t.Steps {
		if !s.opens() || s.Conn() != w.r.hit.conn {
			continue
		}
		if line := w.r.subject.ProbeLine(w.r.hit.Rule, s.Do.(*scenarios.Connect)); line != "" {
			w.clause()
			w.Send(w.conn(s.Conn()), line)
			w.expect(s.Conn(), w.r.subject.Accepted)
		}
	}
}
