package scenarios

import (
	"iter"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/target"
)

// Script is one parsed file.
type Script struct {
	Dialect Dialect       // the protocol that it is written in
	Name    string        // for reports: a file name or a check id
	Title   string        // one sentence, from the header
	Needs   []Need        // what the target must support, declared or implied by a step, sorted
	Waits   time.Duration // how long a play takes at most on the embedded server, from the header; 0: not long
	Steps   []Step
	Source  []string           // the lines, for reports
	Header  map[string][]Aside // what stands above the line of a key in the header
	After   []Aside            // what stands behind the last step

	protocol bool   // the header names it
	declared []Need // the needs of the header
	waits    string // Waits as written
}

// Need is something that a script asks of a target.
type Need string

// The needs.
const (
	NeedOpen     Need = "open"     // no password
	NeedPassword Need = "password" // a password that is known
	NeedSignals  Need = "signals"  // an operator who quiets and terminates workers
	NeedRestart  Need = "restart"  // an orderly restart
	NeedKill     Need = "kill"     // a stop without warning, and a start
	NeedAlone    Need = "alone"    // no jobs of others: the script uses the queue `default` or counts all jobs
	NeedFlush    Need = "flush"    // flush is allowed
)

// ClauseMark ties a line to a clause that it decides.
type ClauseMark struct {
	Clause string // id
	Level  string // overrides the level of the catalogue, "" if it does not
	Record bool   // the outcome is recorded, not checked, as long as it is one of the line's alternatives
}

// Marks returns the marks of all steps with an expectation.
func (s *Script) Marks() iter.Seq[ClauseMark] {
	return func(yield func(ClauseMark) bool) {
		for step := range s.All() {
			marks, _ := marksOf(step)
			for _, m := range marks {
				if !yield(m) {
					return
				}
			}
		}
	}
}

// marksOf returns the marks of a step, and reports whether it can have any.
func marksOf(s Step) ([]ClauseMark, bool) {
	if b, ok := s.(*Block); ok {
		return b.Marks, b.Window != (Window{})
	}
	return JudgedMarks(s)
}

// Role is how a connection greets.
type Role uint8

// The roles.
const (
	Raw      Role = iota // the script plays greeting and introduction
	Producer             // greeted by the engine, without worker fields
	Consumer             // greeted by the engine, as a worker
)

func (r Role) String() string { return [...]string{"raw", "producer", "consumer"}[r] }

// Step is one statement of a script: *[Connect], *[Send], *[Expect],
// *[Silence], *[Operate] or *[Block].
type Step interface {
	Place() Pos
	statement() *Statement
}

// Statement is what every step has: its place, and the lines above it that are
// not steps.
type Statement struct {
	Pos
	Asides []Aside
}

// Place returns where the step stands.
func (s *Statement) Place() Pos { return s.Pos }

func (s *Statement) statement() *Statement { return s }

// Aside is a line that is not a step: a comment, or a mark for the lines that
// follow. The zero value is an empty line.
type Aside struct {
	Comment string       // with its #
	IsMark  bool         // clause, record, or setup if there are no marks
	Marks   []ClauseMark // all of them recorded, or none
}

// Connect opens a connection, and greets on it unless it is raw.
type Connect struct {
	Statement
	Conn  string
	Role  Role
	Hello *Object // fields that replace or add to those of the engine's introduction, or nil
}

// Send writes to a connection, or ends it from the client's side.
type Send struct {
	Statement
	Conn     string
	Bad      bool       // breaks the protocol on purpose
	Raw      bool       // the segments are bytes, no CRLF is added
	Bytewise bool       // every byte is a segment of its own
	Segments []Template // one unless it is cut
	Ending   Ending     // instead of bytes, if not [Open]
	quoted   []string   // of raw segments: the Go strings as written
}

// Expect awaits one reply, or the end of the connection.
type Expect struct {
	Statement // placed at the expectation, not at the line
	Conn      string
	Window    Window
	Choices   []Choice
	Marks     []ClauseMark
}

// Silence waits, and expects that no connection of the list (all open ones if
// it is empty) receives a byte meanwhile.
type Silence struct {
	Statement
	For   time.Duration
	Conns []string
	Marks []ClauseMark

	duration string // For as written
}

// Operate asks the target for something that no client can do.
type Operate struct {
	Statement
	Action target.Action // of scripts: Restart, Kill, Quiet and Terminate
	Worker Template      // of Quiet and Terminate: the worker id
}

// BlockKind is the kind of a block.
type BlockKind uint8

// The blocks. They are not nested.
const (
	Repeat     BlockKind = iota // the body, Count times, on By connections of the given Role if By > 0
	Unordered                   // the replies of several connections, in any order
	Eventually                  // the body again and again until all of it matches
	Table                       // rows that do not depend on each other: all are tried
)

var blockNames = [...]string{"repeat", "unordered", "eventually", "table"}

func (k BlockKind) String() string { return blockNames[k] }

// Block is a group of steps up to its `end`.
type Block struct {
	Statement
	Kind   BlockKind
	Count  int
	By     int
	Role   Role
	Limit  time.Duration // of a repeat block: no round begins later; 0 for none
	Window Window
	Marks  []ClauseMark
	Steps  []Step
	After  []Aside // what stands above its end
}

// Window bounds how long something takes. A zero bound is none.
type Window struct {
	From, To time.Duration
	After    string // the connection whose last reply begins it; "": the last line of its own connection does

	written string
}

func (w Window) String() string {
	switch {
	case w.After != "":
		return "within " + w.To.String() + " after the reply on " + w.After
	case w.From > 0 && w.To > 0:
		return w.From.String() + " to " + w.To.String()
	case w.From > 0:
		return "not before " + w.From.String()
	case w.To > 0:
		return "within " + w.To.String()
	}
	return ""
}

// Ending is how a connection ends. As an expectation Closed takes Fin and Reset alike.
type Ending = session.Ending

// The endings.
const (
	Open       = session.NotEnded
	Closed     = session.Closed     // <close>
	Fin        = session.Fin        // <fin>: orderly
	Reset      = session.Reset      // <reset>
	HalfClosed = session.HalfClosed // <half-close>: the client sends no more, but reads on
)
