package law

import (
	"maps"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/values"
	"github.com/fwpsuite/fwp/reports"
)

// Fields says what the commands of a protocol consist of.
type Fields struct {
	// Each calls each with the parts of a command, each value as a JSON text: first the verb, whose value is nil, then its
	// fields. Names are bounded in number, whatever was sent; those of the fields begin with the verb.
	Each func(command []byte, each func(name string, value []byte))
	// Split returns the commands of one write of an exploration, which has no more than whole ones; nil: there is one.
	Split func(all []byte) [][]byte
	// Known returns the classes of all values that an alphabet generates, by field and part of the value. See [Classes].
	Known func() map[string][]string
	// Populations has the most things of each kind that a run can have at a time, [Connections] among them.
	Populations map[string]int
	// Ways are those in which a job can reach a worker.
	Ways []string
	// Job is the field with the id of the job that a client brings, its whole name.
	Job string
}

// Populated is a Law that knows how many things of a kind there are.
type Populated interface {
	// Populations calls each with the things that a command of the connection may be affected by.
	Populations(conn int, each func(of string, n int))
}

// The dimensions that all protocols have.
const (
	commandOf  = "command"
	wayOf      = "way"
	beforeOf   = "way before"
	momentOf   = "moment"
	unanswered = " before the answer"
)

// Connections is the population of all protocols: connections that are open at a time.
const Connections = "connections"

// The ways in which a job reaches a worker; [Answer.Way] is one of them.
const (
	AtOnce    = "at once"
	ToWaiting = "to a worker that waits"
	Scheduled = "by its schedule"
	Failed    = "after a failure"
	Expired   = "after its reservation"
	Restarted = "after a restart"
)

// The moments at which something is sent, and at which a connection ends.
const (
	alone    = "alone"
	together = "several in one write"
	cut      = "in several writes"
	behind   = "before the last answer"
)

var moments = []string{alone, together, cut, behind}

var endings = map[session.Ending]string{
	session.Closed: "close", session.HalfShut: "half-close", session.Reset: "reset",
}

// mostCounted is how many jobs are followed at a time.
const mostCounted = 20_000

// Inputs counts what was sent on all connections of a play, by the classes of package values. It is not safe for
// concurrent use. A nil Inputs counts nothing.
type Inputs struct {
	of     *Fields
	law    Law
	pushes bool // the server answers no command
	counts reports.Inputs
	open   map[int]*counted
	jobs   map[string]*sentJob
	parts  map[string]map[string]string // the names of dimensions by field and part
}

// counted is an open connection.
type counted struct {
	owed int
	last *reports.Input // the command that was sent last
}

// sentJob is a job whose fields are known.
type sentJob struct {
	classes []*reports.Input
	way     string // that it went last
}

// NewInputs returns what counts the inputs of a play with a law; nil if nothing is known of the fields of commands.
func NewInputs(of *Fields, l Law) *Inputs {
	if of == nil {
		return nil
	}
	_, pushes := l.(Pusher)
	return &Inputs{
		pushes: pushes,
		of:     of, law: l, open: map[int]*counted{}, jobs: map[string]*sentJob{}, parts: map[string]map[string]string{},
	}
}

// Counts returns what was counted until now, nil for nothing. The caller must not change it.
func (i *Inputs) Counts() *reports.Inputs {
	if i == nil || i.counts.Commands == 0 {
		return nil
	}
	return &i.counts
}

// Opened records a new connection.
func (i *Inputs) Opened(conn int) {
	if i != nil {
		i.open[conn] = new(counted)
	}
}

// Sent counts the commands of one write; in pieces if they were sent in several.
func (i *Inputs) Sent(conn int, commands [][]byte, pieces bool, at time.Time) {
	if i == nil || i.open[conn] == nil {
		return
	}
	for _, command := range commands {
		moment := alone
		switch {
		case pieces:
			moment = cut
		case len(commands) > 1:
			moment = together
		case i.open[conn].owed > 0:
			moment = behind
		}
		if !i.pushes {
			i.open[conn].owed++
		}
		i.command(conn, command, moment, at)
	}
}

