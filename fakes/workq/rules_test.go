package workq_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fakeworkq "github.com/fwpsuite/fwp/fakes/workq"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// ruleTests are rules, with commands and what comes then. "2s" is a pause; "" reads what comes without
// a command; a reply comes within 5 s.
var ruleTests = []struct {
	rule  string
	lines []string // command, reply, command, reply ...
}{
	{"on adding if name = ping and payload ~ o: skip", []string{add, "+OK", "lease ping 0", "-TIMEOUT"}},
	{"on parsed lease; first 1: refuse 'not yet'", []string{
		"lease ping 0", "-CLIENT-ERROR not yet", "lease ping 0", "-TIMEOUT"}},
	{"on parsed if reason ~ 'valid id': skip", []string{"delete x", "+OK"}},
	{"on parsed lease: wait 0s", []string{"lease ping 9000", "-TIMEOUT"}},
	{"on leased: until 5s", []string{add, "+OK", "lease ping 0", leaseReply, "2s", "", "lease ping 0", "-TIMEOUT", "5s", "",
		"lease ping 0", leaseReply}},
	{"on failed if fails > 0: again", []string{
		add, "+OK", "lease ping 0", leaseReply, "fail " + id1 + " 1/x", "+OK", "lease ping 0", leaseReply}},
	{"on ran lease if error = TIMEOUT; each 2 by conn: error SERVER-ERROR 'no job'", []string{
		"lease ping 0", "-TIMEOUT", "lease ping 0", "-SERVER-ERROR no job"}},
	{`on writing inspect: write "-TIMEOUT\r\n"`, []string{"inspect queues 0 1", "-TIMEOUT"}},
	{"on writing lease: replace TIMEOUT NOT-FOUND", []string{"lease ping 0", "-NOT-FOUND"}},
	{"on writing add: twice", []string{add, "+OK", "", "+OK"}},
	{"on ran add if not refused and commands = 1: close", []string{add, "+OK", "", "EOF"}},
	{"on writing delete; from 2 by conn: cut 5, close", []string{
		"delete " + id1, "-NOT-FOUND", "delete " + id1, "unexpected EOF"}},
}

const (
	add        = "add " + id1 + " ping 1000 60000 4 -max-fails=1/pong"
	leaseReply = "+OK 1/1 ping 1000 4/pong"
)

func TestRules(t *testing.T) {
	t.Parallel()
	acts := map[string]bool{"pieces": true, "pause": true} // below
	for _, test := range ruleTests {
		r, err := fakeworkq.Rules().Parse(test.rule)
		require.NoError(t, err, test.rule)
		_, effects, _ := strings.Cut(test.rule, ": ")
		for act := range strings.SplitSeq(effects, ", ") {
			acts[strings.Fields(act)[0]] = true
		}
		t.Run(test.rule, func(t *testing.T) {
			t.Parallel()
			assert.Empty(t, playRule(t, r.Hook(), test.lines))
			assert.NotEmpty(t, playRule(t, nil, test.lines), "the same comes without the rule")
		})
	}
	for _, a := range fakeworkq.Rules().Acts {
		assert.True(t, acts[a.Name], "no rule of the test has the act %s", a.Name)
	}
}

// playRule sends commands, and returns what else came than was expected.
func playRule(t *testing.T, hook func(*fakeworkq.Event), lines []string) (mismatches []string) {
	t.Helper()
	serving(t, hook, func(dial func() *client) {
		c := dial()
		for i := 0; i < len(lines); i += 2 {
			send, want := lines[i], lines[i+1]
			if pause, err := time.ParseDuration(send); err == nil {
				time.Sleep(pause)
				synctest.Wait()
				continue
			}
			if send != "" {
				c.send(send)
			}
			require.NoError(t, c.nc.SetReadDeadline(time.Now().Add(5*time.Second)))
			if got := c.reply(); got != want {
				mismatches = append(mismatches, send+": "+got)
			}
		}
	})
	return mismatches
}

// A client cannot tell how replies were sent from what it reads.
func TestARuleHasRepliesSentInPieces(t *testing.T) {
	t.Parallel()
	r, err := fakeworkq.Rules().Parse("on writing add; after accepted: pieces 1, pause 1s")
	require.NoError(t, err)
	hook, e := r.Hook(), fakeworkq.Event{Point: fakeworkq.Accepted}
	hook(&e)
	assert.Zero(t, e.Chunk)
	e.Point, e.Command.Verb = fakeworkq.Writing, workq.Add
	hook(&e)
	assert.Equal(t, 1, e.Chunk)
	assert.Equal(t, time.Second, e.Pause)
}
