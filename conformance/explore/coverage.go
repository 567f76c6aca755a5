package explore

// Coverage counts what an exploration has seen.
type Coverage struct {
	States      map[string]int // of connections, by role: how often a command was answered there
	Transitions map[string]int // "not identified > identified"
	Outcomes    map[string]int // "fetch identified worker: null", verb x state x outcome
	Situations  map[string]int // of the subject, zero for those that were never reached
}

func newCoverage(s *Subject) *Coverage {
	c := &Coverage{
		States: map[string]int{}, Transitions: map[string]int{}, Outcomes: map[string]int{}, Situations: map[string]int{},
	}
	for _, name := range s.Situations {
		c.Situations[name] = 0
	}
	return c
}

// note counts one answered command.
func (c *Coverage) note(a Answer) {
	if c == nil {
		return
	}
	c.States[a.State]++
	c.Outcomes[a.Outcome]++
	if a.Situation != "" {
		c.Situations[a.Situation]++
	}
	if a.Moved != "" {
		c.Transitions[a.Moved]++
	}
}
