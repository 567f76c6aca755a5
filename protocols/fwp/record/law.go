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

// lawJudge has the law of the protocol judge what the server answers. Clients may reach the server in another way as
// well: the law judges connections, and the contents of jobs. What one sight does not prove is not told.
type lawJudge struct {
	start    time.Time
	watch    *law.Watch
	conns    map[int]*lawConn
	breaches []clientrules.Breach // by the event that is judged
}

// lawConn is a connection that the law judges.
type lawConn struct {
	session.Observer
	lastLine clientrules.Moment // the last line
}

// slack is by which a reply may be late for reasons of the network and of the queue.
const slack = 5 * time.Second

func newLawJudge(d law.Definition, password string, begun time.Time) *lawJudge {
	l := &lawJudge{start: begun, conns: map[int]*lawConn{}}
	l.watch = law.NewWatch(d, law.Terms{IsShared: true, Password: password, Slack: slack})
	l.watch.SetHandler(func(s law.Occurrence) {
		if s.IsUnproven() || s.IsRecommendation {
			return
		}
		b := clientrules.Breach{Name: LawPrefix + s.Rule + " " + s.Clause, At: s.At.Sub(begun)}
		if b.Text = fmt.Sprintf("expected %s, got %s", s.Expected, s.Got); s.Detail != "" {
			b.Text += "; " + s.Detail
		}
		b.Conn, _ = strconv.Atoi(s.Conn)
		if c := l.conns[b.Conn]; c != nil && c.lastLine.Text != "" {
			b.Evidence = []clientrules.Moment{c.lastLine}
		}
		l.breaches = append(l.breaches, b)
	})
	return l
}

// judge judges an event, and returns the breaches that it shows.
func (l *lawJudge) judge(e *clientrules.Event) []clientrules.Breach {
	l.breaches = nil
	c, at := l.conns[e.Conn], l.start.Add(e.At)
	switch {
	case e.Kind == clientrules.ConnOpen:
		l.conns[e.Conn] = &lawConn{Observer: l.watch.Dialed(strconv.Itoa(e.Conn))}
	case c == nil:
	case e.Kind == clientrules.Line && !e.IsUnread:
		c.lastLine = e.Moment()
		c.Sent(e.Raw, at)
	case e.Kind == clientrules.Reply:
		c.Received(session.Received{At: at, Message: fwpsession.Message(e.Reply)})
	case e.Kind == clientrules.ConnClose && e.Closer == clientrules.Server:
		l.end(e.Conn, c, session.Fin)
	case e.Kind == clientrules.Line, e.Kind == clientrules.BrokenReply, e.Kind == clientrules.ConnClose,
		e.Kind == clientrules.ByteLoss:
		l.end(e.Conn, c, session.Closed)
	}
	return l.breaches
}

func (l *lawJudge) end(conn int, c *lawConn, ending session.Ending) {
	c.Ended(ending)
	delete(l.conns, conn)
}

// finish returns the breaches that only the end of the recording shows.
func (l *lawJudge) finish() []clientrules.Breach {
	l.breaches = nil
	l.watch.Close()
	return l.breaches
}
