package explore

import (
	"strings"
	"time"

	"github.com/fwpsuite/fwp/scenarios"
)

// RuleUnasked begins the rule of a message that must not come at all: the script of its finding has a silence there.
const RuleUnasked = "unasked"

// pushes reports whether most messages of the server answer no command: they are lines where they have come.
func (w *writer) pushes() bool { return w.script.Dialect.Grammar().Pushes }

// pushed writes the messages that came at a step, and what is wrong there if that is the finding. Of many rounds those
// of the first count.
func (w *writer) pushed(i int) {
	hit := w.r.hit
	for _, a := range w.r.answers[i] {
		if a.Violation == nil && a.Pattern != "" && a.round <= 1 && w.opened[a.conn] {
			w.expect(a.conn, scenarios.Window{}, w.symbols(a.Pattern))
		}
	}
	if i != hit.step || hit.Violation == nil {
		return
	}
	switch rule, _, _ := strings.Cut(hit.Rule, " "); rule {
	case RuleUnasked:
		w.clause()
		w.add(&scenarios.Silence{
			Statement: w.statement(), For: time.Second, Conns: w.named(hit.conn), Marks: w.marks,
		})
	case RuleCrash, RuleGrammar, RuleSilent, "closed":
		w.serves(hit.conn)
	default:
		w.clause()
		w.expect(hit.conn, scenarios.Window{}, w.wanted(""))
	}
}

// serves asks the server whether it still serves, when it has had time to end.
func (w *writer) serves(conn int) {
	if !w.opened[conn] {
		for conn = range w.opened { // any: there is one in most cases
			break
		}
	}
	if !w.opened[conn] {
		w.connect(conn, scenarios.Producer, "")
	}
	w.add(&scenarios.Silence{Statement: w.statement(), For: time.Second, Conns: w.named(conn)})
	w.clause()
	w.say(conn, w.r.subject.Question)
	w.expect(conn, scenarios.Window{}, w.r.subject.Accepted)
}

// named returns the name of a connection as a silence has it: none if there is one connection only.
func (w *writer) named(conn int) []string {
	if name := w.conn(conn); name != "" {
		return []string{name}
	}
	return nil
}
