package record

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
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/scenarios"
)

// clientConn is one connection of a client.
type clientConn struct {
	server *ScriptServer
	nc     net.Conn
	thread *thread // nil: the script has no more
}

func (s *ScriptServer) serve(ctx context.Context, nc net.Conn) {
	stop := context.AfterFunc(ctx, func() { _ = nc.Close() })
	defer stop()
	defer nc.Close()
	c := &clientConn{server: s, nc: nc}
	c.take(func(l *thread) bool { return l.index == 0 })
	if c.thread == nil {
		c.write("+HI {\"v\":2}\r\n")
	}
	in := bufio.NewReaderSize(nc, 64<<10)
	for c.answer(ctx) {
		line, err := in.ReadSlice('\n')
		text := string(line)
		for errors.Is(err, bufio.ErrBufferFull) && len(text) < maxLine {
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
func (c *clientConn) take(isSuitable func(*thread) bool) bool {
	isTaken := false
	c.server.change(func() {
		for _, l := range c.server.threads {
			if l.isTaken || len(l.steps) == 0 || !isSuitable(l) {
				continue
			}
			if c.thread != nil {
				l.index, c.thread.index, c.thread.isTaken = c.thread.index, 0, false
			}
			c.thread, l.isTaken, isTaken = l, true, true
			return
		}
	})
	return isTaken
}

func (c *clientConn) write(text string) bool {
	_, err := c.nc.Write([]byte(text))
	return err == nil
}

// next returns the next step, nil behind the last.
func (c *clientConn) next() scenarios.Step {
	if c.thread == nil || c.thread.index >= len(c.thread.steps) {
		return nil
	}
	return c.thread.steps[c.thread.index].step
}

func (c *clientConn) advance() { c.server.change(func() { c.thread.index++ }) }

// answer sends what the script has up to the client's next line, and reports whether the connection is open.
func (c *clientConn) answer(ctx context.Context) bool {
	for {
		switch step := c.next().(type) {
		case greetingStep:
			return c.write("+HI {\"v\":2}\r\n")
		case *scenarios.Expect:
			message, err := step.Choices[0].Make(func(n scenarios.Name) any { return c.value(ctx, n) })
			if err != nil {
				c.server.addDifference("line %d: %v", step.Line, err)
			}
			c.advance()
			if message.Ending != scenarios.Open {
				return false
			}
			if !c.write(bytesOf(message)) {
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
func (c *clientConn) value(ctx context.Context, n scenarios.Name) any {
	s, key := c.server, n.String()
	if first, ok := s.firstStep[key]; ok && first < c.thread.steps[c.thread.index].number {
		waitCtx, cancel := context.WithTimeout(ctx, bindPatience)
		s.await(waitCtx, func() bool { return s.values[key] != nil })
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
func (c *clientConn) line(ctx context.Context, text string) bool {
	verb := fwp.SplitCommand([]byte(text)).Verb
	goesOn := func(l *thread) bool { return c.thread != nil && l.index == 0 && l.goesOn(c.thread.index, verb) }
	if c.thread != nil && c.thread.goesOn(c.thread.index, verb) || c.take(goesOn) {
		if step, ok := c.next().(*scenarios.Send); ok {
			c.compare(step, text)
			c.advance()
			return true
		}
		c.advance()
		return c.write("+OK\r\n") // the HELLO of a greeting that the script leaves out
	}
	return c.answerOther(ctx, verb, text)
}

func (l *thread) goesOn(at int, verb string) bool {
	if at >= len(l.steps) {
		return false
	}
	switch step := l.steps[at].step.(type) {
	case greetingStep:
		return verb == fwp.HELLO
	case *scenarios.Send:
		text, _ := step.PlaceholderText()
		return step.Ending == scenarios.Open && fwp.SplitCommand([]byte(strings.TrimSpace(text))).Verb == verb
	}
	return false
}

// fetchWait is how long a FETCH waits that the script does not have.
const fetchWait = 2 * time.Second

// answerOther answers a line that the script does not have here.
func (c *clientConn) answerOther(ctx context.Context, verb, text string) bool {
	switch verb {
	case fwp.BEAT:
		return c.write("+OK\r\n")
	case fwp.INFO:
		return c.write("$2\r\n{}\r\n")
	case fwp.FETCH:
		machine.Sleep(ctx, fetchWait)
		return c.write("$-1\r\n")
	case fwp.END:
		if c.next() != nil {
			c.server.addDifference("%s: END, and the script goes on with line %d", c.thread.name, c.thread.line())
		}
		c.write("+OK\r\n")
		return false
	case fwp.HELLO:
		return c.write("+OK\r\n")
	}
	if c.next() == nil {
		c.server.addDifference("the script has no such line (any more): %s", shortenText(text))
	} else {
		c.server.addDifference("%s: expected line %d of the script, got %s", c.thread.name, c.thread.line(),
			shortenText(text))
	}
	return c.write("-ERR the script does not have this line here\r\n")
}

func shortenText(text string) string {
	const limit = 200
	if len(text) > limit {
		return text[:limit] + "..."
	}
	return text
}

// compare gives the names of a line the values that the client has sent. A name that has another value already is a
// difference.
func (c *clientConn) compare(step *scenarios.Send, text string) {
	want, names := step.PlaceholderText()
	a, b := fwp.SplitCommand([]byte(want)).Args, fwp.SplitCommand([]byte(text)).Args
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		words, got := strings.Fields(string(a)), strings.Fields(string(b))
		for i := range min(len(words), len(got)) {
			c.bind(step, words[i], got[i], names)
		}
		return
	}
	c.walk(step, x, y, names)
}

func (c *clientConn) walk(step *scenarios.Send, want, got any, names map[string]scenarios.Name) {
	switch want := want.(type) {
	case string:
		c.bind(step, want, got, names)
	case map[string]any:
		object, _ := got.(map[string]any)
		for key, v := range want {
			if other, ok := object[key]; ok {
				c.walk(step, v, other, names)
			}
		}
	case []any:
		list, _ := got.([]any)
		for i := range min(len(want), len(list)) {
			c.walk(step, want[i], list[i], names)
		}
	}
}

func (c *clientConn) bind(step *scenarios.Send, mark string, got any, names map[string]scenarios.Name) {
	n, ok := names[mark]
	if !ok {
		return
	}
	if _, isComputed := n.Computed(time.Now()); isComputed || n.Base() == "pwdhash" {
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
		s.addDifference("line %d: %s is %v, but was %v before", step.Line, key, got, other)
	}
}
