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
	l := workqsuite.Law().Start(law.Terms{Prefix: "n", Alone: true})
	begun := time.Now()
	for conn, line := range []string{
		"run " + id + " n-x 600000 1000 1\r\nx\r\n", "result " + other + " 1000\r\n", "lease n-x 0\r\n",
	} {
		l.Open(conn, begun)
		l.Sent(conn, []byte(line), false, begun)
	}
	awaited := l.(law.Timer) //nolint:forcetypeassert // it is one
	assert.Empty(t, awaited.Awaited(0))
	came := func(conn int, text string) {
		reply, _, err := workq.ParseReply([]byte(text))
		require.NoError(t, err)
		assert.Nil(t, l.Came(conn, workqsession.Message(reply), begun).Violation)
	}
	came(2, "+OK 1\r\n"+id+" n-x 600000 1\r\nx\r\n")
	assert.Empty(t, awaited.Awaited(0))
	l.Sent(2, []byte("complete "+id+" 0\r\n\r\n"), false, begun)
	came(2, "+OK\r\n")
	assert.Equal(t, "WORKQ-RUN-01", awaited.Awaited(0))
	assert.Empty(t, awaited.Awaited(1), "a job that is not known")
	assert.Empty(t, awaited.Awaited(2), "nothing is asked")
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
			l, is := workqsuite.Law().Start(law.Terms{Prefix: "n", Alone: true}).(law.Timer)
			require.True(t, is)
			of := l.(law.Law) //nolint:forcetypeassert // it was one
			begun := time.Now()
			of.Open(1, begun)
			of.Sent(1, []byte(test.command), false, begun)
			if test.leased {
				of.Open(2, begun)
				of.Sent(2, []byte("lease n-x 0\r\n"), false, begun)
			}
			assert.False(t, l.MayWait(2, begun), "another connection")
			if test.until > 0 {
				assert.True(t, l.MayWait(1, begun.Add(test.until-time.Millisecond)))
			}
			assert.False(t, l.MayWait(1, begun.Add(test.until)))
		})
	}
}
