package scenarios

import (
	"strings"
	"time"
)

// DefaultPatience is how long a play waits for what the specification calls eventual.
const DefaultPatience = 150 * time.Second

// Verb returns the word with which the line begins, or as much of it as the script
// spells out; empty for an ending.
func (s *Send) Verb() string {
	if len(s.Segments) == 0 || len(s.Segments[0]) == 0 {
		return ""
	}
	return verb(s.Segments[0][0].literal())
}

// Sends reports whether the script itself sends a command.
func (s *Script) Sends(verb string) bool {
	return hasStep(s, func(send *Send) bool { return strings.EqualFold(send.Verb(), verb) })
}

// BreaksProtocol reports whether the script sends what a client must not send.
func (s *Script) BreaksProtocol() bool { return hasStep(s, func(send *Send) bool { return send.Bad }) }

// Opens reports whether a connect line opens a connection in that role.
func (s *Script) Opens(role Role) bool {
	return hasStep(s, func(c *Connect) bool { return c.Role == role })
}

// hasStep reports whether a script has a step of a kind that a condition holds for.
func hasStep[T Step](s *Script, match func(T) bool) bool {
	for step := range s.All() {
		if v, ok := step.(T); ok && match(v) {
			return true
		}
	}
	return false
}

// Connections returns how many connections a play of the script may have open at a time,
// with the one by which the engine checks that the server serves.
func (s *Script) Connections() int {
	conns, workers := 0, 0
	names := map[string]bool{}
	use := func(s Step, b *Block) {
		name := ConnectionOf(s)
		_, opens := s.(*Connect)
		switch {
		case b != nil && b.By > 0 && name == "", name == noConn:
		case opens && b != nil && b.Kind == Repeat:
			conns += b.Count
		case opens || !names[name]:
			conns++
		}
		names[name] = true
	}
	for _, step := range s.Steps {
		b, ok := step.(*Block)
		if !ok {
			use(step, nil)
			continue
		}
		workers = max(workers, b.By)
		for _, inner := range b.Steps {
			use(inner, b)
		}
	}
	return conns + workers + 1
}
