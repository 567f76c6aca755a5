package suite_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/protocols/workq"
	workqsession "github.com/fwpsuite/fwp/protocols/workq/session"
	workqsuite "github.com/fwpsuite/fwp/protocols/workq/suite"
)

// TestAwaited: a run whose job is over has to be answered; one whose job is not still waits.
func TestAwaited(t *testing.T) {
	t.Parallel()
	const id, other = "6ba7b810-9dad-41d1-80b4-00c04fd430c1", "6ba7b810-9dad-41d1-80b4-00c04fd430c2"
	l := workqsuite.Law().Start(law.Terms{NamePrefix: "n", Alone: true})
	start := time.Now()
	for conn, line := range []string{
		"run " + id + " n-x 600000 1000 1\r\nx\r\n", "result " + other + " 1000\r\n", "lease n-x 0\r\n",
	} {
		l.Open(conn, start)
		l.Sent(conn, []byte(line), false, start)
	}
	timer := l.(law.SelfTimed) //nolint:forcetypeassert // it is one
	assert.Empty(t, timer.OverdueClause(0))
	receive := func(conn int, text string) {
		reply, _, err := workq.ParseReply([]byte(text))
		require.NoError(t, err)
		assert.Nil(t, l.Judge(conn, workqsession.Message(reply), start).Violation)
	}
	receive(2, "+OK 1\r\n"+id+" n-x 600000 1\r\nx\r\n")
	assert.Empty(t, timer.OverdueClause(0))
	l.Sent(2, []byte("complete "+id+" 0\r\n\r\n"), false, start)
	receive(2, "+OK\r\n")
	assert.Equal(t, "WORKQ-RUN-01", timer.OverdueClause(0))
	assert.Empty(t, timer.OverdueClause(1), "a job that is not known")
	assert.Empty(t, timer.OverdueClause(2), "nothing is asked")
}

// TestMayWait: a run waits for a worker first, and then for the job to end; a lease as long as it says.
func TestMayWait(t *testing.T) {
	t.Parallel()
	const id = "6ba7b810-9dad-41d1-80b4-00c04fd430c1"
	for name, test := range map[string]struct {
		command string
		leased  bool
		until   time.Duration
	}{
		"run":                {"run " + id + " n-x 600000 1000 1\r\nx\r\n", false, time.Second},
		"run that is leased": {"run " + id + " n-x 600000 1000 1\r\nx\r\n", true, 601 * time.Second},
		"lease":              {"lease n-x 65540\r\n", false, 65540 * time.Millisecond},
		"inspect":            {"inspect server\r\n", false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, ok := workqsuite.Law().Start(law.Terms{NamePrefix: "n", Alone: true}).(law.SelfTimed)
			require.True(t, ok)
			base := l.(law.Law) //nolint:forcetypeassert // it was one
			start := time.Now()
			base.Open(1, start)
			base.Sent(1, []byte(test.command), false, start)
			if test.leased {
				base.Open(2, start)
				base.Sent(2, []byte("lease n-x 0\r\n"), false, start)
			}
			assert.False(t, l.MayWait(2, start), "another connection")
			if test.until > 0 {
				assert.True(t, l.MayWait(1, start.Add(test.until-time.Millisecond)))
			}
			assert.False(t, l.MayWait(1, start.Add(test.until)))
		})
	}
}
