package scenarios

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
)

// greet waits for the server's greeting, if the protocol has one, and introduces the
// client.
func (th *thread) greet(ctx context.Context, c *conn) error {
	var a session.Received
	if c.Status().Owed > 0 {
		var err error
		if a, err = c.Answer(ctx); err != nil {
			return err
		}
	}
	hello, ok := th.dialect().Hello(c.role, c.state)
	if !ok {
		return th.unwelcome("", a)
	}
	if hello.Words == "" {
		return nil
	}
	return th.introduce(ctx, c, hello)
}

// introduce sends the client's introduction and takes the answer.
func (th *thread) introduce(ctx context.Context, c *conn, hello Hello) error {
	line, err := th.helloLine(c, hello)
	if err != nil {
		return &unableError{err}
	}
	command, err := th.dialect().Grammar().Encode(line)
	if err != nil {
		return &unableError{err}
	}
	c.recordSent(line)
	if err := c.Write(ctx, [][]byte{command}, 0); err != nil {
		return err
	}
	a, err := c.Answer(ctx)
	if err != nil {
		return err
	}
	if a.Ending == Open && !a.GaveUp {
		th.Peers.seen.note(welcoming)
	}
	if c.Status().Phase == session.Greeting {
		if a.Whole() && th.dialect().Grammar().refused(a.Message) {
			c.admission.Declined(a.String())
		}
		return th.unwelcome(th.dialect().Grammar().verbOf(line), a)
	}
	if a.Trailing > 0 { // it has to be there when the next line is sent
		c.Peek(ctx, time.Now().Add(trailingWait))
	}
	return nil
}

// helloLine returns the line with which the client introduces itself; the fields of the
// script's connect replace or complement those of the dialect.
func (th *thread) helloLine(c *conn, hello Hello) (string, error) {
	grammar := th.dialect().Grammar()
	words, err := parseTemplate(&cursor{line: hello.Words, grammar: grammar})
	if err != nil {
		return "", err
	}
	line, err := th.text(c, words[0], true)
	if err != nil || hello.Fields == nil && c.hello == nil {
		return line, err
	}
	with := c.hello
	if with == nil {
		with = &Object{}
	}
	object, err := th.merged(c, grammar.object(hello.Fields), with)
	return line + " " + object, err
}

// unableError is the error of a client that cannot introduce itself, whatever the server answers: it does not compute a
// password hash of too many rounds.
type unableError struct{ cause error }

func (e *unableError) Error() string { return e.cause.Error() }

// errUnwelcome is the error of a greeting that the server answered in another way than
// expected.
var errUnwelcome = errors.New("the greeting failed")

// unwelcome returns the error of a greeting that failed: by the answer to a verb, or by
// the first message if the verb is empty.
func (th *thread) unwelcome(verb string, a session.Received) error {
	on, instead := "on "+verb, verb+" was answered with"
	greeting := th.dialect().Grammar().Greeting
	if verb == "" {
		on, instead = "instead of sending "+greeting, "instead of "+greeting+" came"
	}
	switch {
	case a.Ending == Reset:
		return fmt.Errorf("the greeting failed: the server reset the connection %s", on)
	case a.Ending != Open:
		return fmt.Errorf("the greeting failed: the server closed the connection %s", on)
	case a.GaveUp && a.Pending == "" && verb == "":
		return fmt.Errorf("the greeting failed: no %s came", greeting)
	case a.GaveUp && a.Pending == "":
		return fmt.Errorf("the greeting failed: %s was not answered", verb)
	case a.GaveUp:
		return fmt.Errorf("the greeting failed: %s %s", instead, a)
	}
	return fmt.Errorf("%w: %s %s", errUnwelcome, instead, a)
}

// keepAlive sends the Question on connections of consumers that have been idle too long,
// where the protocol asks for it, during the step at a position.
func (th *thread) keepAlive(ctx context.Context, at Pos) {
	every := th.dialect().Grammar().KeepAlive
	if every == 0 {
		return
	}
	for _, c := range th.mine() {
		status := c.Status()
		alive := status.Phase == session.Serving || status.Phase == session.Restricted
		if c.role != Consumer || !alive || status.Owed > 0 || c.excused.Load() || c.Ended() != Open ||
			time.Since(c.lastAlive) < every {
			continue
		}
		if _, came := c.Waiting(); came {
			continue
		}
		line := th.dialect().Question(c.role, c.state)
		command, err := th.dialect().Grammar().Encode(line)
		if err != nil {
			continue
		}
		c.recordSent(line)
		c.lastAlive = time.Now()
		switch a, err := c.Aside(ctx, command); {
		case err != nil:
		case a.GaveUp:
			c.unjudged = &doubt{OutOfStep, "a " + th.dialect().Grammar().verbOf(line) + " of the engine was not answered"}
		case a.Whole() && c.Status().Owed == 0:
			th.answered(c, at, a) // whether it is the right answer otherwise is for scripts that ask
		}
	}
}
