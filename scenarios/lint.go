package scenarios

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/session"
)

// Lint checks a script against the rules that a client must keep, and against those
// rules of the language that need more than one line: a client line that breaks the
// protocol must be marked bad, a marked one must break it, and no name may be used
// before it has a value. Problems that are [Problem.Advice] do not keep a script from
// being played.
func Lint(s *Script) Problems {
	problems := walk(s, false).problems
	slices.SortStableFunc(problems, func(a, b *Problem) int { return a.Line - b.Line })
	return problems
}

// MarkBad sets [Send.Bad] of those client lines of a script that break the protocol, and
// only of those. Raw bytes keep their mark, since only lines are checked.
func MarkBad(s *Script) { walk(s, true) }

// linter walks through the steps as a player would, without a server.
type linter struct {
	script    *Script
	setsMarks bool // lines are marked as they are, instead of compared with their mark
	render    *Renderer
	conns     map[string]*connState
	problems  Problems
}

// walk returns a linter that has walked through a script.
func walk(s *Script, marks bool) *linter {
	l := &linter{script: s, setsMarks: marks, conns: map[string]*connState{}, render: &Renderer{
		Grammar: s.Dialect.Grammar(), Scope: NewScope("fwp-lint-sample"), Password: "sample",
	}}
	for _, step := range s.Steps {
		l.step(step, nil)
	}
	return l
}

// connState is what is known of a connection at a place of the script.
type connState struct {
	role     Role
	state    session.State
	hasEnded bool // it has ended
}

func (l *linter) report(at Pos, advice bool, help, format string, args ...any) {
	source := "" // of what a program has built
	if at.Line > 0 {
		source = l.script.Source[at.Line-1]
	}
	if len(l.problems) >= maxProblems {
		return // so many are enough to correct
	}
	l.problems = append(l.problems, &Problem{File: l.script.Name, Pos: at, Source: source,
		Message: fmt.Sprintf(format, args...), Help: help, Advice: advice})
}

// conn is the named connection, raw if nothing has opened it.
func (l *linter) conn(name string) *connState {
	if l.conns[name] == nil {
		l.conns[name] = &connState{state: l.script.Dialect.Sample(false)}
	}
	return l.conns[name]
}

func (l *linter) step(s Step, in *Block) {
	switch s := s.(type) {
	case *Connect:
		l.connect(s)
	case *Send:
		l.send(s, in)
	case *Expect:
		l.expect(s)
	case *Operate:
		l.names(s.Pos, s.Worker.refs(), in)
		if !s.Action.OnWorker() {
			l.conns = map[string]*connState{}
		}
	case *Block:
		l.block(s)
	}
	if in != nil {
		l.place(s, in)
	}
}

func (l *linter) connect(s *Connect) {
	l.conns[s.Conn] = &connState{role: s.Role, state: l.script.Dialect.Sample(s.Role != Raw)}
	if s.Role == Consumer && s.Hello == nil {
		l.render.Scope.use(l.script.Dialect.Grammar().client()) //nolint:errcheck // a family always has a value
	}
}

// block looks at a body once; the workers of a repetition have connections of
// their own.
func (l *linter) block(b *Block) {
	outer := l.conns[""]
	if b.Kind == Repeat && b.By > 0 {
		l.connect(&Connect{Role: b.Role})
		defer func() { l.conns[""] = outer }()
	}
	if b.Kind == Repeat {
		scope := l.render.Scope
		l.render.Scope = scope.Repetition(b, 0)
		defer func() { l.render.Scope = scope }()
	}
	for _, s := range b.Steps {
		l.step(s, b)
	}
}

// send checks one client line.
func (l *linter) send(s *Send, in *Block) {
	c := l.conn(s.Conn)
	if s.Ending != Open {
		c.hasEnded = true
		return
	}
	for _, t := range s.Segments {
		if !l.names(s.Pos, t.refs(), in) {
			return
		}
	}
	protected := l.script.Dialect.Sample(false)
	l.render.State = func(name string) session.State {
		if l.conns[name] == nil {
			return nil
		}
		return protected
	}
	segments, err := l.render.Line(protected, s)
	if err != nil {
		l.report(s.Pos, false, "", "%v", err)
		return
	}
	line, isLine := wholeLine(segments)
	grammar := l.script.Dialect.Grammar()
	if !s.Raw && grammar.Framed() {
		line, isLine = slices.Concat(segments...), true
	}
	if !s.Raw && len(s.Segments) == 1 && grammar.Lines.WithBody != nil {
		isLine = true // a block may follow the line
	}
	l.legality(s, c, line, isLine)
	c.state.Sent(slices.Concat(segments...))
}

