package explore

import (
	"iter"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/scenarios"
)

// Alphabet is what the explorer knows of a protocol: what clients may do, what may be answered (a law), and what is
// plain. Dialect, Start and Generate must be set; what else is missing is not used.
type Alphabet struct {
	Dialect  scenarios.Dialect                 // of the scripts that show findings
	Start    func(law.Terms) Law               // begins a play
	Generate func(draw *Draw, l Law) Generator // of an exploration; l is the law of its play

	// Lives returns the same protocol with jobs that wait for what is due later, within a limit; nil: there is nothing
	// that takes so long, or this one has it.
	Lives func(limit time.Duration) *Alphabet

	Greeting     string // what a server sends first, as an S: line; "" if it waits for the client
	Accepted     string // the answer to a line that a right server accepts, as an S: line
	ProbeCommand string // a line that a server that serves answers on every new connection
	Jobs         string // the family of the names of jobs, which are others in each round

	// Situations are the names of those that commands can meet, for coverage.
	Situations []string

	Introduction Introduction // of clients, where a script writes it out

	// Ruling returns the level at which a script judges a clause, usually the one given,
	// and what it needs of the server.
	Ruling func(clause, level string) (string, []scenarios.Need)
	// ProbeLine returns a line that the client of a connection sends at the end of a script
	// where no other line shows that a rule is broken, "" for none. It is to be accepted.
	ProbeLine func(rule string, c *scenarios.Connect) string

	// Family returns one name for all rules under which the same bug may show; a rule
	// is a family of its own if nil.
	Family func(rule string) string
	// Rules has what must be known of violations of a rule of the law; an ordinary one is missing.
	Rules map[string]law.Rule
	// Seeds returns short conversations in which a bug of a family often shows, the
	// plainest first.
	Seeds func(family string) []Trace
	// Simplify tries plainer forms of a line, each made from the one that was accepted
	// last.
	Simplify func(line string, try func(plainer string) bool)
	// Round returns what is left of the steps about one job where all of them are
	// repeated.
	Round func(steps []Step) []Step
	// Reset are steps after which a server has forgotten the fields of earlier jobs.
	Reset []Step
	// Disruptions are what can be done to a server so that its law knows what is in doubt then.
	Disruptions []target.Action
}

// Introduction is how clients introduce themselves. It is missing if they do not.
type Introduction struct {
	Verb   string                                         // with which its line begins
	Line   func(c *scenarios.Connect, locked bool) string // of a client; locked: with the password
	Fields func(c *scenarios.Connect) string              // for a connect, where others of the client write the Line
}

// Law is a law of conversations that a player can ask, too, what to send. Connections have the numbers of the steps;
// names are filled in. A Law is not safe for concurrent use.
type Law interface {
	law.Law
	// Introduce returns the line that a connection sends by itself after it was opened,
	// "" for none.
	Introduce(conn int, c *scenarios.Connect) string
	// State names the state of a connection.
	State(conn int) string
	// Clause returns the clause that is broken by what the player itself sees; see the
	// rules beside RuleCrash. Behind RuleGrammar stands a colon and the rule of the
	// protocol's reader.
	Clause(rule string) string
	// Heartbeat returns the line that a client has to send if it is silent for that long,
	// "" for none.
	Heartbeat(conn int, at time.Time) string
	// Value returns the value of a name of the protocol, such as $pwdhash.
	Value(conn int, name string) string
	// Escapes reports whether bytes could touch what belongs to other clients.
	Escapes(segments ...[]byte) bool
	// Cleanup returns the steps that remove what the play has left on the server, each
	// made when the one before has been played.
	Cleanup(cleaning Cleaning) iter.Seq[Step]
	// Leftover names the jobs that may still be on the server.
	Leftover() []string
}

// Cleaning is how much time a clean-up may take.
type Cleaning uint8

// The ways to clean up.
const (
	QuickCleaning   Cleaning = iota // nothing that may wait for a job
	FullCleaning                    // asks wherever a job may be
	PatientCleaning                 // waits also for jobs that are to come
)

// Concurrent is the family of the seeds in which several clients do the same again and
// again, at the same time: for a server that died of that.
const Concurrent = "concurrent"

// hasTrait reports whether a rule has a trait.
func (s *Alphabet) hasTrait(rule string, t law.Trait) bool { return s.Rules[rule].Traits&t != 0 }

// The rules that the player itself sees broken, whatever the protocol.
const (
	RuleCrash      = "crash"       // the server serves no more
	RuleGrammar    = "grammar"     // bytes that are no message
	RuleExtra      = "extra"       // more messages than were asked for
	RuleSilent     = "silent"      // no answer
	RuleLingers    = "lingers"     // an end that does not come
	RuleNoGreeting = "no-greeting" // no first message
	RuleCut        = "cut"         // a line that came in segments is refused
	RuleRestart    = "restart"     // no service after a restart
	RuleClosed     = "closed"      // the server ends a connection that must stay; found by the law
)

// Generator is what an exploration makes up steps from.
type Generator struct {
	Moves      []Move
	Open       func(conn int) Step   // opens a connection in one of the ways that there are
	Control    func() []Step         // of the connections that must not notice anything; nil for none
	Look       func(conn int) []Step // asks for what may have come while time passed; nil for nothing
	Done       func() bool           // nothing is left to be done; nil: something always is
	Next       func() Generator      // what is explored when all is done; nil: nothing
	IsComplete bool                  // no kind of move, field or value is left out for some time
}

// Move is one kind of thing to do on a connection.
type Move struct {
	Name   string
	Weight float64 // how often, before what was seen least is preferred
	Pause  uint64  // rounds between two of them where time is real, for moves that take long
	Fits   func(conn int) bool
	Make   func(conn int) []Step
}
