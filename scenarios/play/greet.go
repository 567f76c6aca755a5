package play

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// greet waits for the server's greeting, if the protocol has one, and introduces the
// client.
func (th *thread) greet(ctx context.Context, c *conn) error {
	var a session.Received
	if c.Status().OwedMessages > 0 {
		var err error
		if a, err = c.Answer(ctx); err != nil {
			return err
		}
	}
	hello, ok := th.dialect().Hello(c.role, c.state)
	if !ok {
		return th.greetingError("", a)
	}
	if hello.Words == "" {
		return nil
	}
	return th.introduce(ctx, c, hello)
}

// introduce sends the client's introduction and takes the answer.
func (th *thread) introduce(ctx context.Context, c *conn, hello scenarios.Hello) error {
	line, err := th.renderer().Hello(c.state, hello, c.hello)
	if err != nil {
		return &unableError{err}
	}
	command, err := th.grammar().Encode(line)
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
	if a.Ending == scenarios.Open && !a.GaveUp {
		_, sent := c.LastWrite()
		th.noteReplyTime(sent, a.At)
		th.Peers.services.note(welcomeService)
	}
	if c.Status().Phase == session.Greeting {
		if a.IsComplete() && th.grammar().IsRefusal(a.Message) {
			c.admission.Declined(a.String())
		}
		return th.greetingError(th.grammar().VerbOf(line), a)
	}
	if a.Trailing > 0 { // it has to be there when the next line is sent
		c.Peek(ctx, time.Now().Add(trailingWait))
	}
	return nil
}

// unableError is the error of a client that cannot introduce itself, whatever the server answers: it does not compute a
// password hash of too many rounds.
type unableError struct{ cause error }

func (e *unableError) Error() string { return e.cause.Error() }

// errUnwelcome is the error of a greeting that the server answered in another way than
// expected.
var errUnwelcome = errors.New("the greeting failed")

// greetingError returns the error of a greeting that failed: by the answer to a verb, or by
// the first message if the verb is empty.
func (th *thread) greetingError(verb string, a session.Received) error {
	words, instead := "on "+verb, verb+" was answered with"
	greeting := th.grammar().Greeting
	if verb == "" {
		words, instead = "instead of sending "+greeting, "instead of "+greeting+" came"
	}
	switch {
	case a.Ending == scenarios.Reset:
		return fmt.Errorf("the greeting failed: the server reset the connection %s", words)
	case a.Ending != scenarios.Open:
		return fmt.Errorf("the greeting failed: the server closed the connection %s", words)
	case a.GaveUp && a.Pending == "" && verb == "":
		return &unservedError{service: greetingService, words: fmt.Sprintf("the greeting failed: no %s came", greeting)}
	case a.GaveUp && a.Pending == "":
		return fmt.Errorf("the greeting failed: %s was not answered", verb)
	case a.GaveUp:
		return fmt.Errorf("the greeting failed: %s %s", instead, a)
	}
	return fmt.Errorf("%w: %s %s", errUnwelcome, instead, a)
}

// keepAlive sends the Probe on connections of consumers that have been idle too long,
// where the protocol asks for it.
func (th *thread) keepAlive(ctx context.Context) {
	every := th.grammar().Timing.KeepAlive
	if every == 0 {
		return
	}
	for _, c := range th.ownConns() {
		if !c.isQuiet() || time.Since(c.lastAlive) < every {
			continue
		}
		line := th.dialect().Probe(c.role, c.state)
		command, err := th.grammar().Encode(line)
		if err != nil {
			continue
		}
		c.recordSent(line)
		c.lastAlive = time.Now()
		switch a, err := c.Aside(ctx, command); {
		case err != nil:
		case a.GaveUp:
			c.unjudged = &doubt{SetUp, false, "a " + th.grammar().VerbOf(line) + " of the engine was not answered"}
		case a.IsComplete() && c.Status().OwedMessages == 0:
			th.ledger.Answered(a.Command, a.Message) // whether it is the right answer otherwise is for scripts that ask
		}
	}
}

// isQuiet reports whether the engine may send the Probe of a consumer: nothing is owed, and nothing has come.
func (c *conn) isQuiet() bool {
	status := c.Status()
	if c.role != scenarios.Consumer || status.OwedMessages > 0 || c.isExcused.Load() || c.Ending() != scenarios.Open ||
		status.Phase != session.Serving && status.Phase != session.Restricted {
		return false
	}
	_, ok := c.Poll()
	return !ok
}
