package play_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

const (
	openHi   = "+HI {\"v\":2}\r\n"
	longTime = 24 * time.Hour // virtual: the server comes back to nothing any more
)

// rogue is a server that does on each connection whatever a test wants; n counts the
// connections from 1. It closes when talk returns.
type rogue struct {
	talk func(n int, c net.Conn)
	memnet.Place
}

func (r *rogue) serve(t *testing.T) {
	t.Helper()
	r.Place = memnet.NewPlace()
	l := r.MustListen()
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 1; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				r.talk(n, c)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
	})
}

// conversing greets and then answers line by line; an empty answer is none, and false
// ends it.
func conversing(answer func(line string) (string, bool)) func(int, net.Conn) {
	return func(_ int, c net.Conn) {
		if !say(c, openHi) {
			return
		}
		for in := bufio.NewReader(c); ; {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			text, goesOn := answer(strings.TrimRight(line, "\r\n"))
			if text != "" && !say(c, text) || !goesOn {
				return
			}
		}
	}
}

// greeted greets, takes the HELLO, and leaves the rest to then.
func greeted(c net.Conn, then func(in *bufio.Reader)) {
	say(c, openHi)
	in := bufio.NewReader(c)
	if _, err := in.ReadString('\n'); err == nil && say(c, "+OK\r\n") {
		then(in)
	}
}

// playOn plays a script on a rogue in virtual time.
func playOn(t *testing.T, r *rogue, script string, check func(t *testing.T, run *play.Run)) {
	t.Helper()
	s, err := scenarios.Parse(fwpscript.Dialect{}, "test.fwp", []byte(script))
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		r.serve(t)
		player := &play.Player{Target: r, Meter: new(machine.Meter)}
		check(t, player.Play(t.Context(), s, "fwp-test-0001"))
	})
}

func TestALineThatIsNotReadDoesNotHang(t *testing.T) {
	t.Parallel()
	stops := &rogue{talk: func(n int, c net.Conn) {
		greeted(c, func(in *bufio.Reader) {
			if n == 1 { // reads no more
				time.Sleep(longTime)
				return
			}
			for line, err := in.ReadString('\n'); err == nil && line != "END\r\n"; line, err = in.ReadString('\n') {
				say(c, "$2\r\n{}\r\n")
			}
		})
	}}
	playOn(t, stops, producer+"C: PUSH $job{\"args\":[\"$filler(1MiB)\"]}\nS: +OK\nC: INFO\nS: $\n",
		func(t *testing.T, r *play.Run) {
			assert.Equal(t, "3 unsure\n5 not reached\nbreach no-reply at 3\n", outcomes(r))
			assert.Less(t, r.Took, 25*time.Second)
			require.Len(t, r.Breaches, 1)
			assert.Contains(t, r.Breaches[0].Got, "stopped reading")
		})
}

// The line that says that no reply came has the time of its result, by which a report finds it. Time is real here:
// virtual time would stand still between the two.
func TestAMissingReplyHasItsLine(t *testing.T) {
	t.Parallel()
	s, err := scenarios.Parse(fwpscript.Dialect{}, "test.fwp", []byte("S: +HI {}\n"))
	require.NoError(t, err)
	r := &rogue{talk: func(_ int, c net.Conn) { _, _ = bufio.NewReader(c).ReadString(0) }}
	r.serve(t)
	run := (&play.Player{Target: r, Timeout: 20 * time.Millisecond}).Play(t.Context(), s, "fwp-test-0001")
	require.Len(t, run.Results, 1)
	assert.True(t, slices.ContainsFunc(run.Conversation, func(l reports.Line) bool {
		return l.From == reports.FromSuite && l.At == run.Results[0].At
	}), run.Conversation)
}

func TestAFloodIsNotReadIntoMemory(t *testing.T) {
	t.Parallel()
	const size = 4 << 20
	big := fmt.Sprintf("$%d\r\n%s\r\n", size, strings.Repeat("x", size))
	var sent atomic.Int64
	floods := &rogue{talk: func(n int, c net.Conn) {
		greeted(c, func(in *bufio.Reader) {
			for n == 1 && say(c, big) {
				sent.Add(1)
			}
			conversing(func(string) (string, bool) { return "$2\r\n{}\r\n", true })(n, c)
		})
	}}
	playOn(t, floods, consumer+"silence 5s\n", func(t *testing.T, r *play.Run) {
		assert.Equal(t, "2 mismatched\n", outcomes(r))
		assert.Less(t, sent.Load(), int64(4))
	})
}

