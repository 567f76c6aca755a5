package fakeworkq_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes/fakeworkq"
)

func TestRules(t *testing.T) {
	t.Parallel()
	const add = "add " + id1 + " ping 1000 60000 4 -max-fails=1/pong"
	acts := map[string]bool{}
	for _, test := range []struct {
		rule  string
		lines []string // command, reply; "2s" is a pause
	}{
		{"on adding if name = ping and payload ~ o: skip", []string{add, "+OK", "lease ping 0", "-TIMEOUT"}},
		{"on parsed lease; first 1: refuse 'not yet'", []string{
			"lease ping 0", "-CLIENT-ERROR not yet", "lease ping 0", "-TIMEOUT"}},
		{"on leased: until 5s", []string{add, "+OK", "lease ping 0", "+OK 1/1 ping 1000 4/pong", "2s", "",
			"lease ping 0", "-TIMEOUT", "5s", "", "lease ping 0", "+OK 1/1 ping 1000 4/pong"}},
		{"on failed if fails > 0: again", []string{add, "+OK", "lease ping 0", "+OK 1/1 ping 1000 4/pong",
			"fail " + id1 + " 1/x", "+OK", "lease ping 0", "+OK 1/1 ping 1000 4/pong"}},
		{"on ran lease if error = TIMEOUT; each 2 by conn: error SERVER-ERROR 'no job'", []string{
			"lease ping 0", "-TIMEOUT", "lease ping 0", "-SERVER-ERROR no job"}},
		{`on writing inspect: write "-TIMEOUT\r\n"`, []string{"inspect queues 0 1", "-TIMEOUT"}},
		{"on writing lease: replace TIMEOUT NOT-FOUND", []string{"lease ping 0", "-NOT-FOUND"}},
		{"on writing add: twice", []string{add, "+OK", "", "+OK"}},
		{"on writing add; after accepted: pieces 1", []string{add, "+OK"}},
		{"on ran add if not refused and commands = 1: close", []string{add, "+OK"}},
		{"on writing delete; from 2 by conn: cut 1", []string{"delete " + id1, "-NOT-FOUND"}},
	} {
		r, err := fakeworkq.Rules().Parse(test.rule)
		require.NoError(t, err)
		_, does, _ := strings.Cut(test.rule, ": ")
		acts[strings.Fields(does)[0]] = true
		t.Run(test.rule, func(t *testing.T) {
			t.Parallel()
			serving(t, r.Hook(), func(dial func() *client) {
				c := dial()
				for i := 0; i < len(test.lines); i += 2 {
					send, want := test.lines[i], test.lines[i+1]
					if pause, err := time.ParseDuration(send); err == nil {
						time.Sleep(pause)
						synctest.Wait()
						continue
					}
					if send != "" {
						c.send(send)
					}
					assert.Equal(t, want, c.reply(), send)
				}
			})
		})
	}
	for _, a := range fakeworkq.Rules().Acts {
		assert.True(t, acts[a.Name], "no rule of the test has the act %s", a.Name)
	}
}
