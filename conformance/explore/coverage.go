package explore

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
func (c *Coverage) note(a Answer) {
	if c == nil {
		return
	}
	c.States[a.State]++
	c.Outcomes[a.Outcome]++
	if a.Moved != "" {
		c.Transitions[a.Moved]++
	}
}
