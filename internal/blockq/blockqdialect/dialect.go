// Package blockqdialect is blockq as a dialect of scripts. It exists for tests only.
package blockqdialect

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/internal/blockq"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// Dialect is a second protocol: the client speaks first, a command may have a
// second line, and a message may have parts.
type Dialect struct{}

// kinds are those of messages, by the word with which a reply begins.
var kinds = map[string]byte{"OK": 'O', "ERR": 'E', "NONE": 'N', "JOB": 'J', "COUNT": 'C'}

// Begin implements [scenarios.Dialect].
func (Dialect) Begin(_ session.Side, from io.Reader) (session.Reader, session.State) {
	return session.NewReader(from, decode, blockq.Rule), newState(session.Greeting)
}

// decode reads a reply. A line that is a command is no reply.
func decode(b []byte) (m session.Message, n int, err error) {
	l, n, err := blockq.Parse(b)
	if err != nil {
		return m, 0, err
	}
	if m.Kind = kinds[l.Words[0]]; m.Kind == 0 {
		return m, 0, &session.SyntaxError{Rule: blockq.Rule, Expected: "a reply", Got: l.Words[0]}
	}
	m.Text = []byte(strings.Join(l.Words[1:], " "))
	if m.Kind == 'J' {
		m.Text, m.Parts = nil, [][]byte{m.Text, l.Block}
	}
	return m, n, nil
}

// Text implements [scenarios.Dialect].
func (Dialect) Text(m session.Message) string {
	words := []string{"another"}
	for word, kind := range kinds {
		if kind == m.Kind {
			words = []string{word}
		}
	}
	for _, p := range append([][]byte{m.Text}, m.Parts...) {
		if len(p) > 0 {
			words = append(words, string(p))
		}
	}
	return strings.Join(words, " ")
}

// Grammar implements [scenarios.Dialect].
func (Dialect) Grammar() *scenarios.Grammar {
	return &scenarios.Grammar{
		Encoding: "blockq",
		Example:  "C: join $name   and   S: OK",
		Forms: []scenarios.Form{
			{Sign: "OK", Kind: 'O', Words: "OK", Example: "OK"},
			{Sign: "ERR", Kind: 'E', Value: scenarios.LineValue, Words: "an error", Refusal: true},
			{Sign: "NONE", Kind: 'N', Words: "no job", Example: "NONE"},
			{Sign: "JOB", Kind: 'J', Value: scenarios.PartsValue, Words: "a job", Example: `JOB $id "text"`},
			{Sign: "COUNT", Kind: 'C', Value: scenarios.NumberValue, Words: "a count"},
		},
		Names: scenarios.Names{Families: []string{"id", "name", "queue"}, Client: "name"},
	}
}

// Hello implements [scenarios.Dialect].
func (Dialect) Hello(scenarios.Role, session.State) (scenarios.Hello, bool) {
	return scenarios.Hello{Words: "join $name"}, true
}

// Question implements [scenarios.Dialect].
func (Dialect) Question(scenarios.Role, session.State) string { return "ping" }

// Foreign implements [scenarios.Dialect].
func (Dialect) Foreign(asked []byte, m session.Message) bool {
	verb, _, _ := strings.Cut(string(asked), " ")
	has := map[string]string{"take": "JN", "count": "C"}[strings.TrimSpace(verb)]
	if has == "" {
		has = "O"
	}
	return m.Kind != 'E' && !strings.Contains(has, string(rune(m.Kind)))
}

// Check implements [scenarios.Dialect].
func (Dialect) Check(_ scenarios.Role, s session.State, line []byte) (string, []scenarios.Advice) {
	spoken := s.(*state) //nolint:forcetypeassert // the dialect's own
	c, _, err := blockq.Parse(slices.Concat(spoken.Begun(), line, []byte("\r\n")))
	switch {
	case errors.Is(err, session.ErrShort):
		return "", nil
	case err != nil:
		syntax, _ := errors.AsType[*session.SyntaxError](err) // it is one
		return fmt.Sprintf("byte %d: expected %s", syntax.Offset, syntax.Expected), nil
	case spoken.Phase == session.Greeting && !slices.Contains([]string{"join", "ping", "bye"}, c.Words[0]):
		return "join first", nil
	case len(c.Words) > 2 && len(c.Words[2]) > 40:
		return "", []scenarios.Advice{{Message: "a long id"}}
	}
	return "", nil
}

// Sample implements [scenarios.Dialect].
func (Dialect) Sample(introduced bool) session.State {
	if introduced {
		return newState(session.Serving)
	}
	return newState(session.Greeting)
}

// NewLedger implements [scenarios.Dialect].
func (Dialect) NewLedger() scenarios.Ledger {
	return &ledger{queues: map[string]string{}, held: map[string]bool{}}
}

// state is a conversation whose clients introduce themselves with join.
type state struct{ session.Exchange }

func newState(phase session.Phase) *state {
	return &state{session.Exchange{Phase: phase, Farewell: []byte("bye\r\n"), Parse: parse}}
}

// parse reads a command, for the state. One that is wrong goes as far as the bytes do.
func parse(b []byte) (verb string, n int, last bool) {
	c, n, err := blockq.Parse(b)
	switch {
	case errors.Is(err, session.ErrShort):
		return "", 0, false
	case err != nil && n == 0:
		n = len(b)
	}
	if len(c.Words) > 0 {
		verb = c.Words[0]
	}
	return verb, n, verb == "bye"
}

// Received implements [session.State].
func (s *state) Received(m session.Message) {
	if s.Answering() == "join" && m.Kind == 'O' && s.Phase == session.Greeting {
		s.Phase = session.Serving
	}
	s.Exchange.Received(m)
}

// ledger knows the queue of each job, and which are taken.
type ledger struct {
	scenarios.NoLedger

	mu     sync.Mutex
	queues map[string]string
	held   map[string]bool
}

func (l *ledger) Answered(command []byte, m session.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, _, err := blockq.Parse(command)
	switch {
	case m.Kind == 'J':
		l.held[string(m.Parts[0])] = true
	case m.Kind != 'O' || err != nil:
	case c.Words[0] == "put":
		l.queues[c.Words[2]] = c.Words[1]
	case c.Words[0] == "done":
		delete(l.queues, c.Words[1])
		delete(l.held, c.Words[1])
	}
}

func (l *ledger) Removable() bool { return len(l.Leftover()) > 0 }

func (l *ledger) Leftover() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.queues))
}

func (l *ledger) Cleanup(do func(line string) (session.Message, bool)) {
	for _, id := range l.Leftover() {
		l.mu.Lock()
		queue, held := l.queues[id], l.held[id]
		l.mu.Unlock()
		for !held { // others of the play may come first
			m, ok := do("take " + queue)
			if !ok || m.Kind != 'J' {
				return
			}
			held = string(m.Parts[0]) == id
		}
		do(fmt.Sprintf("done %s", id))
	}
}
