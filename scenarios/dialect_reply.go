package scenarios

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/session/fwpsession"
	"github.com/fwpsuite/fwp/internal/text"
)

// foreign reports whether a reply is none of those that the command's list of
// responses has; verb is empty for the greeting. An error may come to every
// command, and nothing is known of other verbs. (Client Commands, Responses)
func foreign(verb string, r fwp.Reply) bool {
	okay := r.Kind == fwp.SimpleString && string(r.Text) == "OK"
	switch {
	case r.Kind == fwp.ErrorReply:
		return false
	case verb == "":
		hash, is := bytes.CutPrefix(r.Text, []byte("HI "))
		return r.Kind != fwp.SimpleString || !is || !isObject(hash)
	}
	switch verb {
	case fwp.HELLO, fwp.FLUSH, fwp.END, fwp.PUSH, fwp.ACK, fwp.FAIL:
		return !okay
	case fwp.INFO:
		return r.Kind != fwp.BulkString
	case fwp.FETCH:
		return r.Kind != fwp.NullBulk && (r.Kind != fwp.BulkString || !isObject(r.Text))
	case fwp.BEAT:
		state := r.Kind == fwp.SimpleString || r.Kind == fwp.BulkString
		return !okay && (!state || !isObject(r.Text))
	}
	return false
}

// prompt reports whether a command can be answered at once; FETCH may wait for a
// job.
func prompt(verb string) bool { return verb != fwp.FETCH }

func isObject(b []byte) bool {
	value, err := parseJSON(b)
	_, is := value.(map[string]any)
	return err == nil && is
}

// foreignTo reports whether a reply that a line did not expect is none that the
// command has at all. Then it says nothing about what the line is for. A line
// that expects an error and nothing else is about the difference.
func (e *Expect) foreignTo(a session.Received) bool {
	if !a.Whole() || a.Owed != 1 || !foreign(fwp.SplitCommand(bytes.TrimRight(a.Asked, "\r\n")).Verb, fwpsession.Reply(a.Message)) {
		return false
	}
	for i := range e.Choices {
		if ch := &e.Choices[i]; ch.ending == Open && ch.kind != fwp.ErrorReply {
			return true
		}
	}
	return false
}

// noteForeign notes a reply that the command does not have.
func (l *lane) noteForeign(c *conn, e *Expect, a session.Received) {
	l.breach(Breach{Pos: e.Pos, Kind: ForeignReply, Verb: c.Status().Verb, Conn: c.name, At: l.since(a), Expected: e.expected(), Got: text.Shorten(a.String())})
}

// unanswered notes a command, or a connection, that a server which lives has not
// answered.
func (l *lane) unanswered(c *conn, at Pos, a session.Received) {
	verb := c.Status().Verb
	kind, what := NoReply, "a reply to "+verb
	switch {
	case verb == "" && !c.Answered():
		kind, what = NoGreeting, "a greeting"
	case verb == "":
		what = "a reply to an empty line"
	}
	got := a.String()
	if c.Stuck() != nil {
		got += ": " + c.Stuck().Error()
	}
	l.breach(Breach{Pos: at, Kind: kind, Verb: c.Status().Verb, Conn: c.name, At: l.since(a), Expected: what, Got: got})
}

// mute reports whether a line was given up on that waits for a reply and for
// nothing else. A line with a window is about the time, and tells it itself.
func (e *Expect) mute(a session.Received) bool {
	if !a.GaveUp || a.Pending != "" || e.Within != (Window{}) {
		return false
	}
	for i := range e.Choices {
		if e.Choices[i].ending != Open {
			return false
		}
	}
	return true
}

// errUnwelcome is what a greeting fails with if the server answers, whatever it
// says.
var errUnwelcome = errors.New("the greeting failed")

