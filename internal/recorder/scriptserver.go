package recorder

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/scenarios"
)

// ScriptServer plays the server's side of a script to clients: it answers them as the script has the server answer.
// Each connection of a client plays one of the script, in their order, or one that goes on with the client's line. A
// connection with the name setup is the script's own, and left out.
//
// Lines are compared by their verbs; names get the values that clients send. BEAT, FETCH and INFO that the script does
// not have at that place are answered as an idle server would, since clients choose their times.
type ScriptServer struct {
	threads []*thread

	mu      sync.Mutex
	values  map[string]any // of names
	first   map[string]int // the step in which a client sends a name first
	changed chan struct{}  // closed at the next change
	found   []string       // what clients did otherwise
	open    int            // connections
}

// thread is one connection of the script.
type thread struct {
	name  string
	steps []placed
	taken bool
	at    int // the next step
}

type placed struct {
	number int
	step   scenarios.Step
}

// mostDifferences bounds what is kept of what clients did otherwise.
const mostDifferences = 100

// NewScriptServer returns one that plays a script once. The error says what in the script only the client's side can
// have.
func NewScriptServer(script *scenarios.Script) (*ScriptServer, error) {
	steps, err := script.Flat()
	if err != nil {
		return nil, err
	}
	s := &ScriptServer{values: map[string]any{}, first: map[string]int{}, changed: make(chan struct{})}
	for number, step := range steps {
		switch step := step.(type) {
		case *scenarios.Connect:
			s.thread(step.Conn).greet(number, step.Role)
		case *scenarios.Send:
			s.thread(step.Conn).add(number, step)
			s.names(number, step)
		case *scenarios.Expect:
			s.thread(step.Conn).add(number, step)
		}
	}
	s.threads = slices.DeleteFunc(s.threads, func(l *thread) bool { return l.name == "setup" })
	return s, nil
}

// thread returns the connection with a name. One that no connect opens is greeted as any.
func (s *ScriptServer) thread(name string) *thread {
	for _, l := range s.threads {
		if l.name == name {
			return l
		}
	}
	l := &thread{name: name}
	s.threads = append(s.threads, l)
	return l
}

func (l *thread) add(number int, step scenarios.Step) {
	l.steps = append(l.steps, placed{number, step})
}

// greet adds the greeting that a script leaves to the suite.
func (l *thread) greet(number int, role scenarios.Role) {
	if role != scenarios.Raw {
		l.add(number, greetingStep{})
	}
}

// greetingStep is HI, HELLO and OK.
type greetingStep struct{ scenarios.Step }

// names notes which names a client sends.
func (s *ScriptServer) names(number int, step *scenarios.Send) {
	text, name := step.Marked()
	for _, mark := range marks(text) {
		if n, is := name(mark); is {
			if _, known := s.first[n.String()]; !known {
				s.first[n.String()] = number
			}
		}
	}
}

func marks(text string) (all []string) {
	for {
		_, rest, is := strings.Cut(text, "\u27e6")
		inside, after, ends := strings.Cut(rest, "\u27e7")
		if !is || !ends {
			return all
		}
		all, text = append(all, "\u27e6"+inside+"\u27e7"), after
	}
}

// Serve plays until every connection of the script was played to its end and clients had a second more, or until ctx
// ends. It closes the listener.
func (s *ScriptServer) Serve(ctx context.Context, ln net.Listener) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = ln.Close() })
	defer stop()
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() {
		s.await(ctx, s.played)
		timer := time.NewTimer(time.Second)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		cancel()
	})
	for {
		nc, err := ln.Accept()
		if err != nil {
			return
		}
		all.Go(func() { s.serve(ctx, nc) })
	}
}

