package explore

import (
	"strings"

	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/conformance/oracle"
	"github.com/fwpsuite/fwp/fwp"
)

// Coverage counts what an exploration has seen.
type Coverage struct {
	States      map[string]int // of connections, by role: how often a command was answered there
	Transitions map[string]int // "not identified > identified"
	Outcomes    map[string]int // "FETCH identified worker: null", verb x state x outcome
}

func newCoverage() *Coverage {
	return &Coverage{States: map[string]int{}, Transitions: map[string]int{}, Outcomes: map[string]int{}}
}

// note counts one answered command.
func (c *Coverage) note(before fwp.State, after *oracle.Conn, text string, a model.Answer) {
	if c == nil {
		return
	}
	state := before.String()
	if after.WID != "" && before != fwp.NotIdentified {
		state += " worker"
	}
	verb, _, _ := strings.Cut(text, " ")
	if len(verb) > 8 || verb != strings.ToUpper(verb) {
		verb = "other"
	}
	c.States[state]++
	c.Outcomes[verb+" "+state+": "+a.String()]++
	if after.State != before {
		c.Transitions[before.String()+" > "+after.State.String()]++
	}
}
