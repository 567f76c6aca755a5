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
}

// recorded returns the record of a play that showed the finding.
func recorded(p *play, hit found) record {
	r := record{answers: map[int][]seen{}, hit: hit, prefix: p.prefix, times: p.times, subject: p.subject}
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
		return s.wild() && s.Conn == hit.conn && strings.Count(s.text(), "\n") > 1
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
	if w.hashed() || strings.HasPrefix(w.f.Clause, "FWP-AUTH") {
		w.script.Needs = []scenarios.Need{scenarios.NeedPassword}
	}
	for i := range w.t.Steps {
		if w.t.N > 1 && i == w.t.From {
			w.repeat(w.t.N)
		}
		w.step(i, &w.t.Steps[i])
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

// hashed reports whether a password is used.
func (w *writer) hashed() bool {
	return slices.ContainsFunc(w.t.Steps, func(s Step) bool { return strings.Contains(s.text(), "pwdhash") })
}

// step writes one step.
func (w *writer) step(i int, s *Step) {
	switch s.Kind {
	case Open:
		w.open(i, s)
	case Send:
		w.answer(s.Conn)
		w.send(s)
		if w.reads(i, s) {
			w.awaits[s.Conn] = i
		}
		if !s.Ahead {
			w.answer(s.Conn)
		}
	case Await:
		w.answer(s.Conn)
	case End:
		_, owed := w.awaits[s.Conn]
		delete(w.awaits, s.Conn)
		delete(w.opened, s.Conn)
		w.end(s.Conn, s.Ending)
		if owed && i == w.r.hit.step && s.Conn == w.r.hit.conn && s.Ending == scenarios.HalfShut {
			w.hit(i, s.Conn)
		}
	case Wait:
		w.wait(i, s)
	case Operate:
		w.answers()
		w.operate(s)
	}
}

// operate writes what an operator does.
func (w *writer) operate(s *Step) {
	if s.Action == Restart {
		w.add(&scenarios.Operate{Statement: w.statement(), Action: scenarios.NeedRestart})
		return
	}
	worker := w.template(fmt.Sprintf("$wid%d", s.Worker))
	w.add(&scenarios.Operate{Statement: w.statement(), Action: scenarios.NeedSignals, State: s.Action, Worker: worker[0]})
}

// open writes the opening of a connection; with its greeting if that is the finding.
func (w *writer) open(i int, s *Step) {
	if w.opened[s.Conn] { // the one before is over
		w.end(s.Conn, scenarios.Closed)
	}
	w.opened[s.Conn] = true
	if i == w.r.hit.step && w.r.hit.conn == s.Conn {
		w.connect(s.Conn, scenarios.Raw, "")
		w.greeting(s)
		return
	}
	hello := ""
	switch {
	case s.Role != scenarios.Consumer:
	case w.greets(): // connections of a worker say the same of it
		hello = fmt.Sprintf(`{"wid":"$wid%d","pid":4711}`, s.Worker)
	default:
		hello = fmt.Sprintf(`{"wid":"$wid%d"}`, s.Worker)
		if w.names.onlyUse("$wid") { // a consumer has that one by itself
			hello = ""
		}
	}
	w.connect(s.Conn, s.Role, hello)
	if s.Role == scenarios.Raw {
		w.greeted(s.Conn)
	}
}

// greeted expects what the server sends first, if it does.
func (w *writer) greeted(conn int) {
	if hi := w.r.subject.Greeting; hi != "" {
		w.expect(conn, scenarios.Window{}, hi)
	}
}

// greets reports whether a HELLO is written out.
func (w *writer) greets() bool {
	return w.t.Steps[w.r.hit.step].Kind == Open ||
		slices.ContainsFunc(w.t.Steps, func(s Step) bool { return strings.HasPrefix(s.text(), "HELLO") })
}

// greeting writes the HI and the HELLO of which one is the finding.
func (w *writer) greeting(s *Step) {
	if w.r.hit.crash || w.r.hit.Rule == "greeting" || w.r.hit.Rule == RuleSilent && w.r.hit.Clause == "FWP-HI-01" {
		w.clause()
		expected := w.wanted(w.r.subject.Greeting)
		if w.r.hit.crash {
			expected = w.r.subject.Greeting
		}
		w.expect(s.Conn, scenarios.Window{}, expected)
		return
	}
	w.greeted(s.Conn)
	hello := `"v":2}`
	if w.hashed() {
		hello = `"pwdhash":"$pwdhash",` + hello
	}
	if s.Role == scenarios.Consumer {
		hello = fmt.Sprintf(`"hostname":"fwpcheck","wid":"$wid%d","pid":4711,"labels":["fwpcheck"],`, s.Worker) + hello
	}
	w.say(s.Conn, "HELLO {"+hello)
	w.clause()
	w.expect(s.Conn, scenarios.Window{}, w.wanted("+OK"))
}

// clause ties what follows to the clause of the finding. What the catalogue only notes
// is judged here: the conversation is one that every reading would have go on.
func (w *writer) clause() {
	if w.f.Clause == "" {
		return
	}
	level := ""
	if w.f.Clause == "FWP-HELLO-08" || w.f.Clause == "FWP-HELLO-05" || w.f.Clause == "FWP-HELLO-07" {
		level = "plain"
	} else if w.f.Should {
		level = "SHOULD"
	}
	w.marks = []scenarios.Mark{{Clause: w.f.Clause, Level: level}}
	w.above = append(w.above, scenarios.Aside{IsMark: true, Marks: w.marks})
}

// send writes a client line.
func (w *writer) send(s *Step) {
	segments := slices.Clone(s.Segments)
	plain := printable(s.text())
	switch {
	case s.Bytewise && plain:
		segments = []string{s.text()}
	case !s.Raw && !plain:
		segments[len(segments)-1] += "\r\n"
	}
	line := &scenarios.Send{Conn: w.conn(s.Conn), Bytewise: s.Bytewise && plain, Raw: !plain || s.Raw && !s.Bytewise}
	for _, text := range segments {
		line.Segments = append(line.Segments, w.template(text)...)
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
	case a.Open != "" && !w.pushes(step):
		return a.Open
	}
	return w.symbols(a.Pattern)
}

// answered is the first of all answers to a step.
func (w *writer) answered(step, conn int) (first seen, is bool) {
	for i := step; i < len(w.t.Steps); i++ {
		if s := w.t.Steps[i]; i > step && s.Kind == Send && s.Conn == conn {
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

// pushes reports whether a step pushes the job of the finding, which the server then has
// to accept.
func (w *writer) pushes(step int) bool {
	text := w.t.Steps[step].text()
	_, name, _ := strings.Cut(w.r.hit.JID, "-")
	name, _, _ = strings.Cut(name, "-") // without its round
	return name != "" && strings.HasPrefix(text, "PUSH") && slices.Contains(namesIn(text), "$"+name)
}

// wait writes a silence on the connections that owe nothing.
func (w *writer) wait(i int, s *Step) {
	if s.For < 10*time.Millisecond {
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
	w.add(&scenarios.Silence{Statement: w.statement(), For: s.For, Conns: idle, Marks: w.marks})
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
	if w.r.hit.Rule != "closed" {
		return
	}
	for _, s := range w.t.Steps {
		if s.Kind == Open && s.Conn == w.r.hit.conn && s.Role == scenarios.Consumer {
			w.clause()
			w.say(s.Conn, fmt.Sprintf(`BEAT {"wid":"$wid%d"}`, s.Worker))
			w.expect(s.Conn, scenarios.Window{}, "+OK")
		}
	}
}
