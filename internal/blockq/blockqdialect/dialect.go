// Package blockqdialect is blockq as a dialect of scripts. It exists for tests only.
package blockqdialect

import (
	"bytes"
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

// Begin implements [scenarios.Dialect].
func (Dialect) Begin(_ session.Side, from io.Reader) (session.Reader, session.State) {
	return session.NewReader(from, decode, blockq.Rule), newState(session.Greeting)
}

// forms are those of replies. The kind of one is the first letter of its word.
var forms = []scenarios.Form{
	{Sign: "OK", Kind: 'O', Words: "OK", Example: "OK"},
	{Sign: "ERR", Kind: 'E', Value: scenarios.LineValue, Words: "an error", Refusal: true},
	{Sign: "NONE", Kind: 'N', Words: "no job", Example: "NONE"},
	{Sign: "JOB", Kind: 'J', Value: scenarios.PartsValue, Words: "a job", Example: `JOB $id "text"`},
	{Sign: "COUNT", Kind: 'C', Value: scenarios.NumberValue, Words: "a count"},
}

// decode reads a reply. A line that is a command, which has small letters, is no reply.
func decode(b []byte) (m session.Message, n int, err error) {
	l, n, err := blockq.Parse(b)
	if err != nil {
		return m, 0, err
	}
	if m.Kind = l.Words[0][0]; m.Kind > 'Z' {
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
	i := slices.IndexFunc(forms, func(f scenarios.Form) bool { return f.Kind == m.Kind })
	if i < 0 {
		return "another"
	}
	words := append([][]byte{[]byte(forms[i].Sign), m.Text}, m.Parts...)
	words = slices.DeleteFunc(words, func(word []byte) bool { return len(word) == 0 })
	return string(bytes.Join(words, []byte(" ")))
}

// Grammar implements [scenarios.Dialect].
func (Dialect) Grammar() *scenarios.Grammar {
	return &scenarios.Grammar{
		Encoding: "blockq", Example: "C: join $name   and   S: OK", Forms: forms,
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
	kinds := "O"
	switch {
	case bytes.HasPrefix(asked, []byte("take ")):
		kinds = "JN"
	case bytes.HasPrefix(asked, []byte("count ")):
		kinds = "C"
	}
	return m.Kind != 'E' && !strings.ContainsRune(kinds, rune(m.Kind))
}

// Check implements [scenarios.Dialect].
func (Dialect) Check(_ scenarios.Role, s session.State, line []byte) (string, []scenarios.Advice) {
	spoken := s.(*session.Exchange) //nolint:forcetypeassert // the dialect's own
	c, _, err := blockq.Parse(slices.Concat(spoken.Begun(), line, []byte("\r\n")))
	switch syntax, wrong := errors.AsType[*session.SyntaxError](err); {
	case wrong:
		return fmt.Sprintf("byte %d: expected %s", syntax.Offset, syntax.Expected), nil
	case err == nil && spoken.Phase == session.Greeting && !slices.Contains([]string{"join", "ping", "bye"}, c.Words[0]):
		return "join first", nil
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
func (Dialect) NewLedger() scenarios.Ledger { return &ledger{queues: map[string]string{}} }

// newState returns a conversation whose clients introduce themselves with join.
func newState(phase session.Phase) session.State {
	joins := func(verb string, m session.Message) bool { return verb == "join" && m.Kind == 'O' }
	return &session.Exchange{Phase: phase, Introduces: joins, Farewell: []byte("bye\r\n"), Parse: parse}
}

// parse reads a command, for the state. One that is wrong goes as far as the bytes do.
func parse(b []byte) (verb string, n int, last bool) {
	c, n, err := blockq.Parse(b)
	switch {
	case errors.Is(err, session.ErrShort):
		return "", 0, false
	case n == 0:
		n = len(b)
	}
	return c.Words[0], n, c.Words[0] == "bye"
}

// ledger knows the queue of each job of the play, "" of one that was taken.
type ledger struct {
	scenarios.NoLedger

	mu     sync.Mutex
	queues map[string]string
}

func (l *ledger) Answered(command []byte, m session.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, _, err := blockq.Parse(command)
	switch {
	case m.Kind == 'J':
		if id := string(m.Parts[0]); l.queues[id] != "" {
			l.queues[id] = ""
		}
	case m.Kind != 'O' || err != nil:
	case c.Words[0] == "put":
		l.queues[c.Words[2]] = c.Words[1]
	case c.Words[0] == "done":
		delete(l.queues, c.Words[1])
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
		for queue := l.queue(id); queue != ""; queue = l.queue(id) { // others of the play may come first
			if m, ok := do("take " + queue); !ok || m.Kind != 'J' {
				return
			}
		}
		do("done " + id)
	}
}

func (l *ledger) queue(id string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queues[id]
}
