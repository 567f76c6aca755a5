package goclient

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is how long a test may take on a machine that is late.
const patience = 8 * time.Minute

// built returns the path of a program, made from the source in a folder, which is of the module in which the folder is.
func built(t *testing.T, folder string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), filepath.Base(folder))
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = folder
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	return program
}

// TestOwnTests: the tests of the library itself pass with fwpcheck serve in the place of Faktory. One of them has a
// goroutine do something within a millisecond, which a busy machine does not grant.
func TestOwnTests(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	double := exec.CommandContext(ctx, built(t, "../../cmd/fwpcheck"), "serve", "--extension", "faktory")
	stdin, err := double.StdinPipe() // closed, it ends the double
	require.NoError(t, err)
	stdout, err := double.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, double.Start())
	ready, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	own := exec.CommandContext(ctx, "go", "test", "-count=1", "-v", "-skip", "^TestManagerSetup$",
		"github.com/contribsys/faktory_worker_go")
	// They seed the random numbers, as they could until Go 1.24.
	own.Env = append(os.Environ(), "GODEBUG=randseednop=0",
		"FAKTORY_PROVIDER=FAKTORY_URL", "FAKTORY_URL="+strings.Fields(ready)[1])
	out, err := own.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "--- PASS: TestLiveServer", "the test that needs a server")
	require.NoError(t, stdin.Close())
	_ = double.Wait() // its exit code says whether a client broke a rule
}

// TestJudged tests the worker with fwpcheck, in the situations that need no long wait. What it gets wrong stands in
// expectations.
func TestJudged(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, built(t, "../../cmd/fwpcheck"), "worker", "--quick", "--no-progress",
		"--expect", "../../expectations/go-faktory-worker-1.7.0.txt", "--", built(t, "worker")).CombinedOutput()
	require.NoError(t, err, string(out))
}
