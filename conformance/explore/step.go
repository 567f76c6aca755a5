package explore

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/scenarios"
)

// Step is one thing that clients do, as a statement of the script language:
//
//   - *[scenarios.Connect] opens a connection, and introduces the client unless its role is raw;
//   - *[scenarios.Send] sends a line or bytes, or ends a connection from the client's side;
//   - *[scenarios.Expect] awaits the answers that a connection owes, whatever they are;
//   - *[scenarios.Silence] lets time pass;
//   - *[scenarios.Operate] quiets or terminates a worker, or disrupts the server.
//
// Connections are c0, c1 and so on. Names such as $jid4 are names of the play; where steps
// are repeated, those of jobs and indexed ones ($queue2#) are others each time. The
// statement of a step is never changed, since others may hold the same one.
type Step struct {
	Do scenarios.Step
	// Ahead of a Send: the answer is not awaited before the next step. Of a stop: neither is the start behind it.
	Ahead bool
}

// noConn is the number of no connection.
const noConn = -1

// String returns the step's statement as a script has it.
func (s Step) String() string {
	return strings.TrimSuffix(string(scenarios.Format(&scenarios.Script{Steps: []scenarios.Step{s.Do}})), "\n")
}

// Conn returns the number of the step's connection, below zero if it has none.
func (s Step) Conn() int {
	var name string
	switch do := s.Do.(type) {
	case *scenarios.Connect:
		name = do.Conn
	case *scenarios.Send:
		name = do.Conn
	case *scenarios.Expect:
		name = do.Conn
	}
	n, err := strconv.Atoi(strings.TrimPrefix(name, connFamily))
	if err != nil {
		return noConn
	}
	return n
}

// onConn returns a step that sends or awaits the same on another connection.
func (s Step) onConn(conn int) Step {
	switch do := s.Do.(type) {
	case *scenarios.Send:
		next := *do
		next.Conn, s.Do = connName(conn), &next
	case *scenarios.Expect:
		next := *do
		next.Conn, s.Do = connName(conn), &next
	}
	return s
}

// connName is the name of a connection.
func connName(number int) string { return connFamily + strconv.Itoa(number) }

// Sends returns what the step sends, nil if it does something else.
func (s Step) Sends() *scenarios.Send {
	if do, ok := s.Do.(*scenarios.Send); ok && do.Ending == scenarios.Open {
		return do
	}
	return nil
}

// Ends reports whether the step ends a connection.
func (s Step) Ends() bool {
	do, ok := s.Do.(*scenarios.Send)
	return ok && do.Ending != scenarios.Open
}

// opens reports whether the step opens a connection.
func (s Step) opens() bool {
	_, ok := s.Do.(*scenarios.Connect)
	return ok
}

// waitTime returns how long the step lets time pass.
func (s Step) waitTime() time.Duration {
	if do, ok := s.Do.(*scenarios.Silence); ok {
		return do.For
	}
	return 0
}

// disrupts reports whether the step disrupts the server, and whether that ends all connections.
func (s Step) disrupts() (ok, stops bool) {
	do, ok := s.Do.(*scenarios.Operate)
	ok = ok && !do.Action.OnWorker()
	return ok, ok && do.Action.Stops()
}

// Text returns all that the step sends, as it is written.
func (s Step) Text() string {
	var b strings.Builder
	for _, t := range s.segments() {
		b.WriteString(t.String())
	}
	return b.String()
}

// segments are those of what the step sends.
func (s Step) segments() []scenarios.Template {
	if do := s.Sends(); do != nil {
		return do.Segments
	}
	return nil
}

// withSegments returns the step with other segments.
func (s Step) withSegments(segments []scenarios.Template, bytewise bool) Step {
	next := *s.Sends()
	next.Segments, next.Bytewise = segments, bytewise
	s.Do = &next
	return s
}

// Trace is a conversation that can be played: steps, of which some may be repeated.
type Trace struct {
	Steps    []Step
	From, To int // the steps [From,To) are played N times, with names of their own each time
	N        int // 0 or 1: no repetition
}

