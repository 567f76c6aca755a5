package main

import "fmt"

// beat tells a worker what the operator wants, until the worker says that it knows.
func (c *conn) beat(arg string) string {
	s := c.s
	fields, err := parseHash(arg)
	if err != nil {
		return s.errorf("BEAT: %v", err)
	}
	wid, present, err := fields.text("wid")
	if err != nil || !present {
		return s.errorf("BEAT: wid must be a string")
	}
	state, _, err := fields.text("current_state")
	if err != nil || (state != "" && state != quiet && state != terminate) {
		return s.errorf("BEAT: current_state must be quiet or terminate")
	}
	if _, _, err := fields.integer("rss_kb"); err != nil {
		return s.errorf("BEAT: %v", err)
	}
	w := s.workers[wid]
	if w == nil || w.lost {
		return s.errorf("BEAT: no such worker %.60q", wid)
	}
	w.beatBy, w.beatAt = c, s.now()
	w.lost = s.mutant == 74 && state != ""
	if w.state == "" || state == w.state || state == terminate {
		return okReply
	}
	text := fmt.Sprintf("{\"state\":%q}", w.state)
	if s.variant == 9 {
		return "+" + text + "\r\n"
	}
	return bulk(text)
}

// tellWorkers sets what the next BEAT of every worker is answered. There is no way back from terminate.
func (s *server) tellWorkers(state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := 0
	for _, w := range s.workers {
		if first == 0 || w.seq < first {
			first = w.seq
		}
	}
	for _, w := range s.workers {
		switch {
		case s.mutant == 72 && w.seq != first:
		case s.mutant == 73 && w.state != "":
		case w.state != terminate:
			w.state = state
		}
	}
	if s.mutant == 16 {
		s.shout(state)
	}
}

// shout writes the new state to all consumers, whether they asked or not.
func (s *server) shout(state string) {
	for c := range s.conns {
		if c.worker != nil {
			c.write(bulk(fmt.Sprintf("{\"state\":%q}", state)))
		}
	}
}
