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
	prefix string
	round  int // of a repetition, counted from 1; 0 outside
	times  map[string]string
	value  func(conn int, name string) string // of the protocol
	now    time.Time
}

// fill writes a text with its names replaced; a value may be that of a connection.
func (n *names) fill(text string, conn int) string {
	if strings.IndexByte(text, '$') < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 64)
	for {
		i := strings.IndexByte(text, '$')
		if i < 0 || i+1 >= len(text) {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i])
		used := n.one(&b, text[i:], conn)
		text = text[i+used:]
	}
}

// one writes the value of the name at the start of the text and says how long the
// name is.
func (n *names) one(b *strings.Builder, text string, conn int) int {
	end := nameEnd(text)
	switch word := text[1:end]; {
	case strings.HasPrefix(text, "$$"):
		b.WriteByte('$')
		return 2
	case word == "now":
		for end < len(text) && strings.IndexByte("+-0123456789hms@:", text[end]) >= 0 {
			end++
		}
		b.WriteString(n.time(text[:end]))
	case word == "pwdhash":
		if rest, found := strings.CutPrefix(text[end:], "."); found {
			v := rest[:len(rest)-len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz"))]
			b.WriteString(n.value(conn, "pwdhash."+v))
			return end + 1 + len(v)
		}
		b.WriteString(n.value(conn, "pwdhash"))
	case word == "filler":
		stop := strings.IndexByte(text, ')')
		if stop < end { // what a saved run says may be anything
			b.WriteString(text[:end])
			return end
		}
		b.WriteString(strings.Repeat("x", fillerSize(text[end+1:stop])))
		return stop + 1
	case strings.HasPrefix(word, "jid"), strings.HasPrefix(word, "queue"), strings.HasPrefix(word, "wid"):
		b.WriteString(n.prefix)
		b.WriteByte('-')
		b.WriteString(word)
		series := strings.HasPrefix(text[end:], "#") // as in scripts
		if n.round > 0 && (word[0] == 'j' || series) {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(n.round))
			end += b2i(series)
		}
	default:
		b.WriteString(text[:end])
	}
	return end
}

// nameEnd is where the name ends that begins with the dollar at the start of a text.
func nameEnd(text string) int {
	end := 1
	for end < len(text) && (text[end] >= 'a' && text[end] <= 'z' || text[end] >= '0' && text[end] <= '9') {
		end++
	}
	return end
}

// fillerSize reads the size of a $filler, as in 70KiB.
func fillerSize(text string) int {
	n, _ := strconv.Atoi(strings.TrimRight(text, "KMiB"))
	if strings.Contains(text, "KiB") {
		n <<= 10
	}
	return n
}

// time binds a time at its first use, as scripts do.
func (n *names) time(name string) string {
	if s, ok := n.times[name]; ok && n.round == 0 {
		return s
	}
	rest, zone, _ := strings.Cut(strings.TrimPrefix(name, "$now"), "@")
	d, _ := time.ParseDuration(rest)
	t := n.now.Add(d).UTC()
	if z, err := time.Parse("-07:00", zone); err == nil {
		t = t.In(z.Location())
	}
	s := t.Format("2006-01-02T15:04:05.000000Z07:00")
	n.times[name] = s
	return s
}

// noConn is the number of no connection.
const noConn = -1
