package reports

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSignature(t *testing.T) {
	t.Parallel()
	of := func(expected, actual string, differences ...string) string {
		return (&Finding{Evidence: Evidence{Expected: expected, Actual: actual, Differences: differences}}).Signature()
	}
	assert.Equal(t, "+OK instead of an error", of("an error", "+OK"))
	assert.Equal(t, "no new connection", of("", "no new connection\nat all"))
	assert.Empty(t, of("an error", ""))
	assert.Equal(t, ".retry: expected #, got #", of("x", "y", ".retry: expected 25, got 0"))
	first := of("a job", `${"jid":"fwp112021521970b0-2-jid-2","at":"2026-11-20T23:23:38.98Z"} after 2.003 s`)
	again := of("a job", `${"jid":"fwp1120232337b6fb-128-jid-17","at":"2026-11-21T01:23:38+01:00"} after 998ms`)
	assert.Equal(t, `${"jid":"$jid","at":"#time"} after #time instead of a job`, first)
	assert.Equal(t, first, again)
	assert.Equal(t, `"\r$jid\r\n" instead of no CR`, of("no CR", `"\rfwp1121055207a06a-200-jid-2\r\n"`),
		"behind an escape")
	assert.Equal(t, "patience ended after #time", of("", "patience ended after 2m31.066s"))
	long := of("x", strings.Repeat("é", 1000))
	assert.Equal(t, strings.Repeat("é", 80)+" instead of x", long)
}

// FuzzStable: a stable text stays as it is, so that what a user copies from a report still matches.
func FuzzStable(f *testing.F) {
	f.Add(`${"jid":"fwp112021521970b0-2-jid-2","at":"2026-11-20T23:23:38.98Z"} after 2.003 s, 7 of 1,000`)
	f.Fuzz(func(t *testing.T, s string) {
		once := Stable(s)
		assert.Equal(t, once, Stable(once))
	})
}
