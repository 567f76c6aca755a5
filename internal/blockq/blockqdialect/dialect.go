// Package blockqdialect is blockq as a dialect of scripts. It exists for tests only.
package blockqdialect

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/internal/blockq"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// Dialect is a second protocol: the client speaks first, a command may have a
// second line, and a message may have parts.
type Dialect struct{}

// The kinds of messages.
var kinds = map[blockq.Kind]byte{blockq.OK: 'O', blockq.Err: 'E', blockq.None: 'N', blockq.Job: 'J', blockq.Count: 'C'}

// Begin implements [scenarios.Dialect].
func (Dialect) Begin(_ session.Side, from io.Reader) (session.Reader, session.State) {
	return reader{blockq.NewReader(from)}, &state{}
}

// Text implements [scenarios.Dialect].
func (Dialect) Text(m session.Message) string {
	words := []string{"another"}
	for kind, b := range kinds {
		if b == m.Kind {
			words = []string{string(kind)}
		}
	}
	if len(m.Text) > 0 {
		words = append(words, string(m.Text))
	}
	for _, p := range m.Parts {
		words = append(words, string(p))
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
		Families: []string{"id", "name", "queue"},
		Client:   "name",
	}
}

// Hello implements [scenarios.Dialect].
func (Dialect) Hello(scenarios.Role, session.State) (scenarios.Hello, bool) {
	return scenarios.Hello{Words: "join $name"}, true
}

// Question implements [scenarios.Dialect].
func (Dialect) Question(scenarios.Role, session.State) string { return blockq.VerbPing }

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
	whole := string(spoken.begun) + string(line) + "\r\n"
	c, _, err := blockq.ParseCommand([]byte(whole))
	free := c.Verb == blockq.VerbJoin || c.Verb == blockq.VerbPing || c.Verb == blockq.VerbBye
	switch {
	case errors.Is(err, blockq.ErrShort):
		return "", nil
	case err != nil:
		return err.Error(), nil
	case spoken.phase == session.Greeting && !free:
		return "join first", nil
	case len(c.ID) > 40:
		return "", []scenarios.Advice{{Message: "a long id"}}
	}
	return "", nil
}

// Sample implements [scenarios.Dialect].
func (Dialect) Sample(introduced bool) session.State {
	s := &state{}
	if introduced {
		s.phase = session.Serving
	}
	return s
}

// NewLedger implements [scenarios.Dialect].
func (Dialect) NewLedger() scenarios.Ledger {
	return &ledger{queues: map[string]string{}, held: map[string]bool{}}
}

type reader struct{ *blockq.Reader }

func (r reader) Read() (session.Message, error) {
	reply, err := r.Reader.Read()
	if syntax, is := errors.AsType[*blockq.SyntaxError](err); is {
		return session.Message{}, &session.SyntaxError{
			Rule: "grammar", Offset: syntax.Offset, Expected: syntax.Expected, Got: syntax.Got,
		}
	}
	m := session.Message{Kind: kinds[reply.Kind], Text: []byte(reply.Reason)}
	switch reply.Kind {
	case blockq.Count:
		m.Text = strconv.AppendInt(nil, int64(reply.N), 10)
	case blockq.Job:
		m.Parts = [][]byte{[]byte(reply.ID), slices.Clone(reply.Block)}
	}
	return m, err
}

func (r reader) Pending() (what, rule string) {
	if len(r.Reader.Buffered()) == 0 {
		return "", ""
	}
	return "the rest of a reply", "grammar"
}

func (r reader) Buffered() int { return len(r.Reader.Buffered()) }

// state joins the lines of a command.
type state struct {
	begun []byte   // of a command that is not whole yet
	asked []byte   // the last command
	verbs []string // of the commands that are not answered
	verb  string
	phase session.Phase
}

func (s *state) Sent(b []byte) {
	for s.begun = append(s.begun, b...); len(s.begun) > 0; {
		c, n, err := blockq.ParseCommand(s.begun)
		if errors.Is(err, blockq.ErrShort) {
			return
		}
		if n == 0 {
			n = len(s.begun)
		}
		s.asked, s.begun, s.verb = slices.Clone(s.begun[:n]), s.begun[n:], c.Verb
		if c.Verb == blockq.VerbBye {
			s.phase = session.Over
			continue
		}
		s.verbs = append(s.verbs, c.Verb)
	}
}

func (s *state) Turn(session.Message) session.Turn {
	if len(s.verbs) > 0 {
		return session.Answer
	}
	return session.Unasked
}

func (s *state) Received(m session.Message) {
	if len(s.verbs) == 0 {
		return
	}
	if s.verbs[0] == blockq.VerbJoin && m.Kind == 'O' && s.phase == session.Greeting {
		s.phase = session.Serving
	}
	s.verbs = s.verbs[1:]
}

func (s *state) Status() session.Status {
	status := session.Status{Phase: s.phase, Owed: len(s.verbs), Verb: s.verb, Asked: s.asked}
	if s.phase == session.Serving {
		status.Farewell = []byte("bye\r\n")
	}
	return status
}

// ledger knows the queue of each job, and which are taken.
type ledger struct {
	mu     sync.Mutex
	queues map[string]string
	held   map[string]bool
}

func (l *ledger) Answered(command []byte, m session.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, _, _ := blockq.ParseCommand(command)
	switch {
	case m.Kind == 'J':
		l.held[string(m.Parts[0])] = true
	case m.Kind == 'O' && c.Verb == blockq.VerbPut:
		l.queues[c.ID] = c.Queue
	case m.Kind == 'O' && c.Verb == blockq.VerbDone:
		delete(l.queues, c.ID)
		delete(l.held, c.ID)
	}
}

func (l *ledger) Breach([]byte, session.Message) scenarios.Breach { return scenarios.Breach{} }

func (l *ledger) Signalled(string) {}

func (l *ledger) MayEnd(session.State) bool { return false }

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