// unwelcome is the error of a greeting that something else came to than was expected:
// to HELLO, or first of all if the verb is empty.
func unwelcome(verb string, a session.Received) error {
	on, instead := "on "+verb, verb+" was answered with"
	if verb == "" {
		on, instead = "instead of sending HI", "instead of HI came"
	}
	switch {
	case a.Ending == Reset:
		return fmt.Errorf("the greeting failed: the server reset the connection %s", on)
	case a.Ending != Open:
		return fmt.Errorf("the greeting failed: the server closed the connection %s", on)
	case a.GaveUp && a.Pending == "" && verb == "":
		return errors.New("the greeting failed: no HI came")
	case a.GaveUp && a.Pending == "":
		return fmt.Errorf("the greeting failed: %s was not answered", verb)
	case a.GaveUp:
		return fmt.Errorf("the greeting failed: %s %s", instead, a)
	}
	return fmt.Errorf("%w: %s %s", errUnwelcome, instead, a)
}

// question is a command that every identified connection of this role is served,
// and that changes nothing. INFO makes a server look at all that it holds, so
// workers beat instead.
func (l *lane) question(c *conn) string {
	if c.role == Consumer {
		if wid, ok := l.widOf(c); ok {
			return fmt.Sprintf(`%s {"wid":%q}`, fwp.BEAT, wid)
		}
	}
	return fwp.INFO
}

// alive asks once, on a new connection in the role of like, which may be nil for
// a producer's. It returns the kind of reply that its question gets, or zero if
// the server lives and cannot be asked. A server lives if it answers anything:
// whether that is right is for the checks. What it does not answer, or that it lets
// nobody in, is an [unservedError].
func (l *lane) alive(ctx context.Context, timeout time.Duration, like *conn) (fwp.Kind, error) {
	p := &play{Player: Player{Target: l.Target, Password: l.Password, Timeout: timeout, Meter: new(Meter), Crowd: l.Crowd},
		conns: map[string]*conn{}, rec: &recorder{start: time.Now()}, scope: l.scope}
	inner := &lane{play: p, scope: l.scope}
	c, err := p.dial(ctx, "")
	if err != nil {
		return 0, &unservedError{opening, err.Error()}
	}
	defer c.leave(ctx)
	if c.role = Producer; like != nil && like.role == Consumer {
		c.role, c.hello = Consumer, like.hello
	}
	if l.Crowd.seen.hopeless(greets) {
		return 0, nil
	}
	_, sent := c.LastWrite()
	a, ok := c.Peek(ctx, sent.Add(timeout/2))
	hi, _ := fwpsession.ReadHi(a.Message)
	switch err := greeting(a); {
	case !ok:
		return 0, inner.provoke(ctx, c)
	case a.Ending != Open:
		return 0, &unservedError{greets, err.Error()}
	case fwp.Kind(a.Message.Kind) == fwp.ErrorReply: // it lives, and is at its limit of connections
		return 0, nil
	case err == nil && hi.Protected && l.Password == "", l.Crowd.seen.hopeless(welcoming):
		return 0, nil
	}
	if err := inner.greet(ctx, c); errors.Is(err, errUnwelcome) {
		return 0, nil
	} else if err != nil {
		return 0, &unservedError{welcoming, err.Error()}
	}
	question := inner.question(c)
	if l.Crowd.seen.hopeless(questions[fwp.SplitCommand([]byte(question)).Verb]) {
		return 0, nil
	}
	if a, err = inner.inquire(ctx, c, question); err != nil {
		return 0, err
	}
	return fwp.Kind(a.Message.Kind), nil
}

// provoke sees whether a server that has not greeted answers at all.
func (l *lane) provoke(ctx context.Context, c *conn) error {
	_, err := l.inquire(ctx, c, fwp.HELLO+` {"v":2}`)
	if unserved, is := errors.AsType[*unservedError](err); is {
		unserved.what = greets
	}
	return err
}

// inquire asks a question and takes what comes, if something comes.
func (l *lane) inquire(ctx context.Context, c *conn, line string) (session.Received, error) {
	verb := fwp.SplitCommand([]byte(line)).Verb
	a, err := c.Ask(ctx, []byte(line+"\r\n"))
	if err != nil || a.Ending != Open || a.GaveUp && a.Pending == "" {
		return a, &unservedError{questions[verb], verb + " on a new connection gets no answer"}
	}
	l.Crowd.seen.note(questions[verb])
	return a, nil
}
