package explore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/scenarios"
)

// record is a conversation as it was played once: what each step was answered with,
// and what was found.
type record struct {
	subject *Subject
	answers map[int][]seen
	hit     found
	prefix  string
	times   map[string]string
	unheard string // the clause by which a server speaks first
}

// recorded returns the record of a play that showed the finding.
func recorded(p *play, hit found) record {
	r := record{
		subject: p.subject, answers: map[int][]seen{}, hit: hit, prefix: p.prefix, times: p.times, unheard: p.unheard(),
	}
	for i, a := range p.seen {
		a.order = i
		r.answers[a.step] = append(r.answers[a.step], a)
	}
	return r
}

// writer writes a conversation as a script.
type writer struct {
	t      Trace
	f      *Finding
	r      record
	names  *shortNames // nil: names stay as they are
	single bool        // there is one connection, which needs no name
	awaits map[int]int // by connection: the step whose answer is still to be written
	opened map[int]bool

	script scenarios.Script
	block  *scenarios.Block  // the repetition that is being written
	above  []scenarios.Aside // what stands above the next step
	marks  []scenarios.Mark  // of the steps that follow
	err    error             // why the language cannot express the conversation
}

// manyLines reports whether a finding is about more answers than there were lines in
// made-up bytes.
func manyLines(t Trace, hit found) bool {
	return hit.Rule == "extra" && slices.ContainsFunc(t.Steps, func(s Step) bool {
		return s.wild() && s.Conn() == hit.conn && strings.Count(s.Text(), "\n") > 1
	})
}

func newWriter(s *Subject, t Trace) *writer {
	return &writer{
		script: scenarios.Script{Dialect: s.Dialect}, r: record{subject: s},
		t: t, awaits: map[int]int{}, opened: map[int]bool{}, single: len(connections(t.Steps)) == 1,
		above: []scenarios.Aside{{}}, // an empty line below the header
	}
}

// script writes a conversation in the suite's language; empty if that cannot be done.
func script(t Trace, f *Finding, r record) string {
	// No line can express that two values differ, or how many replies come.
	if r.hit.Rule == "salt" || r.answers == nil || manyLines(t, r.hit) {
		return ""
	}
	names := newShortNames(r.subject.Dialect)
	var w *writer
	for range 2 { // first for the names that there are
		w = newWriter(r.subject, t)
		w.f, w.r, w.names = f, r, names
		w.found()
		names.final = true
	}
	text := w.text()
	if slices.ContainsFunc(scenarios.Lint(&w.script), func(p *scenarios.Problem) bool { return !p.Advice }) {
		return "" // it cannot be played
	}
	return text
}

// found writes the script of a finding.
func (w *writer) found() {
	title := w.f.What
	if title == "" {
		title = fmt.Sprintf("expected %s, got %s", w.f.Expected, w.f.Got)
	}
	if w.f.Clause != "" {
		title = w.f.Clause + ": " + title
	}
	w.script.Title = w.names.title(w.symbols(oneLine(title)))
	_, w.script.Needs = w.ruling()
	if w.locked() && !slices.Contains(w.script.Needs, scenarios.NeedPassword) {
		w.script.Needs = append(w.script.Needs, scenarios.NeedPassword)
	}
	for i := range w.t.Steps {
		if w.t.N > 1 && i == w.t.From {
			w.repeat(w.t.N)
		}
		w.step(i, &w.t.Steps[i])
		if w.pushes() {
			w.pushed(i)
		}
		if i == w.r.hit.step || w.t.N > 1 && i == w.t.To-1 {
			w.answers()
		}
		if w.t.N > 1 && i == w.t.To-1 {
			w.block = nil
		}
	}
	w.answers()
	w.aftermath()
}

// text is the script, in which the client lines that break the protocol are marked;
// empty if the language cannot express it.
func (w *writer) text() string {
	if w.err != nil {
		return ""
	}
	scenarios.MarkBad(&w.script)
	return string(scenarios.Format(&w.script))
}

// ruling returns what the subject knows of the clause of the finding.
func (w *writer) ruling() (level string, needs []scenarios.Need) {
	if w.f.Should {
		level = "SHOULD"
	}
	if w.r.subject.Ruling == nil {
		return level, nil
	}
	return w.r.subject.Ruling(w.f.Clause, level)
}

// locked reports whether a value is sent that is computed from a password.
func (w *writer) locked() bool {
	g := w.script.Dialect.Grammar()
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
		w.answers()
		next := *do
		next.Statement, next.Worker = w.statement(), w.renamedTemplate(do.Worker)
		w.add(&next)
	}
}

// ends writes the end of a connection, and what comes after the client's half of it is closed.
func (w *writer) ends(i, conn int, how scenarios.Ending) {
	_, owed := w.awaits[conn]
	delete(w.awaits, conn)
	delete(w.opened, conn)
	w.end(conn, how)
	if owed && i == w.r.hit.step && conn == w.r.hit.conn && how == scenarios.HalfShut {
		w.hit(i, conn)
	}
}

