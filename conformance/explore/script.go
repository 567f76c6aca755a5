package explore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/scenarios"
)

// record is a conversation as it was played once: what each step was answered with,
// and what was found.
type record struct {
	answers map[int][]seen
	hit     found
	prefix  string
	times   map[string]string
}

// recorded keeps what came in a play that showed the finding.
func recorded(p *play, hit found) record {
	r := record{answers: map[int][]seen{}, hit: hit, prefix: p.prefix, times: p.times}
	for _, a := range p.seen {
		r.answers[a.step] = append(r.answers[a.step], a)
	}
	return r
}

// writer writes a conversation as a script.
type writer struct {
	b      strings.Builder
	t      Trace
	f      *Finding
	r      record
	single bool        // there is one connection, which needs no name
	awaits map[int]int // by connection: the step whose answer is still to be written
}

// script writes a conversation in the suite's language; empty if that cannot be done.
func script(t Trace, f *Finding, r record) string {
	if r.hit.Rule == "salt" || r.answers == nil { // no line can say that two values differ
		return ""
	}
	w := &writer{t: t, f: f, r: r, awaits: map[int]int{}, single: len(connections(t.Steps)) == 1}
	title := f.What
	if title == "" {
		title = fmt.Sprintf("expected %s, got %s", f.Expected, f.Got)
	}
	w.line("title: %s: %s", f.Clause, w.symbols(oneLine(title)))
	if strings.Contains(fmt.Sprint(t.Steps), "pwdhash") {
		w.line("needs: password")
	}
	w.line("")
	for i := range t.Steps {
		if t.N > 1 && i == t.From {
			w.line("repeat %d", t.N)
		}
		w.step(i, &t.Steps[i])
		if i == r.hit.step || t.N > 1 && i == t.To-1 {
			w.answers()
		}
		if t.N > 1 && i == t.To-1 {
			w.line("end")
		}
	}
	w.answers()
	w.aftermath()
	return renumber(marked(w.b.String()))
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

// at names a connection behind C or S.
func (w *writer) at(side string, conn int) string {
	if w.single {
		return side
	}
	return fmt.Sprintf("%s[c%d]", side, conn)
}

// step writes one step.
func (w *writer) step(i int, s *Step) {
	switch s.Kind {
	case Open:
		w.open(i, s)
	case Send:
		w.answer(s.Conn)
		w.send(s)
		w.awaits[s.Conn] = i
		if !s.Ahead {
			w.answer(s.Conn)
		}
	case Await:
		w.answer(s.Conn)
	case End:
		delete(w.awaits, s.Conn)
		w.line("%s: %s", w.at("C", s.Conn), s.Ending)
	case Wait:
		w.wait(i, s)
	case Operate:
		w.answers()
		if s.Action == restart {
			w.line(restart)
		} else {
			w.line("%s $wid%d", s.Action, s.Worker)
		}
	}
}

// open writes the opening of a connection; with its greeting if that is the finding.
func (w *writer) open(i int, s *Step) {
	name := ""
	if !w.single {
		name = fmt.Sprintf("c%d ", s.Conn)
	}
	hit := i == w.r.hit.step
	if !hit || w.r.hit.conn != s.Conn {
		wid := ""
		if s.Role == scenarios.Consumer {
			wid = fmt.Sprintf(` {"wid":"$wid%d"}`, s.Worker)
		}
		w.line("connect %sas %s%s", name, s.Role, wid)
		if s.Role == scenarios.Raw {
			w.line(`%s: +HI {"v":2}`, w.at("S", s.Conn))
		}
		return
	}
	w.line("connect %sas raw", name)
	if w.r.hit.Rule == "greeting" || w.r.hit.Clause == "FWP-HI-01" {
		w.clause()
		w.line("%s: %s", w.at("S", s.Conn), orText(w.r.hit.Expected, "<any>", `+HI {"v":2}`))
		return
	}
	w.line(`%s: +HI {"v":2}`, w.at("S", s.Conn))
	hello := `{"v":2}`
	if strings.Contains(fmt.Sprint(w.t.Steps), "pwdhash") {
		hello = `{"pwdhash":"$pwdhash","v":2}`
	}
	if s.Role == scenarios.Consumer {
		hello = fmt.Sprintf(`{"hostname":"fwpcheck","wid":"$wid%d","pid":4711,"labels":["fwpcheck"],`, s.Worker) + hello[1:]
	}
	w.line("%s: HELLO %s", w.at("C", s.Conn), hello)
	w.clause()
	w.line("%s: %s", w.at("S", s.Conn), orText(w.r.hit.Expected, "<any>", "+OK"))
}

// clause ties what follows to the clause of the finding. What the catalogue only notes
// is judged here: the conversation is one that every reading would have go on.
func (w *writer) clause() {
	level := ""
	if w.f.Clause == "FWP-HELLO-08" || w.f.Clause == "FWP-HELLO-05" || w.f.Clause == "FWP-HELLO-07" {
		level = " plain"
	}
	w.line("clause %s%s", w.f.Clause, level)
}

// send writes a client line.
func (w *writer) send(s *Step) {
	text := w.numbered(s.text())
	plain := text != "" && strings.TrimSpace(text) == text && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u2028' || r == 0xfffd }) && !strings.Contains(text, "<|>")
	switch {
	case s.Bytewise && plain:
		w.line("%s bytewise: %s", w.at("C", s.Conn), text)
	case s.Raw || !plain:
		quoted := make([]string, len(s.Segments))
		for i, seg := range s.Segments {
			if seg = w.numbered(seg); !s.Raw && i == len(s.Segments)-1 {
				seg += "\r\n"
			}
			quoted[i] = strconv.Quote(seg)
		}
		w.line("%s raw: %s", w.at("C", s.Conn), strings.Join(quoted, " "))
	default:
		cut := make([]string, len(s.Segments))
		for i, seg := range s.Segments {
			cut[i] = w.numbered(seg)
		}
		w.line("%s: %s", w.at("C", s.Conn), strings.Join(cut, "<|>"))
	}
}

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
	if i == w.r.hit.step && conn == w.r.hit.conn || w.r.hit.conn == conn && w.t.Steps[w.r.hit.step].Kind == Await {
		w.hit(conn)
		return
	}
	all := w.r.answers[i]
	if len(all) == 0 {
		for j := i + 1; j < len(w.t.Steps) && len(all) == 0; j++ { // it came while another step was played
			all = w.r.answers[j]
			all = slices.DeleteFunc(slices.Clone(all), func(a seen) bool { return a.conn != conn })
		}
	}
	expected := "<any>"
	for _, a := range slices.Backward(all) { // the first counts: of many rounds the last is the broken one
		if a.conn == conn {
			expected = a.answer.String()
			if both := model.Okay | model.Refused; a.expected&both == both {
				expected = both.String()
			}
			if a.answer == model.Delivered {
				expected = fmt.Sprintf(`${"jid":"%s"}`, w.symbols(a.jid))
			}
		}
	}
	w.line("%s: %s", w.at("S", conn), expected)
}