// await waits for a condition, which is looked at with the lock held.
func (s *ScriptServer) await(ctx context.Context, condition func() bool) {
	for {
		s.mu.Lock()
		is, changed := condition(), s.changed
		s.mu.Unlock()
		if is {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// played reports whether every connection of the script is at its end.
func (s *ScriptServer) played() bool {
	return !slices.ContainsFunc(s.threads, func(l *thread) bool { return l.at < len(l.steps) })
}

// change makes a change that others may wait for.
func (s *ScriptServer) change(act func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	act()
	close(s.changed)
	s.changed = make(chan struct{})
}

// Differences returns what clients did otherwise than the script has it. It may be called when Serve has returned.
func (s *ScriptServer) Differences() []string { return s.found }

// Left returns a sentence for each connection of the script that was not played to its end. It may be called when Serve
// has returned.
func (s *ScriptServer) Left() (left []string) {
	for _, l := range s.threads {
		switch {
		case l.at >= len(l.steps):
		case !l.taken:
			left = append(left, fmt.Sprintf("no client opened %s", cmp.Or(l.name, "the connection")))
		default:
			left = append(left, fmt.Sprintf("%s was played up to line %d", cmp.Or(l.name, "the connection"), l.line()))
		}
	}
	return left
}

func (l *thread) line() int {
	if _, is := l.steps[l.at].step.(greetingStep); is {
		return 0
	}
	return l.steps[l.at].step.Place().Line
}

func (s *ScriptServer) differ(format string, args ...any) {
	s.change(func() {
		if len(s.found) < mostDifferences {
			s.found = append(s.found, fmt.Sprintf(format, args...))
		}
	})
}

// side is one connection of a client.
type side struct {
	server *ScriptServer
	nc     net.Conn
	thread *thread // nil: the script has no more
}

func (s *ScriptServer) serve(ctx context.Context, nc net.Conn) {
	stop := context.AfterFunc(ctx, func() { _ = nc.Close() })
	defer stop()
	defer nc.Close() //nolint:errcheck // nothing can be done about it
	c := &side{server: s, nc: nc}
	c.take(func(l *thread) bool { return l.at == 0 })
	if c.thread == nil {
		c.write("+HI {\"v\":2}\r\n")
	}
	in := bufio.NewReaderSize(nc, 64<<10)
	for c.answer(ctx) {
		line, err := in.ReadSlice('\n')
		text := string(line)
		for errors.Is(err, bufio.ErrBufferFull) && len(text) < longest {
			line, err = in.ReadSlice('\n')
			text += string(line)
		}
		if err != nil {
			return
		}
		if !c.line(ctx, strings.TrimRight(text, "\r\n")) {
			return
		}
	}
}

// take gives the connection the first one of the script that nothing plays and that is suitable.
func (c *side) take(suitable func(*thread) bool) bool {
	taken := false
	c.server.change(func() {
		for _, l := range c.server.threads {
			if l.taken || len(l.steps) == 0 || !suitable(l) {
				continue
			}
			if c.thread != nil {
				l.at, c.thread.at, c.thread.taken = c.thread.at, 0, false
			}
			c.thread, l.taken, taken = l, true, true
			return
		}
	})
	return taken
}

func (c *side) write(text string) bool {
	_, err := c.nc.Write([]byte(text))
	return err == nil
}

// next returns the next step, nil behind the last.
func (c *side) next() scenarios.Step {
	if c.thread == nil || c.thread.at >= len(c.thread.steps) {
		return nil
	}
	return c.thread.steps[c.thread.at].step
}

func (c *side) advance() { c.server.change(func() { c.thread.at++ }) }

// answer sends what the script has up to the client's next line, and reports whether the connection is open.
func (c *side) answer(ctx context.Context) bool {
	for {
		switch step := c.next().(type) {
		case greetingStep:
			return c.write("+HI {\"v\":2}\r\n")
		case *scenarios.Expect:
			made, err := step.Choices[0].Make(func(n scenarios.Name) any { return c.value(ctx, n) })
			if err != nil {
				c.server.differ("line %d: %v", step.Line, err)
			}
			c.advance()
			if made.Ending != scenarios.Open {
				return false
			}
			if !c.write(bytesOf(made)) {
				return false
			}
		case *scenarios.Send:
			if step.Ending == scenarios.Open {
				return true
			}
			c.advance() // the client ends the connection: what it does is seen by itself
		default:
			return true
		}
	}
}

// bytesOf returns a message as RESP.
func bytesOf(m scenarios.Made) string {
	switch m.Sign {
	case "$":
		return fmt.Sprintf("$%d\r\n%s\r\n", len(m.Text), m.Text)
	case "$-1":
		return "$-1\r\n"
	case "-":
		return "-" + cmp.Or(m.Text, "ERR as the script has it") + "\r\n"
	case ":":
		return ":" + cmp.Or(m.Text, "0") + "\r\n"
	case "*":
		return "*0\r\n"
	}
	return "+" + cmp.Or(m.Text, "OK") + "\r\n"
}

// bindPatience is how long a reply waits for a name that another client has to send before.
const bindPatience = 10 * time.Second

// value returns the value of a name in a reply: what a client has sent, or a fresh one.
func (c *side) value(ctx context.Context, n scenarios.Name) any {
	s, key := c.server, n.String()
	if first, is := s.first[key]; is && first < c.thread.steps[c.thread.at].number {
		waiting, cancel := context.WithTimeout(ctx, bindPatience)
		s.await(waiting, func() bool { return s.values[key] != nil })
		cancel()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values[key] == nil {
		s.values[key] = "fwp-script-" + strings.ToLower(rand.Text())
	}
	return s.values[key]
}

// line takes a line of the client, and reports whether the connection goes on.
func (c *side) line(ctx context.Context, text string) bool {
	verb := fwp.SplitCommand([]byte(text)).Verb
	goesOn := func(l *thread) bool { return c.thread != nil && l.at == 0 && l.goesOn(c.thread.at, verb) }
	if c.expects(verb) || c.take(goesOn) {
		if step, is := c.next().(*scenarios.Send); is {
			c.compare(step, text)
			c.advance()
			return true
		}
		c.advance()
		return c.write("+OK\r\n") // the HELLO of a greeting that the script leaves out
	}
	return c.idle(ctx, verb, text)
}

// expects reports whether the script goes on with a line of a verb.
func (c *side) expects(verb string) bool {
	return c.thread != nil && c.thread.goesOn(c.thread.at, verb)
}

func (l *thread) goesOn(at int, verb string) bool {
	if at >= len(l.steps) {
		return false
	}
	switch step := l.steps[at].step.(type) {
	case greetingStep:
		return verb == fwp.HELLO
	case *scenarios.Send:
		text, _ := step.Marked()
		return step.Ending == scenarios.Open && fwp.SplitCommand([]byte(strings.TrimSpace(text))).Verb == verb
	}
	return false
}

// fetchWait is how long a FETCH waits that the script does not have.
const fetchWait = 2 * time.Second

// idle answers a line that the script does not have here.
func (c *side) idle(ctx context.Context, verb, text string) bool {
	switch verb {
	case fwp.BEAT:
		return c.write("+OK\r\n")
	case fwp.INFO:
		return c.write("$2\r\n{}\r\n")
	case fwp.FETCH:
		timer := time.NewTimer(fetchWait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		return c.write("$-1\r\n")
	case fwp.END:
		if c.next() != nil {
			c.server.differ("%s: END, and the script goes on with line %d", c.thread.name, c.thread.line())
		}
		c.write("+OK\r\n")
		return false
	case fwp.HELLO:
		return c.write("+OK\r\n")
	}
	if c.next() == nil {
		c.server.differ("the script has no such line any more: %s", shown(text))
	} else {
		c.server.differ("%s: expected line %d of the script, got %s", c.thread.name, c.thread.line(), shown(text))
	}
	return c.write("-ERR the script does not have this line here\r\n")
}

func shown(text string) string {
	const most = 200
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}

// compare gives the names of a line the values that the client has sent. A name that has another value already is a
// difference.
func (c *side) compare(step *scenarios.Send, text string) {
	want, name := step.Marked()
	a, b := fwp.SplitCommand([]byte(want)).Args, fwp.SplitCommand([]byte(text)).Args
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		words, got := strings.Fields(string(a)), strings.Fields(string(b))
		for i := range min(len(words), len(got)) {
			c.bind(step, words[i], got[i], name)
		}
		return
	}
	c.walk(step, x, y, name)
}

func (c *side) walk(step *scenarios.Send, want, got any, name func(string) (scenarios.Name, bool)) {
	switch want := want.(type) {
	case string:
		c.bind(step, want, got, name)
	case map[string]any:
		object, _ := got.(map[string]any)
		for key, v := range want {
			if other, has := object[key]; has {
				c.walk(step, v, other, name)
			}
		}
	case []any:
		list, _ := got.([]any)
		for i := range min(len(want), len(list)) {
			c.walk(step, want[i], list[i], name)
		}
	}
}

func (c *side) bind(step *scenarios.Send, mark string, got any, name func(string) (scenarios.Name, bool)) {
	n, is := name(mark)
	if !is {
		return
	}
	if _, computed := n.Computed(time.Now()); computed || n.Base() == "pwdhash" {
		return
	}
	s, key := c.server, n.String()
	var other any
	s.change(func() {
		if other = s.values[key]; other == nil {
			s.values[key], other = got, got
		}
	})
	if !reflect.DeepEqual(other, got) {
		s.differ("line %d: %s is %v, and was %v before", step.Line, key, got, other)
	}
}
