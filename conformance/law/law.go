package law

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/target"
)

// Law follows the conversations of one play and evaluates what the server answers. Connections have numbers of the
// caller; names are those that stand on the wire. Every call has the time, of a command that of its beginning, and of a
// message that of its arrival. A Law is not safe for concurrent use.
type Law interface {
	// Open records that a connection began.
	Open(conn int, at time.Time)
	// Sent records bytes that a client sent. unbounded: they may be any number of commands.
	Sent(conn int, all []byte, unbounded bool, at time.Time) Sent
	// Judge judges a message and follows what it means.
	Judge(conn int, m session.Message, at time.Time) Answer
	// HalfClose records that a client has closed its half of a connection.
	HalfClose(conn int)
	// Close records the end of a connection, and judges it if the server was the one that ended it.
	Close(conn int, byServer bool, at time.Time) *Violation
	// Operated records what an operator did: a restart or a kill, which end all connections, or an order to a client to
	// enter a state; or that a pause or a partition, in which nothing has passed, is over.
	Operated(action target.Action, client string)
	// StopJudging ends the judging of a job, of all jobs if job is empty.
	StopJudging(job string)
}

// Pusher is a Law of a protocol whose server sends messages that answer no command. Law.Judge judges these too.
type Pusher interface {
	// NextMessage returns a message that the server has to send now, whatever clients do next; nil if there is none.
	NextMessage(now time.Time) *DueMessage
	// Missed records that the message did not come: it is no longer due.
	Missed(*DueMessage)
}

// SelfTimed is a Law of a protocol whose commands say themselves how long they wait.
type SelfTimed interface {
	// MayWait reports whether the command that is to be answered next on a connection may wait still.
	MayWait(conn int, now time.Time) bool
	// OverdueClause returns the clause by which that command has to be answered, since what it waits for has come; empty
	// if it has not.
	OverdueClause(conn int) string
}

// Idler is a Law that knows when a command waits in vain.
type Idler interface {
	// IsIdle reports whether the command that is to be answered next on a connection waits for what cannot come, as far as
	// is known now.
	IsIdle(conn int, now time.Time) bool
}

// DueMessage is a message that a server has to send by itself.
type DueMessage struct {
	Conns   []int     // one of them receives it
	Missing Violation // if it does not in time
}

// Terms are the conditions of a play.
type Terms struct {
	NamePrefix string // of all names of the play
	Password   string // of the server, empty if it has none
	Alone      bool   // no other client uses the server
	IsShared   bool   // not all clients are seen that use the same jobs and workers, nor what operators do
	Flush      bool   // everything on the server may be deleted
	Compared   bool   // two servers are: what [Answer.Normal] has is needed
	// Disrupted says that the server is killed to see what it keeps: what it loses then is a violation, unless it keeps
	// nothing.
	Disrupted bool
	History   *History      // what other plays have done there; nil: that is not known
	Patience  time.Duration // for what happens eventually
	Slack     time.Duration // by which a message may be late for reasons of the network
}

// Sent is what a law knows of bytes that were sent.
type Sent struct {
	Clause     string // that rules them
	DueReplies int    // messages that are owed now; below zero: so many at the most, of which only the first may be judged
	IsJudged   bool   // the first message is judged
	MaxReplies int    // messages that unbounded bytes may bring
	Ends       bool   // the server may end for it

	Situation string // that the command meets, for coverage; "" for none with a name
}

// Answer is how a law evaluates a message.
type Answer struct {
	Violation  *Violation
	Reply      bool          // it answers a command
	IsRefusal  bool          // with an error, as a server does that is about to end
	IsJudged   bool          // the connection is judged from here on
	IsUnusable bool          // the connection cannot be used any more
	Limit      bool          // because the server serves no more connections at a time
	Ends       bool          // the server has said that it ends: that it is gone then is no crash
	Declined   bool          // it refuses an introduction that a server accepts, unless there are too many clients
	Closes     time.Duration // the server has to close the connection within that; zero: it has not
	JID        string        // that came
	Empty      bool          // the command waited, and nothing came

	Rules Decided // that the message is about

	// Normal has, if two servers are compared, the message in parts that are the same on servers that mean the same: a
	// kind, then fields.
	Normal []string
	Verb   string // of the command that it answers, "" for none

	Pattern     string // that the message matches, as an S: line has it
	OpenPattern string // the pattern of all that was allowed, if which of them came means nothing

	// for coverage: before it, the change if there was one, and the command with its outcome
	State, Transition, Outcome string
}

// Violation is something that the law does not allow.
type Violation struct {
	Clause   string
	Rule     string // of the law, or one of the player's; two violations of one rule may have different clauses
	JID      string // the job that it is about, if it is about one
	Expected string // as an S: line of a script has it
	Got      string
	Detail   string // where Expected does not say it all
	// Place is the field and the kinds of its values, or the command and its answer; "" where one is as any.
	Place            string
	Window           [2]time.Duration // in which the reply must come, if it is about that
	Doubtful         bool             // another fault of the server, which shows otherwise later, may be why
	IsRecommendation bool             // the clause only recommends what is broken here
	LacksRedelivery  bool             // the job was delivered before, and is not delivered again
	IsIdleEnd        bool             // it is the end of a connection on which no command waited for its reply
	// CommandClause is the clause of the command itself, where Clause is that of an earlier one which may be the reason;
	// else "".
	CommandClause string
	// Premises are clauses on which it rests what was expected: where a server breaks one, this follows from that. Those
	// that the server has kept in this play are not among them.
	Premises []string
}

// RefusedVerb returns the verb of a place where a command was refused, empty for any other place.
func RefusedVerb(place string) string {
	verb, ok := strings.CutSuffix(place, ": -")
	if !ok {
		return ""
	}
	return verb
}

// Trait is something that must be known of the violations of a rule. A rule may have several.
type Trait uint16

// The traits of rules.
const (
	WrongReply Trait = 1 << iota // another reply than the one due came; a line sent in segments may be the reason
	JobStays                     // it may be the server's way: what follows of the job is judged nevertheless
	OfField                      // Got begins with the name of a field of a job and a colon
	Unwritten                    // no line of a script can say it
	AtGreeting                   // the first message of the server is wrong
	Timed                        // its premise is a span of time
	OfDelivery                   // a job came that must not: in a repetition other rounds bring jobs there, too
	Unasked                      // a message came where none may: the script of its finding has a silence there
	Misplaced                    // it is wrong whatever a line of a script expects there
)

// Error returns what was expected and what was received.
func (v *Violation) Error() string {
	return fmt.Sprintf("%s: expected %s, got %s (%s)", v.Clause, v.Expected, v.Got, v.Detail)
}

// Definition is the law of a protocol.
type Definition struct {
	Start  func(Terms) Law // begins a play
	Rules  map[string]Rule // all that can be broken, by the names that violations have
	Greets bool            // the first message of a connection is the server's
}

// Rule is what a law demands, whatever the clauses that are about it.
type Rule struct {
	Title   string // a sentence that holds on a right server, without its full stop
	Traits  Trait
	Decided string // the messages that decide it: "each job that comes"
	Clauses string // that a breach of it may break, with spaces between them, without the prefix of the protocol
}

// MayBreak reports whether a clause, with the prefix of its protocol, is one that a breach of the rule may break.
func (r Rule) MayBreak(clause string) bool {
	_, bare, _ := strings.Cut(clause, "-")
	return slices.Contains(strings.Fields(r.Clauses), bare)
}