// wholeLine is the line in the segments, without its end; false if they are
// anything else than one line.
func wholeLine(segments [][]byte) ([]byte, bool) {
	line, ends := bytes.CutSuffix(slices.Concat(segments...), []byte("\r\n"))
	return line, ends && !slices.Contains(line, '\n')
}

// legality compares a line with its mark.
func (l *linter) legality(s *Send, c *connState, line []byte, isLine bool) {
	if s.Raw && !s.Bad { // raw bytes are not checked, only lines
		return
	}
	bug, advice := "expected one line that ends with CRLF", []Advice(nil)
	switch {
	case isLine && c.hasEnded:
		bug = l.script.Dialect.Grammar().VerbSent(line) + " must not be sent while the connection is ended"
	case isLine:
		bug, advice = l.script.Dialect.Check(c.role, c.state, line)
	}
	if l.setsMarks {
		s.Bad = bug != ""
		return
	}
	help := "if this is intended, mark the line: " + side('C', s.Conn) + " bad:"
	if c.role == Raw && c.state.Status().Phase == session.Greeting {
		help += "; to be greeted first: " + strings.Join(strings.Fields("connect "+s.Conn+" as producer"), " ")
	}
	switch {
	case bug != "" && !s.Bad:
		l.report(s.Pos, false, help, "this line breaks the protocol: %s", bug)
	case bug == "" && s.Bad:
		l.report(s.Pos, false, "remove the word bad", "this line is marked bad, but it is legal")
	case bug == "":
		for _, a := range advice {
			l.report(s.Pos, true, a.Help, "%s", a.Message)
		}
	}
}

// names checks that every name has a value by then.
func (l *linter) names(at Pos, refs []*ref, in *Block) bool {
	for _, r := range refs {
		if r.indexed && (in == nil || in.Kind != Repeat) {
			l.report(at, false, "without # the name has only one value", "%s has values only in a repeat block", r.text)
			return false
		}
		if r.kind != refPlain || r.family() != "" {
			continue
		}
		if _, ok := l.render.Scope.lookup(r); !ok {
			help := "a name gets its value at its first match in an S: line; " +
				freshNames(l.script.Dialect.Grammar().Names.Families) +
				" make fresh values"
			l.report(at, false, help, "%s has no value here", r.text)
			return false
		}
	}
	return true
}

// freshNames lists families as in "id..., queue... and name...".
func freshNames(families []string) string {
	list := strings.Join(families, "..., ") + "..."
	if last := strings.LastIndex(list, ", "); last >= 0 {
		return list[:last] + " and " + list[last+len(", "):]
	}
	return list
}

// expect follows the state of the connection and binds the names of a line.
func (l *linter) expect(e *Expect) {
	c := l.conn(e.Conn)
	for i := range e.Choices {
		ch, isSingle := &e.Choices[i], len(e.Choices) == 1
		for _, n := range slices.Concat(ch.parts, []node{ch.json}) {
			sampleNames(n, l.render.Scope)
		}
		switch {
		case ch.ending != Open:
			c.hasEnded = c.hasEnded || isSingle
		case ch.any, ch.form.Refusal, ch.re != nil, ch.json != nil && !isSingle: // the reply is not known
		default:
			c.state.Received(ch.sample())
		}
	}
}

// sampleNames gives names that a reply would bind some value.
func sampleNames(n node, sc *Scope) {
	const sample = "sample-of-a-captured-value"
	for part := range parts(n) {
		switch part := part.(type) {
		case interpolated:
			if r := part.parts.singleRef(); r != nil && !r.indexed {
				sc.capture(r, sample)
			}
		case capture:
			sc.capture(part.ref, sample)
		}
	}
}

// place checks whether a step may stand in its block: workers share no connection.
func (l *linter) place(s Step, in *Block) {
	_, expects := s.(*Expect)
	switch {
	case in.Kind == Unordered && !expects:
		l.report(s.Place(), false, "send before the block", "an unordered block may have only S: lines")
	case in.Kind == Repeat && in.By > 1 && slices.ContainsFunc(ConnectionsOf(s), func(c string) bool { return c != "" }):
		l.report(s.Place(), false, "each worker has its own connection, which has no name",
			"%d workers cannot share a connection", in.By)
	}
}