// command counts one command.
func (i *Inputs) command(conn int, command []byte, moment string, at time.Time) {
	i.counts.Commands++
	var all []*reports.Input
	var verb *reports.Input
	job := ""
	i.of.Each(command, func(name string, value []byte) {
		if value == nil {
			verb = i.count(commandOf, name)
			return
		}
		if name == i.of.Job {
			job = string(value)
		}
		values.Classify(value, at, func(part, class string) {
			all = append(all, i.count(i.dimension(name, part), class))
		})
	})
	if verb == nil {
		return
	}
	i.pair(verb, momentOf, moment)
	i.open[conn].last = verb
	i.pair(verb, Connections, values.Size(len(i.open)))
	if p, knows := i.law.(Populated); knows {
		p.Populations(conn, func(of string, n int) { i.pair(verb, of, values.Size(n)) })
	}
	if job != "" {
		if len(i.jobs) >= mostCounted {
			clear(i.jobs)
		}
		i.jobs[job] = &sentJob{classes: all}
	}
}

// dimension returns the name of the dimension of a part of a field.
func (i *Inputs) dimension(field, part string) string {
	if part == values.Whole {
		return field
	}
	of := i.parts[field]
	if of == nil {
		of = map[string]string{values.Inside: field + values.Inside, values.Names: field + values.Names}
		i.parts[field] = of
	}
	return of[part]
}

func (i *Inputs) count(dimension, class string) *reports.Input {
	in := i.counts.Class(dimension, class)
	in.Sent++
	return in
}

// pair counts a class of a dimension, and that it came together with a command.
func (i *Inputs) pair(verb *reports.Input, dimension, class string) {
	i.count(dimension, class)
	verb.Together(dimension, class, 1)
}

// Came records an answer: the way of a job that it brings.
func (i *Inputs) Came(conn int, a Answer) {
	if i == nil {
		return
	}
	if c := i.open[conn]; c != nil && c.owed > 0 {
		c.owed--
	}
	j := i.jobs[`"`+a.Job+`"`]
	if a.Way == "" || j == nil {
		return
	}
	way := i.count(wayOf, a.Way)
	for _, in := range j.classes {
		in.Together(wayOf, a.Way, 1)
	}
	if j.way != "" {
		i.count(beforeOf, j.way)
		way.Together(beforeOf, j.way, 1)
	}
	j.way = a.Way
}

// Ended counts how a client ends a connection, or half of it.
func (i *Inputs) Ended(conn int, how session.Ending) {
	if i == nil || i.open[conn] == nil {
		return
	}
	if word := endings[how]; word != "" {
		if i.open[conn].owed > 0 {
			word += unanswered
		}
		i.count(momentOf, word)
		if last := i.open[conn].last; last != nil {
			last.Together(momentOf, word, 1)
		}
	}
	if how != session.HalfShut {
		delete(i.open, conn)
	}
}

// Classes returns the classes of what each field is generated from, by field and part of the value. That takes some
// milliseconds: it is done once in a process.
func Classes(fields map[string][]values.Bucket) map[string][]string {
	all := map[string][]string{}
	for field, buckets := range fields {
		for part, classes := range values.ClassesOf(buckets, time.Now()) {
			all[field+part] = classes
		}
	}
	return all
}

// Complete adds to what was sent all classes that an alphabet generates, as never sent, and leaves out what is in no
// field of it: the parts of malformed values.
func (f *Fields) Complete(to *reports.Inputs) {
	if f == nil || to == nil {
		return
	}
	known := map[string]bool{commandOf: true, wayOf: true, beforeOf: true, momentOf: true}
	for dimension, classes := range f.Known() {
		known[dimension] = true
		for _, class := range classes {
			to.Class(dimension, class)
		}
	}
	for of, most := range f.Populations {
		known[of] = true
		for _, n := range values.Sizes(most)[1:] {
			to.Class(of, values.Size(n))
		}
	}
	for _, way := range f.Ways {
		to.Class(wayOf, way)
	}
	for _, moment := range moments {
		to.Class(momentOf, moment)
	}
	for _, word := range endings {
		to.Class(momentOf, word)
		to.Class(momentOf, word+unanswered)
	}
	maps.DeleteFunc(to.Dimensions, func(name string, _ map[string]*reports.Input) bool { return !known[name] })
}
