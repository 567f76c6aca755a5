package upgrade

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/values"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
)

// recordedConn is a connection whose commands are recorded. Behind a reply that cannot be read it is another one of the
// same worker.
type recordedConn struct {
	*fwpscript.Client

	filler *filler
	wid    string
	record *history.Client
}

func (k *filler) connect(wid string) (*recordedConn, error) {
	k.conn++
	c := &recordedConn{filler: k, wid: wid, record: k.site.History.Client(10*k.site.Step+k.conn, wid)}
	return c, c.greet()
}

// greet opens the connection.
func (c *recordedConn) greet() error {
	nc, err := c.filler.site.Target.Dial(c.filler.ctx)
	if err != nil {
		return err
	}
	client, err := fwpscript.Greet(c.filler.ctx, nc, c.wid, c.filler.site.Password, c.filler.site.Timeout)
	if err != nil {
		client.Leave()
		return err
	}
	c.Client = client
	return nil
}

// errUnreadable is the error of a command whose reply cannot be read. The reply is reported already, and a new
// connection is open.
var errUnreadable = errors.New("the reply cannot be read")

// maxUnreadable is how many replies may be unreadable before nothing more is asked.
const maxUnreadable = 1000

// ask sends a command about a job, if jid is not empty, and a BEAT before it when it is time for one. One reply that
// breaks the grammar does not keep the other jobs from being asked for.
func (c *recordedConn) ask(jid, line string) (m session.Message, err error) {
	if err = c.recoverConn("", fwp.BEAT, c.KeepAlive()); err == nil || errors.Is(err, errUnreadable) {
		m, err = c.Ask(line)
	}
	return m, c.recoverConn(jid, fwp.SplitCommand([]byte(line)).Verb, err)
}

// recoverConn returns an error, or errUnreadable in the place of one that tells of a breach of the grammar.
func (c *recordedConn) recoverConn(jid, verb string, err error) error {
	syntaxErr, ok := errors.AsType[*session.SyntaxError](err)
	if !ok || syntaxErr.IsLimit {
		return err
	}
	c.filler.noteUnreadable(jid, verb, syntaxErr)
	if c.filler.unreadableReplies++; c.filler.unreadableReplies > maxUnreadable {
		return fmt.Errorf("more than %d replies cannot be read: %w", maxUnreadable, err)
	}
	c.Leave()
	if err := c.greet(); err != nil {
		return err
	}
	return errUnreadable
}

// noteUnreadable tells that a reply cannot be read, and that what became of its job is not known from now on, unless
// that was told before.
func (k *filler) noteUnreadable(jid, verb string, syntaxErr *session.SyntaxError) {
	f := Fact{
		State: k.state, Fate: FateUnknown, Expected: syntaxErr.Expected,
		Clause: cmp.Or(model.ClauseOf(scenarios.BreachOf(syntaxErr).Name()), "FWP-RESP-01"),
		Actual: "to " + strings.TrimSpace(verb+" of "+jid) + " came what cannot be read: " + syntaxErr.Error(),
	}
	// An LF that ends no line is inside of a text: the reader takes one behind which a reply may begin as the end.
	if slices.Contains([]string{fwp.RuleLineEnd.String(), fwp.RuleTextBreak.String()}, syntaxErr.Rule) {
		f.Clause = "FWP-RESP-07"
	}
	if j := k.byID[jid]; j != nil {
		f.State = j.State
		if j.IsOver, j.IsMissing = false, true; !j.progress.hasFact {
			f.Job, j.progress.hasFact = j, true
		}
	}
	if jid != "" {
		k.isUnclear[jid] = true
	}
	k.site.Tell(f)
}

// report sends a PUSH, an ACK or a FAIL and returns whether it was accepted.
func (c *recordedConn) report(e history.Event, argument string) (isAccepted bool, err error) {
	call := c.record.Call(e)
	_, err = c.ask(e.JID, e.Op.String()+" "+argument)
	switch _, isRefused := errors.AsType[*fwpscript.RefusedError](err); {
	case errors.Is(err, errUnreadable):
		return false, nil
	case isRefused:
		call.Return(history.Refused)
		return false, nil
	case err == nil:
		call.Return(history.OK)
	}
	return err == nil, err
}

// fetch returns a job, nil if there is none, and an empty one if it cannot be read.
func (c *recordedConn) fetch(queues ...string) (job []byte, err error) {
	call := c.record.Call(history.Event{Op: history.Fetch, Queues: queues[:1]})
	m, err := c.ask("", "FETCH "+strings.Join(queues, " "))
	if errors.Is(err, errUnreadable) {
		c.filler.unreadFetches++
		return []byte{}, nil
	}
	if err != nil {
		return nil, err
	}
	if fwp.Kind(m.Kind) != fwp.BulkString {
		call.Return(history.Empty)
		return nil, nil
	}
	call.Delivered(fwp.JIDOf(m.Text), "", "")
	return m.Text, nil
}

// ack reports a job as done.
func (c *recordedConn) ack(jid string) (isAccepted bool, err error) {
	return c.report(history.Event{Op: history.Ack, JID: jid}, `{"jid":`+values.Quote(jid)+`}`)
}
