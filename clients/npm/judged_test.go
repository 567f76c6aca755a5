//go:build npm

package npm_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestJudged tests the library's worker and its client with fwpcheck, in the situations that need no long wait. What
// they get wrong stands in expectations.
func TestJudged(t *testing.T) {
	t.Parallel()
	require.DirExists(t, "node_modules", "run it by: make client-npm")
	program := buildProgram(t)
	for command, arguments := range map[string]string{
		"worker": "--expect ../../expectations/npm-faktory-worker-4.7.1.txt -- node worker.mjs",
		"client": "--expect ../../expectations/npm-faktory-client-4.7.1.txt -- node producer.mjs",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
			defer cancel()
			words := append(strings.Fields(command+" --quick --no-progress --start-timeout 15s"), strings.Fields(arguments)...)
			out, err := exec.CommandContext(ctx, program, words...).CombinedOutput()
			require.NoError(t, err, string(out))
		})
	}
}

// buildProgram returns the path of fwpcheck, made from this source.
func buildProgram(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "fwpcheck")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/fwpcheck").CombinedOutput()
	require.NoError(t, err, string(out))
	return program
}
