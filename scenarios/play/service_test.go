package play_test

import (
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/machine"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// A service that was never provided has not ended: no such server is dead.
func TestAServiceNeverProvidedIsNotLost(t *testing.T) {
	t.Parallel()
	const hello = "S: +HI {}\nclause FWP-HELLO-15\nC: HELLO {\"v\":2}\nS: +OK\n"
	tests := map[string]struct {
		answers map[string]string
		script  string
		want    string
		got     string // in the conversation
	}{
		"closes on HELLO": {map[string]string{"HELLO": closes}, hello, "1 matched\n4 mismatched\n",
			"the server closed the connection on HELLO; this server has not served any connection"},
		"resets on HELLO": {map[string]string{"HELLO": resets}, hello, "1 matched\n4 mismatched\n",
			"the server reset the connection on HELLO; this server has not served any connection"},
		"hangs on HELLO": {map[string]string{"HELLO": mute}, hello, "1 matched\n4 unsure\nbreach no-reply at 4\n",
			"HELLO was not answered; this server has not served any connection"},
		"hangs after HELLO": {map[string]string{"PUSH": mute, "BEAT": mute}, hello + "C: PUSH $job\nS: +OK\n",
			"1 matched\n4 matched\n6 unsure\nbreach no-reply at 6\n", "BEAT on a new connection gets no reply; this server " +
				"has not served any connection"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			playScript(t, &peer{answers: test.answers}, test.script, func(t *testing.T, r *play.Run) {
				assert.Equal(t, test.want, outcomes(r))
				assert.Empty(t, r.NotServing)
				assert.Contains(t, conversation(r), test.got)
				assert.Less(t, r.Took, 25*time.Second, "what was never served is asked for once")
			})
		})
	}
}

// What was served once and is not any more is dead, at whatever step it ends. A connection of another play was open when
// the last question was sent, and ends before that is given up: there may be a limit.
func TestWhatServedAndDoesNotIsDead(t *testing.T) {
	t.Parallel()
	for name, silent := range map[string]string{"HELLO": "HELLO", "BEAT": "BEAT"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var isOver atomic.Bool
			r := &rogue{talk: conversing(func(line string) (string, bool) {
				isOver.CompareAndSwap(false, strings.HasPrefix(line, "PUSH"))
				if isOver.Load() && (strings.HasPrefix(line, "PUSH") || strings.HasPrefix(line, silent)) {
					return "", true
				}
				return "+OK\r\n", line != "END"
			})}
			const lines = consumer + "C: BEAT {\"wid\":\"$wid\"}\nS: +OK\nC: PUSH $job\nS: +OK\n"
			script, err := scenarios.Parse(fwpscript.Dialect{}, "test.fwp", []byte(lines))
			require.NoError(t, err)
			synctest.Test(t, func(t *testing.T) {
				r.serve(t)
				peers := new(play.PeerStats)
				time.AfterFunc(5*play.DefaultTimeout/2, play.NewConnCounter(peers).Opened().End)
				player := &play.Player{Target: r, Meter: new(machine.Meter), Peers: peers}
				run := player.Play(t.Context(), script, "fwp-test-0001")
				assert.Equal(t, "3 matched\n5 mismatched\ndead\n", outcomes(run))
				assert.Contains(t, run.NotServing, silent)
				assert.Equal(t, 2, run.OpenConns)
			})
		})
	}
}

// A server that turns connections away while one is open that it has refused may have reached its limit. One that is
// silent then is stopped by a client.
func TestALimitOfConnectionsThatAreRefused(t *testing.T) {
	t.Parallel()
	const script = "connect a as raw\nS[a]: +HI {}\nclause FWP-AUTH-03\n" +
		"C[a]: HELLO {\"v\":2,\"pwdhash\":\"00\"}\nS[a]: -\n"
	refusing := conversing(func(string) (string, bool) { return "-ERR password\r\n", true })
	for name, beyond := range map[string]func(net.Conn){
		"turns away": func(net.Conn) {},
		"is silent":  func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var conns atomic.Int32
			r := &rogue{talk: func(n int, c net.Conn) {
				if conns.Add(1); conns.Load() > 1 {
					beyond(c)
				} else {
					refusing(n, c)
				}
				conns.Add(-1)
			}}
			playOn(t, r, script, func(t *testing.T, r *play.Run) {
				limited := name == "turns away"
				assert.Equal(t, limited, r.Refusal != nil)
				assert.Equal(t, limited, r.NotServing == "")
			})
		})
	}
}

