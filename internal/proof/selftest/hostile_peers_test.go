package selftest_test

import (
	"bufio"
	"encoding/json"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// party is one connection of a hostile peer. Everything that it does takes some time: in virtual time a
// loop that takes none would not end.
type party struct {
	net.Conn
	in     *bufio.Reader
	number int64 // of the connection, from 1
	entry  *peerStats
}

// peerStats is what the connections of a peer have in common.
type peerStats struct {
	conns     atomic.Int64
	openConns atomic.Int64
	maxBytes  atomic.Int64 // bytes that one connection could write

	mu    sync.Mutex
	reply string // the latest one, of any connection
}

// say writes text, and reports whether the connection takes it.
func (p *party) say(text string) bool {
	time.Sleep(5 * time.Millisecond)
	_, err := p.Write([]byte(text))
	return err == nil
}

// line returns the next line that a client sends; false if there is none.
func (p *party) line() (string, bool) {
	line, err := p.in.ReadString('\n')
	return strings.TrimRight(line, "\r\n"), err == nil
}

// answer answers each line with what a function returns for its verb, until the client ends. Without an answer
// the client waits; "close" and "reset" end the connection.
func (p *party) answer(respond func(verb, line string) string) {
	for {
		line, ok := p.line()
		if !ok {
			return
		}
		verb, _, _ := strings.Cut(line, " ")
		switch reply := respond(verb, line); {
		case reply == "close":
			return
		case reply == "reset":
			p.reset()
			return
		case reply == "":
		case !p.say(reply):
			return
		}
	}
}

func (p *party) reset() {
	if l, ok := p.Conn.(interface{ SetLinger(sec int) error }); ok {
		_ = l.SetLinger(0)
	}
	_ = p.Close()
}

// endless writes first, and then the same again and again, as fast as the client takes it.
func (p *party) endless(first, next string) {
	var size int64
	for text := first; p.say(text); text = next {
		size += int64(len(text))
	}
	maximum := &p.entry.maxBytes
	for old := maximum.Load(); size > old && !maximum.CompareAndSwap(old, size); old = maximum.Load() {
		continue
	}
}

// drip writes a text a byte a second.
func (p *party) drip(text string) {
	for _, b := range []byte(text) {
		time.Sleep(time.Second)
		if _, err := p.Write([]byte{b}); err != nil {
			return
		}
	}
}

// noise returns bytes that are the same in every run.
func (p *party) noise(n int) string {
	random := rand.New(rand.NewPCG(4711, uint64(p.number))) //nolint:gosec // the same in every run
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return string(b)
}

const (
	hi      = "+HI {\"v\":2}\r\n"
	ok      = "+OK\r\n"
	bigSize = 1 << 20
)

// bulk returns a text as a bulk string.
func bulk(text string) string { return "$" + strconv.Itoa(len(text)) + "\r\n" + text + "\r\n" }

// sayText is a peer that writes a text and then reads until the client ends.
func sayText(text string) func(*party) {
	return func(p *party) {
		p.say(text)
		p.answer(func(string, string) string { return "" })
	}
}

// greets is a peer that greets as FWP requires and then answers each command but HELLO and END the same way.
func greets(rest string) func(*party) {
	return answers(func(string, string) string { return rest })
}

// accepts returns the reply to a HELLO: OK if it has the version 2 and fields of the right types.
func accepts(line string) string {
	var hello struct {
		V             int
		Hostname, WID string
		PID           int
		Labels        []string
	}
	if err := json.Unmarshal([]byte(strings.TrimPrefix(line, "HELLO")), &hello); err != nil || hello.V != 2 {
		return "-ERR HELLO is not valid\r\n"
	}
	return ok
}

// answers is a peer that greets as FWP requires, accepts each HELLO that it can read and END, and answers other
// commands as a function does.
func answers(respond func(verb, line string) string) func(*party) {
	return func(p *party) {
		p.say(hi)
		p.answer(func(verb, line string) string {
			switch verb {
			case "HELLO":
				return accepts(line)
			case "END":
				return ok
			}
			return respond(verb, line)
		})
	}
}

// floods is a peer that greets as FWP requires, accepts HELLO, and answers the next command without an end.
func floods(first, next string) func(*party) {
	return func(p *party) {
		p.say(hi)
		p.answer(func(verb, line string) string {
			if verb == "HELLO" {
				return accepts(line)
			}
			p.endless(first, next)
			return "close"
		})
	}
}

// endBefore is a peer that ends each connection at the given verb; "" is before the greeting.
func endBefore(verb, mode string) func(*party) {
	return func(p *party) {
		if verb == "" {
			if mode == "reset" {
				p.reset()
			}
			return
		}
		p.say(hi)
		p.answer(func(v, _ string) string {
			switch v {
			case verb:
				return mode
			case "FETCH":
				return "$-1\r\n"
			case "INFO":
				return "$2\r\n{}\r\n"
			}
			return ok
		})
	}
}

// writeBytes is a peer that greets a connection only when no other one is open.
func writeBytes(p *party) {
	time.Sleep(5 * time.Millisecond) // until connections that the client has closed are counted as such
	if p.entry.openConns.Load() > 1 {
		p.answer(func(string, string) string { return "" })
		return
	}
	greets(ok)(p)
}

// previous is a peer that answers each command with the answer to the one before, of any connection.
func previous(p *party) {
	p.say(hi)
	p.answer(func(verb, line string) string {
		p.entry.mu.Lock()
		defer p.entry.mu.Unlock()
		reply := p.entry.reply
		p.entry.reply = ok
		if verb == "FETCH" || verb == "INFO" {
			p.entry.reply = "$2\r\n{}\r\n"
		}
		if reply == "" {
			return ok
		}
		return reply
	})
}

// unasked is a peer that sends replies all the time, one a second.
func unasked(p *party) {
	if !p.say(hi) {
		return
	}
	for p.say(ok) {
		time.Sleep(time.Second)
	}
}

// slowDown is a peer that answers correctly in form, and late.
func slowDown(p *party) {
	endBefore("none", "")(&party{Conn: lateConn{p.Conn}, in: p.in, number: p.number, entry: p.entry})
}

type lateConn struct{ net.Conn }

func (l lateConn) Write(b []byte) (int, error) {
	time.Sleep(9 * time.Second)
	return l.Conn.Write(b)
}

// greetsLate is a peer that greets after nine seconds.
func greetsLate(p *party) {
	time.Sleep(9 * time.Second)
	greets(ok)(p)
}

// answerEach is a peer that serves as FWP requires, but for the answers of a function; "" is the usual one.
func answerEach(respond func(verb, line string) string) func(*party) {
	return answers(func(verb, line string) string {
		if reply := respond(verb, line); reply != "" {
			return reply
		}
		switch verb {
		case "FETCH":
			return "$-1\r\n"
		case "INFO":
			return bulk(`{"faktory":{"queues":{}}}`)
		}
		return ok
	})
}

// jobs is a peer with a job for each FETCH, of any queue: always the same, or another one.
func jobs(differ bool) func(*party) {
	return func(p *party) {
		n := 0
		answerEach(func(verb, _ string) string {
			if verb != "FETCH" {
				return ""
			}
			if differ {
				n++
			}
			return bulk(`{"jid":"` + strconv.Itoa(n) + `","jobtype":"x","queue":"default","args":[]}`)
		})(p)
	}
}

// closeConn is a peer that ends each connection after its first reply but that to HELLO.
func closeConn(p *party) {
	p.say(hi)
	p.answer(func(verb, _ string) string {
		if verb == "HELLO" {
			return ok
		}
		p.say("$-1\r\n")
		return "close"
	})
}

// escapes are what a terminal must not be sent, as bytes and as JSON has them.
const escapes = "\x1b]0;title\a\xc2\x9b2J\u202e\u2066\u200b\x7f"

// escaping is a peer whose every text has them.
func escaping(p *party) {
	p.say("+HI {\"v\":2,\"x\":\"\u202e\u009b\x7f\"}\r\n")
	p.answer(func(verb, _ string) string {
		switch verb {
		case "HELLO", "END", "PUSH":
			return ok
		case "FETCH", "INFO":
			return bulk("{\"jid\":\"\u202e\u009b\",\"jobtype\":\"\u2066\",\"queue\":\"\u202e\",\"args\":[\"" + escapes + "\"]}")
		}
		return "-ERR " + escapes + "\r\n"
	})
}

// queues returns the INFO of a server with so many of them.
func queues(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`"q` + strconv.Itoa(i) + `":1,`)
	}
	return bulk(`{"faktory":{"queues":{` + b.String() + `"default":0}}}`)
}
