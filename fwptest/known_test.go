package fwptest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
)

// writeExpect writes a file of known findings.
func writeExpect(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "known.expect")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func TestKnownFindingsAreSkipped(t *testing.T) {
	t.Parallel()
	s := newServer(t, fakes.Config{Hook: bug(t, "push-other-answer").Hook()})
	n := playCheck(t, s, "push/accepted", Options{Expect: writeExpect(t,
		"# why\npush/accepted FWP-PUSH-01 fails server=fakes")})
	assert.Empty(t, n.errors)
	require.Len(t, n.skips, 1)
	assert.Contains(t, n.skips[0], "known: line 2, fail FWP-PUSH-01")
	assert.Contains(t, n.attrs, "verdict=fail")

	n = playCheck(t, s, "push/accepted", Options{Expect: writeExpect(t, `push/accepted FWP-PUSH-01 fails because="-ERR"`)})
	require.Len(t, n.errors, 2, "the finding, and the line that is no longer so")
	assert.Contains(t, n.errors[0], "expected")
	assert.Contains(t, n.errors[1], "known.expect:1: no longer found: only findings with another kind or symptom")
}

func TestStaleLinesFail(t *testing.T) {
	t.Parallel()
	s := newServer(t, fakes.Config{})
	n := playCheck(t, s, "push/accepted", Options{Expect: writeExpect(t, "push/accepted FWP-PUSH-01 fails\nhello/* * fails")})
	require.Len(t, n.errors, 1, "what did not run is not stale")
	assert.Contains(t, n.errors[0], "known.expect:1: no longer found: not found; remove the line: push/accepted")
}

func TestMistakesInTheFile(t *testing.T) {
	t.Parallel()
	s := newServer(t, fakes.Config{})
	for name, o := range map[string]Options{
		"no such file":     {Expect: "nosuch.expect"},
		"no check matches": {Expect: writeExpect(t, "push/acepted FWP-PUSH-01 fails")},
		"is not one of":    {Expect: writeExpect(t, "push/accepted FWP-PUSH-01 fail")},
		"Options.Skip":     {Skip: []string{"push/["}},
	} {
		_, err := newRun(t.Context(), s.URL(), o)
		assert.ErrorContains(t, err, name)
	}
}

func TestSkip(t *testing.T) {
	t.Parallel()
	r, err := newRun(t.Context(), newServer(t, fakes.Config{}).URL(), Options{Skip: []string{"hello", "push/a*"}})
	require.NoError(t, err)
	assert.True(t, r.isSkipped("hello/hi-version"))
	assert.True(t, r.isSkipped("push/accepted"))
	assert.False(t, r.isSkipped("push/refused"))
}

// The script of a check is kept if it has a finding: fwpcheck plays it.
func TestTheScriptOfACheckIsKept(t *testing.T) {
	t.Parallel()
	s := newServer(t, fakes.Config{Hook: bug(t, "push-other-answer").Hook()})
	n := playCheck(t, s, "push/accepted", Options{})
	text, err := os.ReadFile(filepath.Join(n.dir, "push-accepted.fwp"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "clause FWP-PUSH-01")
}
