package play_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// every n-th reply something goes wrong.
func every(n int64, wrong func(*fakes.Event)) func(*fakes.Event) {
	var count atomic.Int64
	return func(e *fakes.Event) {
		if e.Point == fakes.Writing && e.Command.Verb != "" && count.Add(1)%n == 0 {
			wrong(e)
		}
	}
}

// wrongs is what may happen to a reply.
func wrongs() map[string]func(*fakes.Event) {
	return map[string]func(*fakes.Event){
		"nothing":       func(*fakes.Event) {},
		"an error":      func(e *fakes.Event) { e.Bytes = []byte("-ERR no\r\n") },
		"a close":       func(e *fakes.Event) { e.Bytes, e.Close = nil, true },
		"a reset":       func(e *fakes.Event) { e.Bytes, e.Close, e.ResetsConn = nil, true, true },
		"no answer":     func(e *fakes.Event) { e.Bytes = nil },
		"half a reply":  func(e *fakes.Event) { e.Bytes = e.Bytes[:len(e.Bytes)-1] },
		"two replies":   func(e *fakes.Event) { e.Bytes = append(e.Bytes, e.Bytes...) },
		"a slow answer": func(e *fakes.Event) { e.Delay = 9 * time.Second },
	}
}

// crowded are scripts of many threads.
func crowded() map[string]string {
	return map[string]string{
		"workers": "connect boss as producer\nrepeat 60\nC[boss]: PUSH $job\nS[boss]: +OK\nend\n" +
			"repeat 60 by 12 consumers\nC: FETCH $queue\nS: ${\"jid\":\"$jid#\"}\nC: ACK {\"jid\":\"$jid#\"}\nS: +OK\nend\n",
		"probes": "repeat 40 by 8 consumers\nC bad: FLUSH x\nS: -\nC: INFO\nS: $\nsilence 1s\nend\n",
		"trials": "connect as consumer\neventually ..60s\nC: FETCH $queue\nC: INFO\nS: $-1\nS: ${}\nend\ntable\nC: INFO\n" +
			"S: $\nC bad: INFO x\nS: -\nC: INFO\nS: $\nend\n" +
			"connect a as producer\nconnect b as producer\nC[a]: INFO\nC[b]: INFO\nC: INFO\nunordered\nS: ${}\nS[a]: " +
			"${}\nS[b]: ${}\nend\n",
	}
}

// Many threads at once, on servers that fail in the middle: for the race detector, and
// because a play must come to its end whatever happens.
func TestManyLanesOnServersThatFail(t *testing.T) {
	t.Parallel()
	for kind, wrong := range wrongs() {
		for name, script := range crowded() {
			t.Run(kind+" to "+name, func(t *testing.T) {
				t.Parallel()
				s, err := scenarios.Parse(fwpscript.Dialect{}, name, []byte(script))
				require.NoError(t, err)
				synctest.Test(t, func(t *testing.T) {
					target := memnet.NewPlace()
					server := fakes.NewServer(fakes.Config{Hook: every(37, wrong), Listen: target.Listen})
					defer server.Close()
					r := (&play.Player{Target: target, Meter: new(machine.Meter)}).Play(t.Context(), s, "fwp-test-0001")
					assert.NoError(t, r.Err)
					assert.Less(t, r.Took, 10*time.Minute)
					if kind == "nothing" {
						assert.True(t, r.Complete(), outcomes(r))
					}
				})
			})
		}
	}
}

// The password is a secret: whatever a server does, what is printed about
// a play does not contain it.
func TestThePasswordIsNeverPrinted(t *testing.T) {
	t.Parallel()
	const password = "correct horse"
	script := "S[a]: +HI {\"s\":string}\nC[a]: HELLO {\"v\":2,\"pwdhash\":\"$pwdhash\"}\nS[a]: +OK\n" +
		"connect b as consumer\nC[b]: HELLO {\"v\":2,\"pwdhash\":\"$pwdhash.hex\"}\nS[b]: -\nC[b]: PUSH $job\nS[b]: +KO\n"
	greetings := []string{
		"+HI {\"v\":2,\"i\":3,\"s\":\"salt\"}\r\n", "+HI {\"v\":2,\"i\":0,\"s\":\"salt\"}\r\n",
		"+HI {\"v\":2,\"i\":999999999,\"s\":\"salt\"}\r\n",
		"+HI {\"v\":2,\"i\":-1,\"s\":\"salt\"}\r\n", "+HI {\"v\":2,\"i\":1e3,\"s\":\"salt\"}\r\n",
		"+HI {\"v\":2,\"i\":3,\"s\":7}\r\n", "-ERR\r\n", "\x00\r\n", closes,
	}
	for i, greeting := range greetings {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			s, err := scenarios.Parse(fwpscript.Dialect{}, "test.fwp", []byte(script))
			require.NoError(t, err)
			synctest.Test(t, func(t *testing.T) {
				p := &peer{greeting: greeting, answers: map[string]string{"HELLO {\"v\":2,\"pwdhash": "+OK\r\n",
					fwp.PUSH: "-ERR\r\n"}}
				p.serve(t)
				r := (&play.Player{Target: p, Password: password}).Play(t.Context(), s, "fwp-test-0001")
				printed := fmt.Sprintf("%+v %v %+v", r.Results, r.Err, r.Breaches) + r.NotServing
				for _, l := range r.Conversation {
					printed += l.String()
				}
				assert.NotContains(t, printed, password)
			})
		})
	}
}
