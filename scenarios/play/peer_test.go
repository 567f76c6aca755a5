package play_test

import (
	"bufio"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// peer is a server for one test: what it says to a line is looked up by the
// longest prefix. Lines that it does not know get +OK. It is written with plain
// bytes, and shares nothing with the engine.
type peer struct {
	greeting string            // what a new connection is greeted with
	answers  map[string]string // bytes, or one of the words below
	delay    map[string]time.Duration
	next     []string      // answers to FETCH, one each, before answers is looked at
	limit    int           // how many connections are greeted at all, 0: all
	holds    bool          // the others stay open, and nothing is said on them
	idle     time.Duration // after which a greeted connection is closed, 0: never

	mu    sync.Mutex
	log   []string // the lines of all connections, in the order in which they came
	count int
	memnet.Place
}

// What a peer does instead of answering.
const (
	closes = "(closes)"
	resets = "(resets)"
	mute   = "(says nothing)"
)

// serve starts the peer; it ends with the test's bubble.
func (p *peer) serve(t *testing.T) {
	t.Helper()
	p.Place = memnet.NewPlace()
	l := p.MustListen()
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { p.talk(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
	})
}

func (p *peer) talk(c net.Conn) {
	defer c.Close()
	p.mu.Lock()
	p.count++
	isOver := p.limit > 0 && p.count > p.limit
	p.mu.Unlock()
	greeting := p.greeting
	if greeting == "" {
		greeting = "+HI {\"v\":2}\r\n"
	}
	if isOver && p.holds {
		_, _ = io.Copy(io.Discard, c)
	}
	if isOver || !say(c, greeting) {
		return
	}
	for lines := bufio.NewReader(c); ; {
		line, err := lines.ReadString('\n')
		if err != nil || !p.answer(c, strings.TrimRight(line, "\r\n")) {
			return
		}
	}
}

func (p *peer) answer(c net.Conn, line string) bool {
	p.mu.Lock()
	p.log = append(p.log, line)
	p.mu.Unlock()
	answer, longest := "+OK\r\n", ""
	for prefix, a := range p.answers {
		if strings.HasPrefix(line, prefix) && len(prefix) > len(longest) {
			answer, longest = a, prefix
		}
	}
	if strings.HasPrefix(line, "FETCH") {
		answer = p.take(answer)
	}
	if d := p.delay[longest]; d > 0 {
		time.Sleep(d)
	}
	if longest == "" && line == "INFO" {
		answer = "$2\r\n{}\r\n"
	}
	if p.idle > 0 && strings.HasPrefix(line, "HELLO") {
		time.AfterFunc(p.idle, func() { _ = c.Close() })
	}
	return say(c, answer) && line != "END"
}

// take is the next answer to FETCH, or the usual one.
func (p *peer) take(usual string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.next) == 0 {
		return usual
	}
	answer := p.next[0]
	p.next = p.next[1:]
	return answer
}

// say writes an answer; false if the connection is over.
func say(c net.Conn, answer string) bool {
	switch answer {
	case mute:
		return true
	case closes:
		return false
	case resets:
		_ = c.(interface{ SetLinger(sec int) error }).SetLinger(0)
		return false
	}
	_, err := c.Write([]byte(answer))
	return err == nil
}

func (p *peer) lines() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.log...)
}

// playScript plays a script on the peer in virtual time.
func playScript(t *testing.T, p *peer, script string, check func(t *testing.T, r *play.Run)) {
	t.Helper()
	playIn(t, fwpscript.Dialect{}, p, script, check)
}

// playIn is playScript in another dialect.
func playIn(t *testing.T, in scenarios.Dialect, p *peer, script string, check func(t *testing.T, r *play.Run)) {
	t.Helper()
	s, err := scenarios.Parse(in, "test.fwp", []byte(script))
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		p.serve(t)
		player := &play.Player{Target: p, Password: "secret", Meter: new(machine.Meter)}
		check(t, player.Play(t.Context(), s, "fwp-test-0001"))
	})
}
