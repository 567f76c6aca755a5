package explore

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/scenarios"
)

// Kind is what a step does.
type Kind uint8

// The kinds.
const (
	Open    Kind = iota + 1 // a connection begins, and greets unless its role is raw
	Send                    // a client line, or bytes
	Await                   // the answers that a connection still owes
	End                     // a connection ends from the client's side
	Wait                    // time passes
	Operate                 // an operator quiets or terminates a worker, or restarts the server
)

// Step is one thing that clients do. Its texts are written as in scripts: $jid4,
// $queue2 and $wid1 are names of the play, $now+4s is a time, $$ is a dollar. Where steps
// are repeated, $jid4 and $queue2# are others each time.
type Step struct {
	Kind     Kind
	Conn     int
	Role     scenarios.Role   // Open
	Worker   int              // Open as a consumer, Operate: the number of its $wid
	Action   string           // Operate: quiet, terminate or restart
	Segments []string         // Send: one, unless it is cut
	Raw      bool             // Send: the segments are bytes, no CRLF is added
	Bytewise bool             // Send: every byte is a segment of its own
	Ahead    bool             // Send: the answer is not awaited before the next step
	Ending   scenarios.Ending // End
	For      time.Duration    // Wait
	Move     string           // which of the generator's moves made it, for coverage
}

// text is all that a step sends, as it is written.
func (s *Step) text() string { return strings.Join(s.Segments, "") }

// Trace is a conversation that can be played: steps, of which some may be repeated.
type Trace struct {
	Steps    []Step
	From, To int // the steps [From,To) are played N times, with names of their own each time
	N        int // 0 or 1: no repetition
}

// played goes through the steps as they are played, each with the number of its round, 0
// outside of a repetition.
func (t Trace) played() iter.Seq2[int, Step] {
	type part struct {
		round int
		steps []Step
	}
	parts := []part{{0, t.Steps}}
	if t.N > 1 {
		parts = []part{{0, t.Steps[:t.From]}}
		for round := range t.N {
			parts = append(parts, part{round + 1, t.Steps[t.From:t.To]})
		}
		parts = append(parts, part{0, t.Steps[t.To:]})
	}
	return func(yield func(int, Step) bool) {
		for _, p := range parts {
			for _, step := range p.steps {
				if !yield(p.round, step) {
					return
				}
			}
		}
	}
}

// Line makes a step that sends a line.
func Line(conn int, format string, args ...any) Step {
	return Step{Kind: Send, Conn: conn, Segments: []string{fmt.Sprintf(format, args...)}}
}

// names fills in the names of one play.
type names struct {
	dialect scenarios.Dialect
	prefix  string
	round   int // of a repetition, counted from 1; 0 outside
	times   map[string]string
	value   func(conn int, name string) string // of the protocol
	now     time.Time
}

// fill writes a text with its names replaced; a value may be that of a connection. What
// is no text of the language, as a saved run may have it, stays as it is.
func (n *names) fill(text string, conn int) string {
	if strings.IndexByte(text, '$') < 0 {
		return text
	}
	segments, err := scenarios.ParseTemplate(n.dialect, text)
	if err != nil {
		return text
	}
	filled := make([]string, len(segments))
	for i, t := range segments {
		filled[i] = t.Expand(func(name scenarios.Name) string { return n.one(name, conn) })
	}
	return strings.Join(filled, scenarios.Cut)
}

// one is the value of a name. Jobs and indexed names are others in each round.
func (n *names) one(name scenarios.Name, conn int) string {
	base := name.Base()
	job := strings.HasPrefix(base, "jid")
	switch {
	case base == "now":
		return n.time(name)
	case base == "pwdhash":
		return n.value(conn, strings.TrimPrefix(name.String(), "$"))
	case job || strings.HasPrefix(base, "queue") || strings.HasPrefix(base, "wid"):
		real := n.prefix + "-" + base
		if n.round > 0 && (job || name.Indexed()) {
			real += "-" + strconv.Itoa(n.round)
		}
		return real
	}
	if text, ok := name.Computed(n.now); ok {
		return text
	}
	return name.String()
}

// nameEnd is where the name ends that begins with the dollar at the start of a text.
func nameEnd(text string) int {
	end := 1
	for end < len(text) && (text[end] >= 'a' && text[end] <= 'z' || text[end] >= '0' && text[end] <= '9') {
		end++
	}
	return end
}

// time binds a time at its first use, as scripts do.
func (n *names) time(name scenarios.Name) string {
	if s, ok := n.times[name.String()]; ok && n.round == 0 {
		return s
	}
	s, _ := name.Computed(n.now)
	n.times[name.String()] = s
	return s
}

// noConn is the number of no connection.
const noConn = -1