func conversation(r *play.Run) string {
	var b strings.Builder
	for _, l := range r.Conversation {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}

// In a quick play the end of patience is no finding: what was awaited may still come.
func TestQuickPlaysAreUnsureOfWhatIsEventual(t *testing.T) {
	t.Parallel()
	const waiting = "C: FETCH $queue\nS: ${}\nend\n"
	for name, test := range map[string]struct {
		block, want string
		cutShort    bool
		longest     time.Duration
	}{
		"patient":          {"eventually\n", "5 mismatched\n", false, 165 * time.Second},
		"quick":            {"eventually\n", "5 unsure\n", true, 20 * time.Second},
		"a long window":    {"eventually ..60s\n", "5 unsure\n", true, 20 * time.Second},
		"a short window":   {"eventually ..5s\n", "5 mismatched\n", true, 10 * time.Second},
		"a patient window": {"eventually ..60s\n", "5 mismatched\n", false, 70 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := scenarios.Parse(fwpscript.Dialect{}, "test.fwp",
				[]byte(consumer+"clause FWP-STATE-11\n"+test.block+waiting))
			require.NoError(t, err)
			synctest.Test(t, func(t *testing.T) {
				p := &peer{answers: map[string]string{"FETCH": "$-1\r\n"}}
				p.serve(t)
				player := &play.Player{Target: p, Meter: new(machine.Meter), Quick: test.cutShort}
				if test.cutShort {
					player.Patience = 15 * time.Second
				}
				r := player.Play(t.Context(), s, "fwp-test-0001")
				assert.Equal(t, test.want, outcomes(r))
				assert.Less(t, r.Took, test.longest)
			})
		})
	}
}

func TestAMarkCanHaveALevelOfTwoWords(t *testing.T) {
	t.Parallel()
	for _, level := range scenarios.Levels() {
		s, err := scenarios.Parse(fwpscript.Dialect{}, "test.fwp",
			[]byte("clause FWP-A-01 "+level+" FWP-B-01\nC: INFO\nS: $\n"))
		require.NoError(t, err, level)
		for m := range s.Marks() {
			assert.Equal(t, level == m.Level, m.Clause == "FWP-A-01", level)
		}
	}
	for _, wrong := range []string{"MAY NOT", "NOT", "plain NOT", "NOT MUST"} {
		_, err := scenarios.Parse(fwpscript.Dialect{}, "test.fwp", []byte("clause FWP-A-01 "+wrong+"\nC: INFO\nS: $\n"))
		require.ErrorContains(t, err, "neither a clause id nor a level", wrong)
	}
}

// That a question was asked in vain takes nothing away from what was served: who ends
// every connection is dead although its INFO was never answered.
func TestWhatWasAskedInVainHidesNoDeath(t *testing.T) {
	t.Parallel()
	var pushes atomic.Int64
	greets := conversing(func(line string) (string, bool) {
		if strings.HasPrefix(line, "PUSH") {
			pushes.Add(1)
		}
		return map[string]string{"HELLO": "+OK\r\n",
			"PUSH": "-ERR no\r\n"}[line[:min(len(line), strings.IndexByte(line+" ", ' '))]], line != "END"
	})
	r := &rogue{talk: func(n int, c net.Conn) {
		if pushes.Load() < 2 {
			greets(n, c)
		}
	}}
	const push = "C bad: PUSH x\nS: -\n"
	playOn(t, r, producer+push+push, func(t *testing.T, r *play.Run) {
		assert.Equal(t, "3 matched\n5 matched\ndead\n", outcomes(r))
		assert.Contains(t, r.NotServing, "closed the connection instead of sending HI")
	})
}

// The question on a new connection is another worker's, so that its END means nothing to the script's. Its question is
// asked again on one of the same worker before the old connection is blamed for a refusal.
func TestTheQuestionIsAnotherWorkers(t *testing.T) {
	t.Parallel()
	const script = "connect as consumer\nC bad: FETCH  x\nS: -\nC: FETCH $queue\nS: $-1\n"
	for name, test := range map[string]struct {
		refused func(wid, last string, ended bool) bool // the BEATs that are
	}{
		"a worker is over with its END":  {func(_, _ string, ended bool) bool { return ended }},
		"the worker is never served":     {func(wid, _ string, _ bool) bool { return strings.HasSuffix(wid, "-1") }},
		"the last that greeted is known": {func(wid, last string, _ bool) bool { return wid != last }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			ended, asking, last := map[string]bool{}, map[string]bool{}, ""
			r := &rogue{talk: func(n int, c net.Conn) {
				wid := ""
				conversing(func(line string) (string, bool) {
					mu.Lock()
					defer mu.Unlock()
					verb, _, _ := strings.Cut(line, " ")
					if _, rest, ok := strings.Cut(line, `"wid":"`); ok {
						wid, _, _ = strings.Cut(rest, `"`)
					}
					switch {
					case verb == "FETCH" && strings.Contains(line, "  "):
						return "-ERR\r\n", true
					case verb == "FETCH":
						return "$-1\r\n", true
					case verb == "END":
						ended[wid] = true
						return "+OK\r\n", false
					case verb == "HELLO":
						last = wid
					case verb == "BEAT":
						asking[wid] = true
						if test.refused(wid, last, ended[wid]) {
							return "-ERR\r\n", true
						}
					}
					return "+OK\r\n", true
				})(n, c)
			}}
			playOn(t, r, script, func(t *testing.T, run *play.Run) {
				assert.Equal(t, "3 matched\n5 matched\n", outcomes(run))
				assert.Len(t, asking, 2)
			})
		})
	}
}