// answering looks a line up, then its verb; all others get +OK.
func answering(answers map[string]string) func(int, net.Conn) {
	return conversing(func(line string) (string, bool) {
		verb, _, _ := strings.Cut(line, " ")
		for _, key := range []string{line, verb} {
			if answer, ok := answers[key]; ok {
				return answer, true
			}
		}
		return "+OK\r\n", true
	})
}

// interruption is what a play waits for when it is interrupted.
type interruption struct {
	talk   func(int, net.Conn)
	script string
}

func interruptions() map[string]interruption {
	silent := func(_ int, c net.Conn) { _, _ = bufio.NewReader(c).ReadString(0) }
	mutes := answering(map[string]string{"FETCH": "", "INFO": "", "END": ""})
	null := answering(map[string]string{"FETCH": "$-1\r\n", "INFO": "$2\r\n{}\r\n", "END": ""})
	return map[string]interruption{
		"a greeting":          {silent, consumer + "C: INFO\nS: $\n"},
		"a raw greeting":      {silent, "S: +HI {}\n"},
		"a reply":             {mutes, consumer + "C: FETCH $queue\nS: $-1\n"},
		"a reply in a window": {mutes, consumer + "C: FETCH $queue\nS ..30s: $-1\n"},
		"unordered replies":   {mutes, consumer + "C: FETCH $queue\nunordered\nS: $-1\nS: $\nend\n"},
		"silence":             {null, consumer + "silence 1h\n"},
		"something eventual":  {null, consumer + "eventually\nC: FETCH $queue\nS: ${}\nend\n"},
		"a question on the old one": {answering(map[string]string{"INFO x": "-ERR\r\n", "BEAT": "", "END": ""}),
			consumer + "C bad: INFO x\nS: -\n"},
		"workers":                    {mutes, "repeat 9 by 3 consumers\nC: FETCH $queue\nS: $-1\nend\n"},
		"workers' greetings":         {silent, "repeat 9 by 3 consumers\nC: FETCH $queue\nS: $-1\nend\n"},
		"a table":                    {mutes, consumer + "table\nC: FETCH $queue\nS: $-1\nC: FETCH $queue\nS: $-1\nend\n"},
		"what must be removed after": {mutes, consumer + "C: PUSH $job\nS: +OK\nC: FETCH $queue\nS: $-1\n"},
	}
}

// Nothing of what is waited for when a run is interrupted may be blamed on the server,
// and nothing may go on for long.
func TestAnInterruptedPlayEndsAtOnce(t *testing.T) {
	t.Parallel()
	for name, test := range interruptions() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := scenarios.Parse(fwpscript.Dialect{}, "test.fwp", []byte(test.script))
			require.NoError(t, err)
			synctest.Test(t, func(t *testing.T) {
				r := &rogue{talk: test.talk}
				r.serve(t)
				ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Second, errors.New("interrupted"))
				defer cancel()
				run := (&play.Player{Target: r}).Play(ctx, s, "fwp-test-0001")
				assert.Less(t, run.Took, 6*time.Second)
				assert.NotContains(t, outcomes(run), "mismatched")
				assert.Empty(t, run.Breaches)
				assert.ErrorContains(t, run.Err, "interrupted")
			})
		})
	}
}

// A reply that drips is slow, and neither cut short nor missing.
func TestAReplyThatDripsIsWaitedFor(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		size int // bytes, one a second
		want string
	}{
		"past the timeout": {40, "3 matched\n5 matched\n"},
		"without end":      {4000, "3 unsure\n5 not reached\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			drips := &rogue{talk: func(_ int, c net.Conn) {
				greeted(c, func(in *bufio.Reader) {
					for line, err := in.ReadString('\n'); err == nil && line != "END\r\n"; line, err = in.ReadString('\n') {
						reply := fmt.Sprintf("$%d\r\n%s\r\n", test.size, strings.Repeat("x", test.size))
						for i := range reply {
							time.Sleep(900 * time.Millisecond)
							if !say(c, reply[i:i+1]) {
								return
							}
						}
					}
				})
			}}
			playOn(t, drips, consumer+"C: INFO\nS: $\nC: INFO\nS: $\n", func(t *testing.T, r *play.Run) {
				assert.Equal(t, test.want, outcomes(r))
				assert.Less(t, r.Took, 5*time.Minute)
			})
		})
	}
}
