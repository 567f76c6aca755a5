//go:build npm

package npm_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDouble runs the example of docs/test-double.md, and each method of the package.
func TestDouble(t *testing.T) {
	t.Parallel()
	require.DirExists(t, "node_modules", "run it by: make client-npm")
	program := buildProgram(t)
	for _, script := range []string{"double.mjs", "control.mjs"} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		node := exec.CommandContext(ctx, "node", script)
		node.Env = append(os.Environ(), "FWPCHECK="+program, "FAKTORY_PROVIDER=OTHER_URL")
		node.WaitDelay = 5 * time.Second // for a server that was left running
		out, err := node.CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Contains(t, string(out), "all well\n")
	}
}
