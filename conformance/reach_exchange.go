package conformance

import (
	"strings"
	"time"

	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// exchange is a line of a client with its reply.
type exchange struct {
	conn      string
	sent, got string // as in the conversation; sent is empty for the greeting, got if there was no reply
	at, until time.Duration
	ended     bool // the server ended the connection instead
}

// verb returns the first word of the line.
func (x exchange) verb() string {
	return strings.ToUpper(verbOf(x.sent))
}

// kind returns the first byte of the reply, 0 if there was none.
func (x exchange) kind() byte {
	if x.got == "" {
		return 0
	}
	return x.got[0]
}

func (x exchange) took() time.Duration { return x.until - x.at }

// exchanges pairs the commands of a conversation with their replies, in the order of the replies. A command may have
// several lines; a server that greets does so unasked.
func exchanges(greeting string, conversation []scenarios.Line) []exchange {
	greets := func(l scenarios.Line) bool { return greeting != "" && strings.HasPrefix(l.Text, "+"+greeting+" ") }
	owed := map[string][]exchange{}
	var all []exchange
	for _, l := range conversation {
		switch {
		case l.From == "C" && l.GoesOn && len(owed[l.Conn]) > 0:
			last := &owed[l.Conn][len(owed[l.Conn])-1]
			last.sent, last.at = last.sent+`\r\n`+l.Text, l.At
		case l.From == "C" && !l.Ended:
			owed[l.Conn] = append(owed[l.Conn], exchange{conn: l.Conn, sent: l.Text, at: l.At})
		case l.From != "S":
		default:
			x := exchange{conn: l.Conn, at: l.At}
			if waiting := owed[l.Conn]; len(waiting) > 0 && !greets(l) {
				x, owed[l.Conn] = waiting[0], waiting[1:]
			}
			if x.until = l.At; l.Ended {
				x.ended = true
			} else {
				x.got = l.Text
			}
			all = append(all, x)
		}
	}
	return all
}

// reach records which clauses that a play has passed it has reached the goals of. What it has passed without its goal
// is inconclusive: the goal of another check, in another situation, does not earn it.
func (s *runState) reach(c *reports.Check, e *Evidence) {
	if len(s.runner.parties()) > 0 { // a decision about a client has its goal with it
		return
	}
	var all []exchange
	for i := range c.Clauses {
		cv := &c.Clauses[i]
		if cv.Verdict != reports.Pass {
			continue
		}
		if all == nil {
			all = exchanges(s.runner.protocol().Dialect.Grammar().Greeting, e.Conversation)
		}
		switch goal, strict := s.runner.protocol().Goal(c.ID, cv.ID); {
		case goal.happened(all):
			s.reached[cv.ID] = true
		case strict:
			cv.Verdict, cv.Why, cv.Reason = reports.Inconclusive, neverSeen+goal.Words, reports.ReasonGoal
			if c.Verdict = reports.Worst(c.Verdict, cv.Verdict); len(c.Conversation) == 0 {
				c.Conversation = conversation(e)
			}
		}
	}
}

const neverSeen = "it was never seen that "

// goal makes a clause inconclusive that was passed, and whose goal was never reached.
func (s *runState) goal(c *reports.Clause) {
	goal, _ := s.runner.protocol().Goal("", c.ID)
	c.Goal, c.Reached = goal.Words, s.reached[c.ID]
	if c.Verdict == reports.Pass && !c.Reached {
		c.Verdict, c.Why, c.Reason = reports.Inconclusive, neverSeen+c.Goal, reports.ReasonGoal
	}
}
