//go:build unix

package target

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCommands(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		command string
		failed  string // part of the error, "" if there is none
	}{
		"well": {command: "true"},
		"says what went wrong": {command: "echo one; echo two >&2; exit 3",
			failed: `restart command: exit status 3, and it printed "one\ntwo"`},
		"says nothing":          {command: "exit 3", failed: "exit status 3, and it printed nothing"},
		"says too much":         {command: "yes | head -n 3000; exit 3", failed: `y\ny"`},
		"not there":             {command: "no-such-command-of-fwp", failed: "exit status 127"},
		"not given":             {command: "", failed: "restart: no command was given"},
		"ends by a signal":      {command: "kill -9 $$", failed: "signal: killed"},
		"with its own shell":    {command: "test \"$(echo 'a b')\" = 'a b'"},
		"in our own folder":     {command: "test -f operator_test.go"},
		"with our environment":  {command: `test -n "$PATH"`},
		"without a signal":      {command: `test -z "$FWP_SIGNAL$FWP_WID"`},
		"with nothing to read":  {command: "test -z \"$(cat)\""},
		"of more than one line": {command: "x=1\ntest $x = 1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := restartServer(test.command).Restart(t.Context())
			if test.failed == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, test.failed)
		})
	}
}

// restartServer returns a server with a command for its restart.
func restartServer(command string) *Server {
	return &Server{Operator: Commands{ByAction: map[Action]string{Restart: command}}}
}

func TestCommandsLeaveServersRunning(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	require.NoError(t, restartServer("sleep 600 & echo $! >"+file).Restart(t.Context()))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	assert.NoError(t, syscall.Kill(pid, syscall.SIGKILL), "it went on")
}

func TestCommandsAreTold(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "said")
	s := &Server{Operator: Commands{ByAction: map[Action]string{
		Quiet: `printf '%s %s %s' {action} "$FWP_SIGNAL" "$FWP_WID" >` + file, Kill: "exit 7",
	}}}
	require.NoError(t, s.Signal(t.Context(), "w 1;'$(x)", "quiet"))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "quiet quiet w 1;'$(x)", string(text), "no part of it is for the shell")
	assert.ErrorContains(t, s.Kill(t.Context()), "kill command: exit status 7")
}

func TestCommandsEndInTime(t *testing.T) {
	t.Parallel()
	s := restartServer("echo begun; sleep 600")
	s.Operator = Commands{ByAction: s.Operator.(Commands).ByAction, Timeout: time.Nanosecond}
	assert.ErrorContains(t, s.Restart(t.Context()), "restart command: it took longer than 1ns")

	ctx, cancel := context.WithCancelCause(t.Context())
	begun := filepath.Join(t.TempDir(), "begun")
	require.NoError(t, syscall.Mkfifo(begun, 0o600))
	s = restartServer("echo >" + begun + "; sleep 600 | sleep 600")
	done := make(chan error)
	go func() { done <- s.Restart(ctx) }()
	_, err := os.ReadFile(begun) // until the command has begun
	require.NoError(t, err)
	cancel(assert.AnError)
	assert.ErrorIs(t, <-done, assert.AnError)
}

func TestCommandsWithAWorkerID(t *testing.T) {
	t.Parallel()
	s := &Server{Operator: Commands{ByAction: map[Action]string{Quiet: `test {wid} = "$FWP_WID" -a {action} = quiet`}}}
	assert.NoError(t, s.Signal(t.Context(), "fwp-1.w:2", "quiet"))
	assert.ErrorContains(t, s.Signal(t.Context(), "a; rm b", "quiet"), `use $FWP_WID instead of {wid}`)
	assert.ErrorContains(t, s.Signal(t.Context(), "w", "terminate"), "terminate: no command was given")
	assert.True(t, s.Can(Quiet))
	assert.False(t, s.Can(Restart))
	assert.False(t, new(Server).Can(Quiet))
}