// open writes the opening of a connection; with its greeting if that is the finding.
func (w *writer) open(i, conn int, do *scenarios.Connect) {
	if w.opened[conn] { // the one before is over
		w.end(conn, scenarios.Closed)
	}
	w.opened[conn] = true
	if i == w.r.hit.step && w.r.hit.conn == conn && !w.pushes() {
		w.connect(conn, scenarios.Raw, "")
		w.greeting(conn, do)
		return
	}
	hello := ""
	if do.Hello != nil {
		hello = do.Hello.String()
		if client := "$" + w.script.Dialect.Grammar().Client; w.introduces() { // connections of a client say the same of it
			hello = w.r.subject.Introduction.Fields(do)
		} else if w.names.onlyUse(client) && w.renamed(hello) == `{"`+client[1:]+`":"`+client+`"}` {
			hello = "" // it has that one by itself
		}
	}
	w.connect(conn, do.Role, hello)
	if do.Role == scenarios.Raw {
		w.greeted(conn)
	}
}

// greeted expects what the server sends first, if it does.
func (w *writer) greeted(conn int) {
	if hi := w.r.subject.Greeting; hi != "" {
		w.expect(conn, scenarios.Window{}, hi)
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
	if w.r.hit.crash || w.r.hit.Rule == "greeting" || w.r.hit.Rule == RuleSilent && w.r.hit.Clause == w.r.unheard {
		w.clause()
		if !w.r.hit.crash {
			first = w.wanted(first)
		}
		w.expect(conn, scenarios.Window{}, first)
		return
	}
	w.greeted(conn)
	w.say(conn, w.r.subject.Introduction.Line(do, w.locked()))
	w.clause()
	w.expect(conn, scenarios.Window{}, w.wanted(w.r.subject.Accepted))
}

// clause ties what follows to the clause of the finding. What the catalogue only notes
// is judged here: the conversation is one that every reading would have go on.
func (w *writer) clause() {
	if w.f.Clause == "" {
		return
	}
	level, _ := w.ruling()
	w.marks = []scenarios.Mark{{Clause: w.f.Clause, Level: level}}
	w.above = append(w.above, scenarios.Aside{IsMark: true, Marks: w.marks})
}

// send writes a client line.
func (w *writer) send(conn int, do *scenarios.Send, text string) {
	plain := printable(text)
	line := &scenarios.Send{Conn: w.conn(conn), Bytewise: do.Bytewise && plain, Raw: !plain || do.Raw && !do.Bytewise}
	for _, t := range do.Segments {
		line.Segments = append(line.Segments, w.renamedTemplate(t))
	}
	last := len(line.Segments) - 1
	switch {
	case line.Bytewise:
		line.Segments = []scenarios.Template{slices.Concat(line.Segments...)}
	case !do.Raw && !plain:
		line.Segments[last] = append(line.Segments[last], w.template("\r\n")[0]...)
	}
	line.Statement = w.statement()
	w.add(line)
}

// printable reports whether a line can stand in a script as it is.
func printable(text string) bool {
	odd := func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u2028' || r == 0xfffd }
	return text != "" && strings.TrimSpace(text) == text && !strings.ContainsFunc(text, odd) &&
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
	i, owed := w.awaits[conn]
	if !owed {
		return
	}
	delete(w.awaits, conn)
	hit := w.r.hit
	if hit.conn == conn && i == hit.about {
		w.hit(i, conn)
		return
	}
	w.expect(conn, scenarios.Window{}, w.expected(i, conn))
}

// expected is what a step was answered with, as far as that matters. Of many rounds the
// first counts, since the last is the broken one; an answer may have come while a later
// step was played.
func (w *writer) expected(step, conn int) string {
	a, is := w.answered(step, conn)
	switch {
	case !is:
		return "<any>"
	case a.Open != "" && !w.makes(step):
		return a.Open
	}
	return w.symbols(a.Pattern)
}

// answered is the first of all answers to a step.
func (w *writer) answered(step, conn int) (first seen, is bool) {
	for i := step; i < len(w.t.Steps); i++ {
		if s := w.t.Steps[i]; i > step && s.Sends() != nil && s.Conn() == conn {
			break
		}
		for _, a := range w.r.answers[i] {
			if a.conn == conn && (!is || a.order < first.order) {
				first, is = a, true
			}
		}
	}
	return first, is
}

// makes reports whether a step is the first to name the job of the finding, which the
// server then has to accept.
func (w *writer) makes(step int) bool {
	_, name, _ := strings.Cut(w.r.hit.JID, "-")
	name, _, _ = strings.Cut(name, "-") // without its round
	first := slices.IndexFunc(w.t.Steps, func(s Step) bool {
		return slices.Contains(sharedNames(w.script.Dialect.Grammar(), s.segments()), "$"+name)
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
		if idle = w.idle(i); len(idle) == 0 || w.single {
			return
		}
	}
	if i == w.r.hit.step {
		w.clause()
	}
	w.add(&scenarios.Silence{Statement: w.statement(), For: d, Conns: idle, Marks: w.marks})
}

// idle names the connections that owe no answer at a step.
func (w *writer) idle(step int) []string {
	var all []string
	for _, conn := range connections(w.t.Steps[:step]) {
		if _, owes := w.awaits[conn]; !owes {
			all = append(all, w.conn(conn))
		}
	}
	return all
}

// aftermath asks what the finding is about once more where no line shows it.
func (w *writer) aftermath() {
	if w.r.subject.Again == nil {
		return
	}
	for _, s := range w.t.Steps {
		if !s.opens() || s.Conn() != w.r.hit.conn {
			continue
		}
		if line := w.r.subject.Again(w.r.hit.Rule, s.Do.(*scenarios.Connect)); line != "" {
			w.clause()
			w.say(s.Conn(), line)
			w.expect(s.Conn(), scenarios.Window{}, w.r.subject.Accepted)
		}
	}
}
