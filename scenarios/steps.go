package scenarios

import (
	"fmt"
	"slices"
	"strings"
)

// ConnectionsOf names the connections that a step uses.
func ConnectionsOf(s Step) []string {
	switch s := s.(type) {
	case *Connect:
		return []string{s.Conn}
	case *Send:
		return []string{s.Conn}
	case *Expect:
		return []string{s.Conn}
	case *Silence:
		return s.Conns
	}
	return nil
}

// noConn stands for the connection of a step that uses none, or several.
const noConn = "(none)"

// ConnectionOf returns the one connection that a step uses, or nowhere.
func ConnectionOf(s Step) string {
	if names := ConnectionsOf(s); len(names) == 1 {
		return names[0]
	}
	return noConn
}

// JudgedMarks returns the marks of a step that has an outcome; false for other steps.
func JudgedMarks(s Step) (marks []ClauseMark, ok bool) {
	switch s := s.(type) {
	case *Expect:
		return s.Marks, true
	case *Silence:
		return s.Marks, true
	}
	return nil, false
}

// Expectation returns what a step that has an outcome expects.
func Expectation(s Step) string {
	switch s := s.(type) {
	case *Expect:
		return s.Expected()
	case *Silence:
		return "silence for " + s.For.String()
	}
	return ""
}

// Expected describes what an S: line accepts.
func (e *Expect) Expected() string {
	s := join(e.Choices, ", or ", func(ch Choice) string { return ch.Words() })
	if w := e.Window.String(); w != "" {
		s += " (" + w + ")"
	}
	return s
}

// RefusesOnly reports whether a line expects that a command is refused, by an error or by the end of its connection.
func (e *Expect) RefusesOnly() bool {
	return !slices.ContainsFunc(e.Choices, func(ch Choice) bool {
		return ch.ending == Open && (ch.any || !ch.form.Refusal)
	})
}

// IsSequential reports whether a play waits for the reply to each line before it does anything else, as far as a step
// and the end of its block, and has by then sent nothing by which something comes due later. Then nothing that the step
// receives can have come because a line of the script was late.
func (s *Script) IsSequential(e *Expect) bool {
	turns := turns{grammar: s.Dialect.Grammar()}
	for _, step := range s.Steps {
		steps := []Step{step}
		if b, ok := step.(*Block); ok {
			steps = append(steps, b.Steps...)
		}
		if slices.ContainsFunc(steps, func(step Step) bool { return !turns.next(step) }) {
			return false
		}
		if slices.Contains(steps, Step(e)) {
			return true
		}
	}
	return false
}

// Defers reports whether something may come due later by a line of the script.
func (s *Script) Defers() bool {
	for step := range s.All() {
		if send, ok := step.(*Send); ok && send.defers(s.Dialect.Grammar()) {
			return true
		}
	}
	return false
}

// turns follows the steps of a script.
type turns struct {
	grammar *Grammar
	pending *Send // the line that has no reply yet, nil if there is none
}

// next reports whether a step waits for those before it.
func (ts *turns) next(step Step) bool {
	switch step := step.(type) {
	case *Send:
		if ts.pending != nil || step.Ending != Open || step.defers(ts.grammar) {
			return false
		}
		ts.pending = step
	case *Expect:
		if ts.pending != nil && ts.pending.Conn != step.Conn {
			return false
		}
		ts.pending = nil
	case *Block:
		return step.By == 0 && (step.Kind == Repeat || step.Kind == Table)
	case *Operate:
		return false
	}
	return true
}

// defers reports whether something may come due later by a line.
func (s *Send) defers(g *Grammar) bool {
	var text strings.Builder
	for _, t := range s.Segments {
		for _, p := range t {
			text.WriteString(p.literal())
			if p.ref != nil && p.ref.kind == refObject {
				for _, f := range p.ref.object.fields {
					fmt.Fprintf(&text, "%q", f.key)
				}
			}
		}
	}
	words := g.Timing.Delays
	return slices.Contains(words, verb(text.String())) || slices.ContainsFunc(words, func(field string) bool {
		return strings.Contains(text.String(), `"`+field+`"`)
	})
}
