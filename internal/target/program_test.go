//go:build unix

package target

import (
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/input"
)

// TestProgram starts programs that are sent a signal, killed, fail, or are not there.
func TestProgram(t *testing.T) {
	t.Parallel()
	const waits = `trap 'exit 7' TERM; sleep 60 & echo "$WORD" >"$1"; wait`
	tests := map[string]struct {
		program func(ready string) []string
		act     func(*RunningProgram)
		code    int
	}{
		"a signal": {
			func(ready string) []string { return []string{"sh", "-c", waits, "it's", ready} },
			func(r *RunningProgram) { r.Signal("TERM") }, 7,
		},
		"killed": {
			func(ready string) []string { return []string{"sh", "-c", waits, "$HOME", ready} },
			func(r *RunningProgram) { r.Kill() }, 128 + int(syscall.SIGKILL),
		},
		"an exit code": {
			func(ready string) []string { return []string{"sh", "-c", `echo "$WORD" >"$1"; exit 3`, "x", ready} },
			func(*RunningProgram) {}, 3,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ready := filepath.Join(t.TempDir(), "a fifo")
			require.NoError(t, syscall.Mkfifo(ready, 0o600))
			p := Program{Args: test.program(ready), Environment: []string{"WORD=hello"}}
			running, err := p.Start()
			require.NoError(t, err)
			defer running.Kill()
			text, err := input.Read(ready, 100) // blocks until the program writes
			require.NoError(t, err)
			assert.Equal(t, "hello", strings.TrimSpace(string(text)))
			test.act(running)
			<-running.Done()
			assert.Equal(t, test.code, running.Code(), running.ExitStatus())
		})
	}
}

// TestProgramLeavesProcesses: what a command had started and still ran when it had ended is known, where that is seen.
func TestProgramLeavesProcesses(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]int{"sleep 60 & exit 0": 1, "true & wait": 0, "exec true": 0} {
		running, err := Program{Args: []string{"sh", "-c", command}}.Start()
		require.NoError(t, err)
		<-running.Done()
		assert.Equal(t, 0, running.Code(), command)
		if runtime.GOOS == "linux" {
			assert.Len(t, running.Leftovers(), want, command)
		}
	}
	running, err := Program{Args: []string{"sh", "-c", "echo up; sleep 60 & wait"}}.Start()
	require.NoError(t, err)
	if runtime.GOOS == "linux" {
		assert.Eventually(t, func() bool { return len(running.Descendants()) == 2 }, 30*time.Second, readyInterval)
	}
	running.Kill()
	assert.Empty(t, running.Leftovers(), "it did not end by itself")
	assert.Empty(t, running.Descendants())
}

func TestProgramReadsItsInput(t *testing.T) {
	t.Parallel()
	var lines []string
	running, err := Program{
		Args: []string{"cat"}, Input: strings.NewReader("one\ntwo\r\nopen"),
		Line: func(line string) { lines = append(lines, line) },
	}.Start()
	require.NoError(t, err)
	<-running.Done()
	assert.Equal(t, 0, running.Code())
	assert.Equal(t, []string{"one", "two", "open"}, running.Output())
	assert.Equal(t, []string{"one", "two"}, lines)
}

// An input without an end keeps no program, and a program that reads nothing keeps no input.
func TestProgramEndsBeforeItsInput(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"true", "/no/such/program", "read line; exit 3"} {
		input, w := io.Pipe()
		running, err := Program{Args: []string{"sh", "-c", command}, Input: input}.Start()
		require.NoError(t, err)
		go func() { _, _ = io.WriteString(w, "one\n") }()
		<-running.Done()
		require.NoError(t, w.Close())
	}
}

func TestProgramThatIsNotThere(t *testing.T) {
	t.Parallel()
	running, err := Program{Args: []string{"/no/such/program"}}.Start()
	require.NoError(t, err)
	<-running.Done()
	assert.Equal(t, cannotRun, running.Code())
	assert.NotEmpty(t, running.Output())
}

func TestEnvironmentWithoutAVariable(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"AB=2", "C=3"}, changeEnvironment([]string{"A=1", "AB=2"}, []string{"A", "C=3"}))
}
