//go:build linux

package main_test

import (
	"bytes"
	"io"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/reports"
)

// TestStopped: a load whose process is stopped for a while blames neither the server nor itself, in both loops.
func TestStopped(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{
		"open": {"--rate", "100/s", "--threshold", "push.response.p99<100ms"}, "closed": {"--backlog", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var pushes atomic.Int64
			ready := make(chan struct{})
			server := fakes.NewServer(fakes.Config{Hook: func(e *fakes.Event) {
				if e.Point == fakes.Checked && e.Command.Verb == "PUSH" && pushes.Add(1) == 50 {
					close(ready)
				}
			}})
			defer server.Close()
			args := append([]string{"run", "--url", server.URL(), "--duration", "2s", "--producers", "2", "--consumers", "2",
				"--no-progress"}, flags...)
			cmd := exec.CommandContext(t.Context(), "fwpbench", args...) //nolint:gosec // the program itself
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, io.Discard
			require.NoError(t, cmd.Start())
			<-ready
			require.NoError(t, cmd.Process.Signal(syscall.SIGSTOP))
			time.Sleep(time.Second) // is what is tested
			require.NoError(t, cmd.Process.Signal(syscall.SIGCONT))
			_ = cmd.Wait() // its state has what matters
			assert.Equal(t, reports.ExitInconclusive, cmd.ProcessState.ExitCode(), out.String())
			assert.Contains(t, out.String(), "INVALID: the generator stood still for ", out.String())
		})
	}
}
