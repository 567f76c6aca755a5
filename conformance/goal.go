package conformance

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/scenarios/play"
)

// Goal is what must have happened in a conversation for a pass of a clause to mean something: an event, and not
// that a line was played.
type Goal struct {
	Words    string // completes "it was never seen that"
	Happened func([]Exchange) bool
}

// NewGoal returns the goal that one of the commands of a conversation had a reply for which is returns true: both as
// the conversation has them, on one line. The words complete "it was never seen that".
func NewGoal(words string, is func(sent, reply string, took time.Duration) bool) Goal {
	return Goal{words, AnyOf(func(x Exchange) bool { return x.Got != "" && is(x.Sent, x.Got, x.Took()) })}
}

// AnyOf returns the goal of a single exchange.
func AnyOf(is func(Exchange) bool) func([]Exchange) bool {
	return func(all []Exchange) bool { return slices.ContainsFunc(all, is) }
}

// Exchange is a line of a client with its reply.
type Exchange struct {
	Conn      string
	Sent, Got string // as in the conversation; sent is empty for the greeting, got if there was no reply
	at, until time.Duration
	Ended     bool // the server ended the connection instead
}

// Verb returns the first word of the line.
func (x Exchange) Verb() string {
	verb, _, _ := strings.Cut(strings.TrimSpace(x.Sent), " ")
	return strings.ToUpper(verb)
}

// Kind returns the first byte of the reply, 0 if there was none.
func (x Exchange) Kind() byte {
	if x.Got == "" {
		return 0
	}
	return x.Got[0]
}

// Took returns how long the reply took, from the last line of the command.
func (x Exchange) Took() time.Duration { return x.until - x.at }

// Exchanges pairs the commands of a conversation with their replies, in the order of the replies. A command may have
// several lines; a server that greets does so unasked.
func Exchanges(greeting string, conversation []play.Line) []Exchange {
	greets := func(l play.Line) bool { return greeting != "" && strings.HasPrefix(l.Text, "+"+greeting+" ") }
	owed := map[string][]Exchange{}
	var all []Exchange
	for _, l := range conversation {
		switch {
		case l.From == "C" && l.GoesOn && len(owed[l.Conn]) > 0:
			last := &owed[l.Conn][len(owed[l.Conn])-1]
			last.Sent, last.at = last.Sent+`\r\n`+l.Text, l.At
		case l.From == "C" && !l.Ended:
			owed[l.Conn] = append(owed[l.Conn], Exchange{Conn: l.Conn, Sent: l.Text, at: l.At})
		case l.From != "S":
		default:
			x := Exchange{Conn: l.Conn, at: l.At}
			if waiting := owed[l.Conn]; len(waiting) > 0 && !greets(l) {
				x, owed[l.Conn] = waiting[0], waiting[1:]
			}
			if x.until = l.At; l.Ended {
				x.Ended = true
			} else {
				x.Got = cmp.Or(l.Means, l.Text)
			}
			all = append(all, x)
		}
	}
	return all
}
