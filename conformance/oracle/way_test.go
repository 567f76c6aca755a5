package oracle_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/conformance/oracle"
)

// TestWays: the way of a job that is about to be delivered, after a conversation whose last line is the FETCH.
func TestWays(t *testing.T) {
	t.Parallel()
	const soon, fetch = `,"at":"2026-01-02T03:04:15Z"`, "1 C FETCH q"
	for want, text := range map[string]string{
		law.AtOnce:    all(hello, with(""), fetch),
		law.ToWaiting: all(hello, other, "2 C FETCH q", "wait 1s", with("")),
		law.Scheduled: all(hello, with(soon), "wait 11s", fetch),
		law.Failed:    all(hello, with(`,"retry":3`), take, "wait 1s", fail, "wait 60s", fetch),
		law.Expired:   all(hello, with(`,"reserve_for":60`), take, "wait 200s", fetch),
		law.Restarted: all(hello, with(""), "restart", fetch),
		"":            all(hello, fetch),
	} {
		c := &conversation{t: t, w: oracle.NewWorld(), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
		for line := range strings.SplitSeq(text, "\n") {
			require.Nil(t, c.play(line), line)
		}
		conn := 1
		if strings.Contains(text, "2 C FETCH") {
			conn = 2
		}
		assert.Equal(t, want, c.w.Way(conn, "jid-0000000000000001"), want)
	}
}
