package explore_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/scenarios"
)

// racy is a server that goes over its queues for INFO without a lock: it dies if a job for
// a queue that it has not seen comes meanwhile. (Faktory up to 1.10)
func racy() fakes.Config {
	var mu sync.Mutex
	asked, dead, queues := 0, false, map[string]bool{}
	return fakes.Config{Hook: func(e *fakes.Event) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case e.Point == fakes.Restarted:
			asked, dead = 0, false
		case e.Point == fakes.Accepted:
			e.Skip = dead
		case dead && e.Point < fakes.Ran: // what is on its way changes nothing any more
			e.Skip = e.Point == fakes.Judged || e.Point == fakes.Defaulted
		case e.Point == fakes.Parsed && e.Command.Verb == fwp.INFO:
			asked++
			e.Delay = time.Millisecond
		case e.Point == fakes.Defaulted && e.Conn != nil:
			queue := e.Object.Text("queue")
			dead = asked > 0 && !queues[queue]
			e.Skip = dead
			queues[queue] = true
		case e.Point == fakes.Ran && e.Command.Verb == fwp.INFO:
			asked--
		}
		if e.Point == fakes.Ran && dead {
			e.Reply, e.Close = fwp.Reply{}, true
		}
	}}
}

// reckless is the crowd in which one client asks for INFO all the time.
func reckless(steps int) map[string]explore.Crowd {
	const name = "reckless"
	return map[string]explore.Crowd{name: crowds(*seed, steps)[name]}
}

// TestCrowdFindsARace has a server found that dies of what two clients do at the same
// time, and the conversation that shows it to others.
func TestCrowdFindsARace(t *testing.T) {
	t.Parallel()
	for name, c := range reckless(900) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			crowding(t, racy, c, func(t *testing.T, h *explore.History, s *stage) {
				require.NotEmpty(t, h.Findings)
				f := h.Findings[0]
				t.Log(f.What)
				assert.True(t, h.Dead)
				assert.True(t, f.Crash)
				assert.Empty(t, f.Clause)
				assert.Regexp(t, `no answer yet: .*c\d+: INFO`, f.What)
				assert.Regexp(t, `no answer yet: .*c\d+: PUSH \{"jid":"\$jid[0-9x]+","jobtype":"t","args":\[`, f.What)
				assert.Equal(t, 5, f.Shown)
				answered := strings.NewReplacer("S[c1]: <any>", "S[c1]: $", "S[c2]: <any>", "S[c2]: +OK") // it may die in the first round
				assert.Equal(t, strings.Join([]string{
					"title: expected a server that serves, got no new connection is served", "",
					"connect c1 as producer", "connect c2 as producer", "repeat 2000",
					"  C[c1]: INFO", `  C[c2]: PUSH {"jid":"$jid#","jobtype":"t","args":[],"queue":"$queue#"}`,
					"  S[c1]: $", "  S[c2]: +OK", "end", "",
				}, "\n"), answered.Replace(f.Script))
				assert.Empty(t, replay(t, s, f.Script, "", true))
				right := &stage{network: s.network, config: behaving("", "")}
				right.count.Store(1 << 20)
				assert.Empty(t, replay(t, right, f.Script, "", false))
			})
		})
	}
}

// TestCrowdRemovesWhatItLeft has a server that is started again after a crash found empty.
func TestCrowdRemovesWhatItLeft(t *testing.T) {
	t.Parallel()
	for name, c := range reckless(900) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &stage{network: memnet.New(), config: racy}
				target, end, err := s.start()
				require.NoError(t, err)
				defer end()
				c.Target, c.Restarts = target, true
				h := c.Run(t.Context())
				require.NotEmpty(t, h.Findings)
				assert.True(t, h.Findings[0].Crash)
				assert.Equal(t, 5, h.Findings[0].Shown)
				var now struct {
					Faktory struct {
						Total int `json:"total_enqueued"`
						Sets  struct{ Working, Retries int }
					}
				}
				require.NoError(t, json.Unmarshal([]byte(said(t, target, "INFO")), &now))
				assert.Zero(t, now.Faktory.Sets.Working)
				assert.LessOrEqual(t, now.Faktory.Total+now.Faktory.Sets.Retries, len(h.Left))
				assert.True(t, name == "failing" || len(h.Left) < 10, h.Left)
			})
		})
	}
}

// said is what a server answers a producer.
func said(t *testing.T, target scenarios.Target, command string) string {
	t.Helper()
	nc, err := target.Dial(t.Context())
	require.NoError(t, err)
	defer nc.Close()
	_, err = fmt.Fprintf(nc, "HELLO {\"v\":2}\r\n%s\r\n", command)
	require.NoError(t, err)
	r := fwp.NewReader(nc, 0)
	var reply fwp.Reply
	for range 3 {
		reply, err = r.Read()
		require.NoError(t, err)
	}
	return string(reply.Text)
}

// TestCrowdSaysWhyThereIsNoScript has a crash told of a server that nobody can start again.
func TestCrowdSaysWhyThereIsNoScript(t *testing.T) {
	t.Parallel()
	c := crowds(*seed, 900)["reckless"]
	c.Unshrunk = true
	crowding(t, racy, c, func(t *testing.T, h *explore.History, _ *stage) {
		require.NotEmpty(t, h.Findings)
		assert.Empty(t, h.Findings[0].Script)
		assert.NotEmpty(t, h.Findings[0].Unscripted)
	})
}

// TestCrowdUsesQueuesOnce has a crowd push to queues that nobody has heard of, and account
// for the jobs in them.
func TestCrowdUsesQueuesOnce(t *testing.T) {
	t.Parallel()
	own := regexp.MustCompile(`-queue\d+$`)
	for name, c := range reckless(900) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			asked := map[string]int{}
			config := func() fakes.Config {
				return fakes.Config{Hook: func(e *fakes.Event) {
					mu.Lock()
					defer mu.Unlock()
					if e.Point == fakes.Judged {
						asked[e.Command.Verb]++
					}
				}}
			}
			crowding(t, config, c, func(t *testing.T, h *explore.History, _ *stage) {
				pushed := map[string]int{}
				for _, e := range h.Events {
					if e.JID != "" && own.MatchString(e.Queue) {
						pushed[e.Queue]++
					}
				}
				t.Log(len(pushed), "queues", asked)
				assert.Greater(t, len(pushed), 20)
				assert.Greater(t, asked[fwp.INFO], 10)
				assert.NotZero(t, asked[fwp.BEAT])
				assert.True(t, h.Drained)
			})
		})
	}
}
