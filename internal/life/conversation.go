package life

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// OfConversation returns the calls of a conversation in a report, and what the line that is marked there, counted from
// 1, shows to be wrong.
func OfConversation(name string, lines []reports.Line, marked int, found reports.LifeFinding) *Record {
	c := &reader{record: &Record{Name: name, kind: ofConversation}, conns: map[string]*conn{}}
	at := -1
	for i := range lines {
		c.line(&lines[i])
		if i == marked-1 {
			at = c.last
		}
	}
	if found != (reports.LifeFinding{}) {
		f := Finding{LifeFinding: found}
		if at >= 0 && at < len(c.record.Calls) {
			f.Calls = []int{at}
		}
		c.record.Findings = []Finding{f}
	}
	return c.record
}

// scriptLine matches a line of a script that sends or receives.
var scriptLine = regexp.MustCompile(`^\s*([CS])(?:\[([^\]]*)\])?[^:]*: (.*)$`)

// OfScript returns the calls of a script, whose times are lines.
func OfScript(s *scenarios.Script) *Record {
	c := &reader{record: &Record{Name: s.Name, kind: ofScript}, conns: map[string]*conn{}}
	from := map[string]string{"C": reports.FromClient, "S": reports.FromServer}
	for step := range s.All() {
		n := step.Place().Line
		if o, ok := step.(*scenarios.Operate); ok {
			c.line(&reports.Line{At: time.Duration(n), From: reports.FromSuite, Text: string(o.Action)})
		} else if m := scriptLine.FindStringSubmatch(s.Source[n-1]); m != nil {
			c.line(&reports.Line{At: time.Duration(n), Conn: m[2], From: from[m[1]], Text: m[3]})
		}
	}
	return c.record
}

// reader makes calls of lines.
type reader struct {
	record *Record
	conns  map[string]*conn
	last   int // the call that the latest line belongs to
}

// conn is a connection: who is there, and the calls that have no reply yet, by their places; those of other commands
// are nil.
type conn struct {
	worker  string
	waiting [][]int
}

// verbs are the commands that move jobs. PUSHB is the extension's.
var verbs = map[string]history.Op{
	"PUSH": history.Push, "PUSHB": history.Push, "FETCH": history.Fetch, "ACK": history.Ack, "FAIL": history.Fail,
	"FLUSH": history.Flush,
}

// stops are the words of remarks about what was done to the server.
var stops = map[string]history.Op{"restart": history.Restart, "kill": history.Kill}

func (r *reader) line(l *reports.Line) {
	if r.conns[l.Conn] == nil {
		r.conns[l.Conn] = &conn{worker: cmp.Or(l.Conn, "client")}
	}
	c := r.conns[l.Conn]
	switch l.From {
	case reports.FromClient:
		r.sent(c, l)
	case reports.FromServer:
		r.received(c, l)
	default:
		for word, op := range stops {
			if strings.Contains(l.Text, word) {
				r.add(history.Event{Op: op, Outcome: history.OK, Call: l.At, Return: l.At})
			}
		}
	}
}

func (r *reader) add(e history.Event) int {
	r.last = len(r.record.Calls)
	r.record.Calls = append(r.record.Calls, e)
	return r.last
}

// sent takes a command.
func (r *reader) sent(c *conn, l *reports.Line) {
	verb, argument, _ := strings.Cut(l.Text, " ")
	if found := widField.FindStringSubmatch(argument); verb == "HELLO" && found != nil {
		c.worker = unquote(found[1])
	}
	e := history.Event{Op: verbs[verb], Worker: c.worker, Call: l.At, Return: -1}
	var calls []int
	switch e.Op {
	case 0:
	case history.Fetch:
		e.Queues = strings.Fields(argument)
		calls = append(calls, r.add(e))
	case history.Flush:
		calls = append(calls, r.add(e))
	default:
		if found := reserveFor.FindStringSubmatch(argument); found != nil {
			seconds := new(int64)
			if json.Unmarshal([]byte(found[1]), seconds) == nil {
				e.ReserveFor = seconds
			}
		}
		for _, jid := range jidField.FindAllStringSubmatch(argument, -1) {
			e.JID = unquote(jid[1])
			calls = append(calls, r.add(e))
		}
	}
	c.waiting = append(c.waiting, calls)
}

// received takes a reply, that to the first command which has none.
func (r *reader) received(c *conn, l *reports.Line) {
	if len(c.waiting) == 0 {
		return // a greeting
	}
	calls := c.waiting[0]
	c.waiting = c.waiting[1:]
	for _, i := range calls {
		e := &r.record.Calls[i]
		e.Outcome, e.Return, r.last = history.OK, l.At, i
		jid := jidField.FindStringSubmatch(l.Text)
		switch {
		case strings.HasPrefix(l.Text, "-"):
			e.Outcome = history.Refused
		case e.Op == history.Fetch && jid == nil:
			e.Outcome = history.Empty
		case e.Op == history.Fetch:
			e.JID = unquote(jid[1])
		}
	}
}

var (
	jidField   = regexp.MustCompile(`"jid":\s*"((?:[^"\\]|\\.)*)"`)
	widField   = regexp.MustCompile(`"wid":\s*"((?:[^"\\]|\\.)*)"`)
	reserveFor = regexp.MustCompile(`"reserve_for":\s*([0-9]{1,9})\b`)
)

// unquote returns the text of a string of JSON, or what is between its quotes if that is none.
func unquote(s string) string {
	var text string
	if json.Unmarshal([]byte(`"`+s+`"`), &text) != nil {
		return s
	}
	return text
}
