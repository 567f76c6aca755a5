package scenarios_test

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

// blockqDialect is a second protocol: the client speaks first, a command may have a
// second line, and a message may have parts.
type blockqDialect struct{}

// The kinds of messages.
var blockqKinds = map[blockq.Kind]byte{blockq.OK: 'O', blockq.Err: 'E', blockq.None: 'N', blockq.Job: 'J', blockq.Count: 'C'}

func (blockqDialect) Begin(_ session.Side, from io.Reader) (session.Reader, session.State) {
	return blockqReader{blockq.NewReader(from)}, &blockqState{}
}

func (blockqDialect) Text(m session.Message) string {
	words := []string{"another"}
	for kind, b := range blockqKinds {
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

func (blockqDialect) Grammar() *scenarios.Grammar {
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

func (blockqDialect) Hello(scenarios.Role, session.State) (scenarios.Hello, bool) {
	return scenarios.Hello{Words: "join $name"}, true
}

func (blockqDialect) Question(scenarios.Role, session.State) string { return blockq.VerbPing }

func (blockqDialect) Foreign(asked []byte, m session.Message) bool {
	verb, _, _ := strings.Cut(string(asked), " ")
	kinds := map[string]string{"take": "JN", "count": "C"}[strings.TrimSpace(verb)]
	if kinds == "" {
		kinds = "O"
	}
	return m.Kind != 'E' && !strings.Contains(kinds, string(rune(m.Kind)))
}

func (blockqDialect) Check(_ scenarios.Role, s session.State, line []byte) (string, []scenarios.Advice) {
	state := s.(*blockqState)
	whole := string(state.begun) + string(line) + "\r\n"
	c, _, err := blockq.ParseCommand([]byte(whole))
	free := c.Verb == blockq.VerbJoin || c.Verb == blockq.VerbPing || c.Verb == blockq.VerbBye
	switch {
	case errors.Is(err, blockq.ErrShort):
		return "", nil
	case err != nil:
		return err.Error(), nil
	case state.phase == session.Greeting && !free:
		return "join first", nil
	case len(c.ID) > 40:
		return "", []scenarios.Advice{{Message: "a long id"}}
	}
	return "", nil
}

func (blockqDialect) Sample(introduced bool) session.State {
	s := &blockqState{}
	if introduced {
		s.phase = session.Serving
	}
	return s
}

func (blockqDialect) NewLedger() scenarios.Ledger {
	return &blockqLedger{queues: map[string]string{}, held: map[string]bool{}}
}

type blockqReader struct{ *blockq.Reader }

func (r blockqReader) Read() (session.Message, error) {
	reply, err := r.Reader.Read()
	if syntax, is := errors.AsType[*blockq.SyntaxError](err); is {
		return session.Message{}, &session.SyntaxError{Rule: "grammar", Offset: syntax.Offset, Expected: syntax.Expected, Got: syntax.Got}
	}
	m := session.Message{Kind: blockqKinds[reply.Kind], Text: []byte(reply.Reason)}
	switch reply.Kind {
	case blockq.Count:
		m.Text = strconv.AppendInt(nil, int64(reply.N), 10)
	case blockq.Job:
		m.Parts = [][]byte{[]byte(reply.ID), slices.Clone(reply.Block)}
	}
	return m, err
}

func (r blockqReader) Pending() (what, rule string) {
	if len(r.Reader.Buffered()) == 0 {
		return "", ""
	}
	return "the rest of a reply", "grammar"
}

func (r blockqReader) Buffered() int { return len(r.Reader.Buffered()) }

// blockqState joins the lines of a command.
type blockqState struct {
	begun []byte   // of a command that is not whole yet
	asked []byte   // the last command
	verbs []string // of the commands that are not answered
	verb  string
	phase session.Phase
}

func (s *blockqState) Sent(b []byte) {
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

func (s *blockqState) Turn(session.Message) session.Turn {
	if len(s.verbs) > 0 {
		return session.Answer
	}
	return session.Unasked
}

func (s *blockqState) Came(m session.Message) {
	if len(s.verbs) == 0 {
		return
	}
	if s.verbs[0] == blockq.VerbJoin && m.Kind == 'O' && s.phase == session.Greeting {
		s.phase = session.Serving
	}
	s.verbs = s.verbs[1:]
}

func (s *blockqState) Status() session.Status {
	status := session.Status{Phase: s.phase, Owed: len(s.verbs), Verb: s.verb, Asked: s.asked}
	if s.phase == session.Serving {
		status.Farewell = []byte("bye\r\n")
	}
	return status
}

// blockqLedger knows the queue of each job, and which are taken.
type blockqLedger struct {
	mu     sync.Mutex
	queues map[string]string
	held   map[string]bool
}

func (l *blockqLedger) Answered(command []byte, m session.Message) {
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

func (l *blockqLedger) Removable() bool { return len(l.Leftover()) > 0 }

func (l *blockqLedger) Leftover() (all []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(l.queues)) {
		all = append(all, id)
	}
	return all
}

func (l *blockqLedger) Cleanup(do func(line string) (session.Message, bool)) {
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
