package record

import (
	"fmt"
	"strconv"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	fwpsession "github.com/fwpsuite/fwp/protocols/fwp/session"
)

// LawPrefix begins the name of a breach that the law of the protocol has found. The name of the rule follows, and
// behind a blank the clause.
const LawPrefix = "law/"

// lawful has the law of the protocol judge what the server answers. Clients may reach the server in another way as
// well: the law judges connections, and the contents of jobs. What one sight does not prove is not told.
type lawful struct {
	begun time.Time
	watch *law.Watch
	conns map[int]*followed
	found []clientrules.Breach // by the event that is judged
}

// followed is a connection that the law judges.
type followed struct {
	session.Observer
	asked clientrules.Moment // the last line
}

// slack is by which a reply may be late for reasons of the network and of the queue.
const slack = 5 * time.Second

func newLawful(d law.Definition, password string, begun time.Time) *lawful {
	l := &lawful{begun: begun, conns: map[int]*followed{}}
	l.watch = law.NewWatch(d, law.Terms{Shared: true, Password: password, Slack: slack})
	l.watch.Tell(func(s law.Seen) {
		if s.Unproven() || s.Should {
			return
		}
		b := clientrules.Breach{Name: LawPrefix + s.Rule + " " + s.Clause, At: s.At.Sub(begun)}
		if b.Text = fmt.Sprintf("expected %s, got %s", s.Expected, s.Got); s.What != "" {
			b.Text += "; " + s.What
		}
		b.Conn, _ = strconv.Atoi(s.Conn)
		if c := l.conns[b.Conn]; c != nil && c.asked.Text != "" {
			b.Shown = []clientrules.Moment{c.asked}
		}
		l.found = append(l.found, b)
	})
	return l
}

// see judges an event, and returns the breaches that it shows.
func (l *lawful) see(e *clientrules.Event) []clientrules.Breach {
	l.found = nil
	c, at := l.conns[e.Conn], l.begun.Add(e.At)
	switch {
	case e.Kind == clientrules.Opened:
		l.conns[e.Conn] = &followed{Observer: l.watch.Dialed(strconv.Itoa(e.Conn))}
	case c == nil:
	case e.Kind == clientrules.Line && !e.Unread:
		c.asked = e.Moment()
		c.Sent(e.Raw, at)
	case e.Kind == clientrules.Reply:
		c.Received(session.Received{At: at, Message: fwpsession.Message(e.Reply)})
	case e.Kind == clientrules.Closed && e.By == clientrules.Server:
		l.end(e.Conn, c, session.Fin)
	case e.Kind == clientrules.Line, e.Kind == clientrules.Broken, e.Kind == clientrules.Closed,
		e.Kind == clientrules.Lost:
		l.end(e.Conn, c, session.Closed)
	}
	return l.found
}

func (l *lawful) end(conn int, c *followed, how session.Ending) {
	c.Ended(how)
	delete(l.conns, conn)
}

// finish returns the breaches that only the end of the recording shows.
func (l *lawful) finish() []clientrules.Breach {
	l.found = nil
	l.watch.Close()
	return l.found
}
