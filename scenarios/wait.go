package scenarios

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// DefaultPatience is how long a play waits for what the specification calls eventual.
const DefaultPatience = 150 * time.Second

// Wait returns the time that playing the script takes at least, on a conforming server
// that answers at once: its silences, the lower bounds of its windows, answers that take
// time by the protocol, jobs that are due later, and the waits of its header.
func (s *Script) Wait() time.Duration {
	c := &clock{grammar: s.Dialect.Grammar(), sent: map[string]time.Duration{}, verb: map[string]string{}}
	c.steps(s.Steps)
	return max(c.now, s.Waits)
}

// clock plays a script without a server and adds up what it waits.
type clock struct {
	grammar *Grammar
	now     time.Duration
	due     time.Duration            // when the last job that is not due at once can be delivered
	sent    map[string]time.Duration // the last line, by connection
	verb    map[string]string        // of that line
}

// fork returns a clock that starts at the same time and is independent.
func (c *clock) fork() *clock {
	return &clock{grammar: c.grammar, now: c.now, due: c.due, sent: maps.Clone(c.sent), verb: maps.Clone(c.verb)}
}

func (c *clock) steps(steps []Step) {
	for _, s := range steps {
		switch s := s.(type) {
		case *Send:
			c.send(s)
		case *Expect:
			c.now = max(c.now, c.answered(s))
		case *Silence:
			c.now += s.For
		case *Block:
			c.playBlock(s)
		}
	}
}

func (c *clock) send(s *Send) {
	c.sent[s.Conn], c.verb[s.Conn] = c.now, s.Verb()
	for _, t := range s.Segments {
		if after, ok := t.due(c.grammar.Timing.Due); ok {
			c.due = max(c.due, c.now+after)
		}
	}
}

// answered is when the answer to the last line can be there.
func (c *clock) answered(e *Expect) time.Duration {
	from := e.Within.From
	wait := c.grammar.Replies.Waits[c.verb[e.Conn]]
	if first := &e.Choices[0]; first.form != nil && first.form.Kind == wait.Kind {
		from = max(from, wait.Least)
	}
	return c.sent[e.Conn] + from
}

func (c *clock) playBlock(b *Block) {
	start := c.now
	switch b.Kind {
	case Repeat:
		c.steps(b.Steps)
		workers := max(b.By, 1)
		c.now = start + (c.now-start)*time.Duration((b.Count+workers-1)/workers)
	case Parallel:
		for _, phase := range Phases(b.Steps) {
			c.sideBySide(phase)
		}
	case Unordered: // all of them are under way
		c.sideBySide([][]Step{b.Steps})
	case Eventually:
		c.now = max(c.now+b.Within.From, c.due)
		c.steps(b.Steps)
	default:
		c.steps(b.Steps)
	}
}

// sideBySide plays threads that all begin now; it is over when the last one is.
func (c *clock) sideBySide(threads [][]Step) {
	begin := c.fork()
	for _, steps := range threads {
		thread := begin.fork()
		thread.steps(steps)
		c.now, c.due = max(c.now, thread.now), max(c.due, thread.due)
		maps.Copy(c.sent, thread.sent)
		maps.Copy(c.verb, thread.verb)
	}
}

// due returns how far in the future a field of a job is; false if it is not, or too far
// to wait for.
func (t Template) due(name string) (time.Duration, bool) {
	for i, p := range t {
		var r *ref
		switch {
		case p.ref == nil:
			continue
		case p.ref.kind == refObject:
			r = p.ref.object.time(name)
		case p.ref.kind == refNow && i > 0 && strings.HasSuffix(strings.ReplaceAll(t[i-1].lit, " ", ""), `"`+name+`":"`):
			r = p.ref
		}
		if r != nil && r.offset > 0 && r.offset <= DefaultPatience {
			return r.offset, true
		}
	}
	return 0, false
}

// time is the time that a field consists of, or nil.
func (o *Object) time(key string) *ref {
	i := slices.IndexFunc(o.fields, func(f field) bool { return f.key == key })
	if i < 0 {
		return nil
	}
	var r *ref
	switch value := o.fields[i].value.(type) {
	case interpolated:
		r = value.parts.only()
	case capture:
		r = value.ref
	}
	if r == nil || r.kind != refNow {
		return nil
	}
	return r
}

// Verb returns the word with which the line begins, or as much of it as the script
// spells out; empty for an ending.
func (s *Send) Verb() string {
	if len(s.Segments) == 0 || len(s.Segments[0]) == 0 {
		return ""
	}
	return verb(s.Segments[0][0].lit)
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
func hasStep[T Step](s *Script, is func(T) bool) bool {
	for step := range s.All() {
		if of, ok := step.(T); ok && is(of) {
			return true
		}
	}
	return false
}

// Connections returns how many connections a play of the script may have open at a time,
// with the one by which the engine checks that the server serves.
func (s *Script) Connections() int {
	named, workers := 0, 0
	known := map[string]bool{}
	use := func(s Step, b *Block) {
		name := ConnectionOf(s)
		_, opens := s.(*Connect)
		switch {
		case b != nil && b.By > 0 && name == "", name == nowhere:
		case opens && b != nil && b.Kind == Repeat:
			named += b.Count
		case opens || !known[name]:
			named++
		}
		known[name] = true
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
	return named + workers + 1
}
