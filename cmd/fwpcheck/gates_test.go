package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/reports"
)

// gates are servers with pervasive bugs, and what each is given then: a bug of a clause that is not listed, and one
// of a listed clause that a script finds.
var gates = []struct{ bugs, unlisted, listed string }{
	{"job-integer-rounded", "hi-version-text", "job-args-reversed"},
	{"ack-malformed-ok", "hi-version-text", "ack-refused-ends"},
	{"fetch-bare", "hi-version-text", "fetch-bare-anywhere"},
	{"job-retry-follows", "push-other-answer", "job-retry-many-refused"},
	{"fail-malformed-ok", "push-other-answer", "fail-refused-ends"},
	{"job-integer-rounded job-retry-follows fetch-bare", "hi-version-text", "job-args-reversed"},
	{"ack-malformed-ok fail-malformed-ok end-arguments", "push-other-answer", "ack-refused-ends"},
	{"job-null-dropped job-failure-text", "hi-version-text", "job-args-reversed"},
}

// TestGatesTurnGreenAndStay writes the known findings of each server once: then FWP_GATES=N gates in a row are green,
// and a gate is red as soon as the server has one more bug. FWP_GATE_FAKTORY names binaries of Faktory, which get no
// bug; what is left out is named.
func TestGatesTurnGreenAndStay(t *testing.T) { //nolint:paralleltest // each server has the machine for itself
	times, err := strconv.Atoi(os.Getenv("FWP_GATES"))
	if err != nil {
		t.Skip("make gates runs it, for half an hour: FWP_GATES=N is how many gates each server must pass")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	program := filepath.Join(t.TempDir(), "fwpcheck")
	require.NoError(t, os.Symlink(self, program))
	for _, g := range gates {
		t.Run(g.bugs, func(t *testing.T) {
			start := func(extra ...string) string {
				bugs := append(strings.Fields(g.bugs), extra...)
				return program + " serve --port {port} --password {password} --bug " + strings.Join(bugs, " --bug ")
			}
			file := filepath.Join(t.TempDir(), "known.expect")
			assertGreen(t, program, start(), file, times)
			for _, bug := range []string{g.unlisted, g.listed} {
				assert.Equal(t, reports.ExitFindings, runGate(t, program, start(bug), file), "with %s", bug)
			}
		})
	}
	paths := strings.Fields(os.Getenv("FWP_GATE_FAKTORY"))
	if len(paths) == 0 {
		t.Log("left out: Faktory 1.9.4 and 1.10.0, which FWP_GATE_FAKTORY='PATH PATH' names")
	}
	for _, path := range paths { //nolint:paralleltest // the same
		t.Run(filepath.Base(path), func(t *testing.T) {
			assertGreen(t, program, "faktory="+path, filepath.Join(t.TempDir(), "known.expect"), times)
		})
	}
}

// assertGreen writes the file, and expects so many gates to be green.
func assertGreen(t *testing.T, program, start, file string, times int) {
	t.Helper()
	runGate(t, program, start, file, "--update-expect")
	for n := range times {
		assert.Equal(t, reports.ExitWell, runGate(t, program, start, file), "gate %d", n+1)
	}
}

// runGate returns the exit code of a quick run that is held against the file.
func runGate(t *testing.T, program, start, file string, flags ...string) int {
	t.Helper()
	args := []string{"run", "--config", "none", "--quick", "--no-progress", "--expect", file, "--start", start}
	cmd := exec.CommandContext(t.Context(), program, append(args, flags...)...)
	out, err := cmd.CombinedOutput()
	code := cmd.ProcessState.ExitCode()
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	t.Logf("exit code %d: %s", code, lines[len(lines)-1])
	switch _, findings, hasFindings := bytes.Cut(out, []byte("\nFINDINGS")); {
	case code > reports.ExitFindings:
		t.Logf("%v\n%s", err, out)
	case hasFindings:
		findings, _, _ = bytes.Cut(findings, []byte("\n\n"))
		t.Logf("FINDINGS%s", findings)
	}
	return code
}