// hit writes the line that fails.
func (w *writer) hit(conn int) {
	v := w.r.hit.Violation
	expected := orText(w.symbols(v.Expected), "<any>", "<any>")
	switch v.Rule {
	case "extra", "grammar", "unasked", "closed":
		expected = "<any>"
		for _, a := range w.r.answers[w.r.hit.step] {
			expected = a.answer.String()
		}
	case "lingers":
		w.line("%s: +OK", w.at("S", conn))
		w.clause()
		w.line("%s ..1s: <close>", w.at("S", conn))
		return
	case "crash", "silent":
		expected = "<any>"
	}
	window := ""
	if from, to := v.Window[0], v.Window[1]; to > 0 && v.Rule != "lingers" {
		window = " "
		if from > 0 {
			window += from.String()
		}
		window += ".." + to.String()
	}
	w.clause()
	w.line("%s%s: %s", w.at("S", conn), window, expected)
}

// wait writes a silence on the connections that owe nothing.
func (w *writer) wait(i int, s *Step) {
	if s.For < 10*time.Millisecond {
		return
	}
	on := ""
	if len(w.awaits) > 0 {
		var idle []string
		for _, conn := range connections(w.t.Steps[:i]) {
			if _, owes := w.awaits[conn]; !owes {
				idle = append(idle, fmt.Sprintf("c%d", conn))
			}
		}
		if len(idle) == 0 || w.single {
			return
		}
		on = " on " + strings.Join(idle, " ")
	}
	if i == w.r.hit.step {
		w.clause()
	}
	w.line("silence %s%s", s.For, on)
}

// aftermath asks what the finding is about once more where no line shows it.
func (w *writer) aftermath() {
	if w.r.hit.Rule != "closed" {
		return
	}
	for _, s := range w.t.Steps {
		if s.Kind == Open && s.Conn == w.r.hit.conn && s.Role == scenarios.Consumer {
			w.clause()
			w.line(`%s: BEAT {"wid":"$wid%d"}`, w.at("C", s.Conn), s.Worker)
			w.line("%s: +OK", w.at("S", s.Conn))
		}
	}
}

var _ = time.Second