// sequence goes through the steps as they are played: the number of the round, 0 outside of a
// repetition, and that of the step.
func (t Trace) sequence() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		part := func(round, from, to int) bool {
			for i := from; i < to; i++ {
				if !yield(round, i) {
					return false
				}
			}
			return true
		}
		if t.N <= 1 {
			part(0, 0, len(t.Steps))
			return
		}
		ok := part(0, 0, t.From)
		for round := 1; ok && round <= t.N; round++ {
			ok = part(round, t.From, t.To)
		}
		_ = ok && part(0, t.To, len(t.Steps))
	}
}

// Builder makes steps of a dialect. A text that is not one of the language has no names.
type Builder struct{ Dialect scenarios.Dialect }

// Open returns a step that opens a connection. hello is an object with fields of the
// client's introduction, "" for the usual ones.
func (b Builder) Open(conn int, role scenarios.Role, hello string) Step {
	do := &scenarios.Connect{Conn: connName(conn), Role: role}
	if hello != "" {
		do.Hello, _ = scenarios.ParseObject(b.Dialect, hello) // the usual ones if it cannot be parsed
	}
	return Step{Do: do}
}

// Line returns a step that sends a line.
func (b Builder) Line(conn int, format string, args ...any) Step {
	return Step{Do: &scenarios.Send{Conn: connName(conn), Segments: b.Parse(fmt.Sprintf(format, args...))}}
}

// Bytewise returns a step that sends a line byte by byte.
func (b Builder) Bytewise(conn int, text string) Step {
	return Step{Do: &scenarios.Send{Conn: connName(conn), Segments: b.Parse(text), Bytewise: true}}
}

// Bytes returns a step that sends segments to which no CRLF is added.
func (b Builder) Bytes(conn int, segments ...string) Step {
	do := &scenarios.Send{Conn: connName(conn), Raw: true}
	for _, text := range segments {
		do.Segments = append(do.Segments, b.Parse(text)...)
	}
	return Step{Do: do}
}

// Await returns a step that awaits the answers that a connection owes.
func (b Builder) Await(conn int) Step {
	whatever, _ := scenarios.ParseChoices(b.Dialect, "<any>") // every dialect has it
	return Step{Do: &scenarios.Expect{Conn: connName(conn), Choices: whatever}}
}

// Signal returns a step in which an operator quiets or terminates a worker.
func (b Builder) Signal(state, worker string) Step {
	return Step{Do: &scenarios.Operate{Action: target.Action(state), Worker: b.Parse(worker)[0]}}
}

// Parse returns the segments of a text.
func (b Builder) Parse(text string) []scenarios.Template {
	segments, err := scenarios.ParseTemplate(b.Dialect, text)
	if err != nil {
		segments, _ = scenarios.ParseTemplate(b.Dialect, strings.ReplaceAll(text, "$", "$$")) // there is no name in it
	}
	return segments
}

// End returns a step that ends a connection.
func End(conn int, ending scenarios.Ending) Step {
	return Step{Do: &scenarios.Send{Conn: connName(conn), Ending: ending}}
}

// Wait returns a step that lets time pass.
func Wait(d time.Duration) Step { return Step{Do: &scenarios.Silence{For: d}} }

// Disrupt returns a step that does something to the server.
func Disrupt(action target.Action) Step { return Step{Do: &scenarios.Operate{Action: action}} }

// Tokens are a text in pieces that mutations do not go through: bytes, and names.
type Tokens []string

// Tokenize splits a text.
func (b Builder) Tokenize(text string) Tokens { return tokens(b.Parse(text)) }

// tokens are those of segments.
func tokens(segments []scenarios.Template) Tokens {
	var all Tokens
	for _, t := range segments {
		for i := range t {
			isName := false
			text := t[i : i+1].Expand(func(name scenarios.Name) string { isName = true; return name.String() })
			if isName {
				all = append(all, text)
				continue
			}
			for _, b := range []byte(text) {
				all = append(all, string([]byte{b}))
			}
		}
	}
	return all
}

// String writes tokens as they stand in steps.
func (t Tokens) String() string {
	var b strings.Builder
	for _, s := range t {
		if s == "$" {
			b.WriteByte('$')
		}
		b.WriteString(s)
	}
	return b.String()
}

// Put returns a copy in which others are in the place of the tokens [from,to).
func (t Tokens) Put(from, to int, others ...string) Tokens {
	return slices.Concat(t[:from], others, t[to:])
}
