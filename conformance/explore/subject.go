package explore

import (
	"iter"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// Subject is what the explorer knows of a protocol: what clients may do (an alphabet),
// what may be answered (a law), and which conversations are plain. Dialect, Start and
// Alphabet must be set; what else is missing is not used.
type Subject struct {
	Dialect  scenarios.Dialect                // of the scripts that show findings
	Start    func(Terms) Law                  // begins a play
	Alphabet func(draw *Draw, l Law) Alphabet // of an exploration; l is the law of its play

	Greeting string // what a server sends first, as an S: line; "" if it waits for the client
	Accepted string // the answer to a line that a right server accepts, as an S: line
	Question string // a line that a server that serves answers on every new connection
	Jobs     string // the family of the names of jobs, which are others in each round

	// Situations are the names of those that commands can meet, for coverage.
	Situations []string

	Introduction Introduction // of clients, where a script writes it out

	// Ruling returns the level at which a script judges a clause, usually the one given,
	// and what it needs of the server.
	Ruling func(clause, level string) (string, []scenarios.Need)
	// Again returns a line that the client of a connection sends at the end of a script
	// where no other line shows that a rule is broken, "" for none. It is to be accepted.
	Again func(rule string, c *scenarios.Connect) string

	// Family returns one name for all rules under which the same fault may show; a rule
	// is a family of its own if nil.
	Family func(rule string) string
	// Rules has what must be known of violations of a rule of the law; an ordinary one is missing.
	Rules map[string]Trait
	// Seeds returns short conversations in which a fault of a family often shows, the
	// plainest first.
	Seeds func(family string) []Trace
	// Simplify tries plainer forms of a line, each made from the one that was accepted
	// last.
	Simplify func(line string, try func(plainer string) bool)
	// Round returns what is left of the steps about one job where all of them are
	// repeated.
	Round func(steps []Step) []Step
	// Shared reports whether a line touches what other clients have on the server.
	Shared func(line string) bool
	// Reset are steps after which a server has forgotten the fields of earlier jobs.
	Reset []Step
	// Leaks are inputs of which a server may keep something. The first is the control:
	// what a right client sends.
	Leaks []Leak
}

// Introduction is how clients introduce themselves. It is missing if they do not.
type Introduction struct {
	Verb   string                                         // with which its line begins
	Line   func(c *scenarios.Connect, locked bool) string // of a client; locked: with the password
	Fields func(c *scenarios.Connect) string              // for a connect, where others of the client write the Line
}

// Leak is an input that leaves nothing behind on a right server.
type Leak struct {
	Name  string // of one round
	Trace Trace
}

// Terms are the conditions of a play.
type Terms struct {
	Prefix   string        // of all names of the play
	Password string        // of the server, empty if it has none
	Alone    bool          // no other client uses the server
	Flush    bool          // everything on the server may be deleted
	Patience time.Duration // for what happens eventually
	Slack    time.Duration // by which a message may be late for reasons of the network
}

// Law follows one play and evaluates its answers. Connections have the
// numbers of the steps; names are filled in. A Law is not safe for concurrent use.
type Law interface {
	// Open records that a connection began.
	Open(conn int, at time.Time)
	// Introduce returns the line that a connection sends by itself after it was opened,
	// "" for none.
	Introduce(conn int, c *scenarios.Connect) string
	// Sent records bytes that a client sent. unbounded: they may be any
	// number of commands.
	Sent(conn int, all []byte, unbounded bool, at time.Time) Sent
	// Came judges a message and follows what it means.
	Came(conn int, m session.Message, at time.Time) Answer
	// Shut records that a client has closed its half of a connection.
	Shut(conn int)
	// Close records the end of a connection, and judges it if the server was the one
	// that ended it.
	Close(conn int, byServer bool, at time.Time) *Violation
	// State names the state of a connection.
	State(conn int) string
	// Clause returns the clause that is broken by what the player itself sees; see the
	// rules beside Violation. Behind RuleGrammar stands a colon and the rule of the
	// protocol's reader.
	Clause(rule string) string
	// Heartbeat returns the line that a client has to send if it is silent for that long,
	// "" for none.
	Heartbeat(conn int, at time.Time) string
	// Value returns the value of a name of the protocol, such as $pwdhash.
	Value(conn int, name string) string
	// Escapes reports whether bytes could touch what belongs to other clients.
	Escapes(segments ...[]byte) bool
	// Operated records what an operator did.
	Operated(o *scenarios.Operate)
	// Unjudge ends the judging of a job, of all jobs if job is empty.
	Unjudge(job string)
	// Cleanup returns the steps that remove what the play has left on the server, each
	// made when the one before has been played.
	Cleanup(how Cleaning) iter.Seq[Step]
	// Leftover names the jobs that may still be on the server.
	Leftover() []string
}

// Pusher is a Law of a protocol whose server sends messages that answer no command. Law.Came judges these too.
type Pusher interface {
	// Due returns a message that the server has to send now, whatever clients do next; nil if there is none.
	Due(now time.Time) *Due
	// Missed records that the message did not come: it is no longer due.
	Missed(*Due)
}

// Due is a message that a server has to send by itself.
type Due struct {
	Conns   []int     // one of them receives it
	Missing Violation // if it does not within the timeout
}

// Cleaning is how much time a clean-up may take.
type Cleaning uint8

// The ways to clean up.
const (
	Quickly   Cleaning = iota // nothing that may wait for a job
	Fully                     // asks wherever a job may be
	Patiently                 // waits also for jobs that are to come
)

// Sent is what a law knows of bytes that were sent.
type Sent struct {
	Clause string // that rules them
	Owed   int    // messages that are owed now; below zero: so many at the most, of which only the first may be judged
	Judged bool   // the first message is judged
	Most   int    // messages that unbounded bytes may bring
	Ends   bool   // the server may end for it
}

// Answer is how a law evaluates a message.
type Answer struct {
	Violation *Violation
	Reply     bool          // it answers a command
	Judged    bool          // the connection is judged from here on
	Over      bool          // the connection cannot be used any more
	Limit     bool          // because the server serves no more connections at a time
	Declined  bool          // it refuses an introduction that a server accepts, unless there are too many clients
	Closes    time.Duration // the server has to close the connection within that; zero: it has not
	Job       string        // that came
	Empty     bool          // the command waited, and nothing came

	Normal []string // the message in parts that are the same on servers that mean the same: a kind, then fields
	Verb   string   // of the command that it answers, "" for none

	Pattern string // that the message matches, as an S: line has it
	Open    string // the pattern of all that was allowed, if which of them came means nothing

	Situation string // that the command met, for coverage; "" for none with a name

	State, Moved, Outcome string // for coverage: before it, the change if there was one, and the command with its outcome
}

// Violation is something that the law does not allow.
type Violation struct {
	Clause   string
	Rule     string // of the law, or one of the player's; two violations of one rule may have different clauses
	JID      string // the job that it is about, if it is about one
	Expected string // as an S: line of a script has it
	Got      string
	What     string           // where Expected does not say it all
	Window   [2]time.Duration // in which the reply must come, if it is about that
	Doubtful bool             // another fault of the server, which shows otherwise later, may be why
	Should   bool             // the clause only recommends what is broken here
}

// Concurrent is the family of the seeds in which several clients do the same again and
// again, at the same time: for a server that died of that.
const Concurrent = "concurrent"

// Trait is something that must be known of the violations of a rule. A rule may have several.
type Trait uint8

// The traits of rules.
const (
	WrongReply Trait = 1 << iota // another reply than the one due came, for which a line sent in segments may be the reason
	JobStays                     // what follows of the job is judged nevertheless
	OfField                      // Got begins with the name of a field of a job and a colon
	Unwritten                    // no line of a script can say it
	AtGreeting                   // the first message of the server is wrong
	OfDelivery                   // a job came that must not: in a repetition other rounds bring jobs there, too
)

// has reports whether a rule has a trait.
func (s *Subject) has(rule string, t Trait) bool { return s.Rules[rule]&t != 0 }

// The rules that the player itself sees broken, whatever the protocol.
const (
	RuleCrash   = "crash"       // the server serves no more
	RuleGrammar = "grammar"     // bytes that are no message
	RuleExtra   = "extra"       // more messages than were asked for
	RuleSilent  = "silent"      // no answer
	RuleLingers = "lingers"     // an end that does not come
	RuleUnheard = "no-greeting" // no first message
	RuleCut     = "cut"         // a line that came in segments is refused
	RuleRestart = "restart"     // no service after a restart
	RuleClosed  = "closed"      // the server ends a connection that must stay; found by the law
)

// Alphabet is what an exploration makes up steps from.
type Alphabet struct {
	Moves   []Move
	Open    func(conn int) Step   // opens a connection in one of the ways that there are
	Control func() []Step         // of the connections that must not notice anything; nil for none
	Look    func(conn int) []Step // asks for what may have come while time passed; nil for nothing
}

// Move is one kind of thing to do on a connection.
type Move struct {
	Name   string
	Weight float64 // how often, before what was seen least is preferred
	Pause  uint64  // rounds between two of them where time is real, for moves that take long
	Fits   func(conn int) bool
	Make   func(conn int) []Step
}
