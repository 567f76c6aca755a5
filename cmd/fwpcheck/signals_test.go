//go:build linux && !race

package main_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
)

// noSignal is where a command is not interrupted.
const noSignal = -1

// interruptCodes are commands, each with the exit codes with which the first SIGINT or SIGTERM ends it while it waits
// for a greeting, and after a command. URL is the server, HOST its host and port. A command with neither is interrupted
// when it prints its first line.
var interruptCodes = map[string][2]int{
	"fwpcheck run --url URL --no-progress":                     {130, 130},
	"fwpcheck explore --url URL --time 1m --no-progress":       {130, 130},
	"fwpcheck compare URL URL --time 1m":                       {130, 130},
	"fwpcheck record --upstream URL":                           {130, noSignal},
	"fwpcheck clean --url URL":                                 {130, noSignal},
	"fwpcheck wait --url URL --timeout 1m":                     {130, noSignal},
	"fwpcheck shrink many.fwp --url URL":                       {130, 130},
	"fwpcheck worker --no-progress -- fwpcheck wait --url URL": {130, noSignal},
	"fwpcheck client --no-progress -- fwpcheck wait --url URL": {130, noSignal},
	"fwpcheck serve":          {0, noSignal},
	"fwpcheck serve many.fwp": {3, noSignal},
	"fwpbench run --url URL --duration 1m --warmup 0s --no-progress": {130, 130},
	"fwpbench capacity --url URL --no-progress":                      {130, 130},
	"fwpbench compare --run URL URL --no-progress":                   {130, 130},
}

// TestSignals: each command that talks to a server ends soon after a signal, with the code that it prints.
func TestSignals(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	script := "connect as consumer\n" + strings.Repeat("C: FETCH nosuch\nS: $-1\n", 60) + "C: INFO\nS: +NO\n"
	require.NoError(t, os.WriteFile(filepath.Join(folder, "many.fwp"), []byte(script), 0o600))
	for line, codes := range interruptCodes {
		for phase, code := range codes {
			signal := []os.Signal{os.Interrupt, syscall.SIGTERM}[(phase+len(line))%2]
			if code == noSignal {
				continue
			}
			t.Run(strings.Join(strings.Fields(line)[:2], " ")+strconv.Itoa(phase), func(t *testing.T) {
				t.Parallel()
				ready := make(chan struct{}, 1000)
				reach := func() {
					select {
					case ready <- struct{}{}:
					default:
					}
				}
				url := signalServer(t, phase, reach)
				cmdline := strings.NewReplacer("URL", url, "HOST", strings.TrimPrefix(url, "tcp://")).Replace(line)
				out := &signalWriter{reach: reach}
				if cmdline != line {
					out.reach = func() {}
				}
				runAndSignal(t, folder, cmdline, signal, out, ready, code)
			})
		}
	}
}

// signalServer returns the URL of a server that never greets, or of one that serves, which calls reach when a client is there, or
// has sent a command.
func signalServer(t *testing.T, phase int, reach func()) string {
	t.Helper()
	if phase > 0 {
		server := fakes.NewServer(fakes.Config{Hook: func(e *fakes.Event) {
			if e.Point == fakes.Checked && e.Command.Verb != "HELLO" && e.Command.Verb != "END" && e.Command.Verb != "INFO" {
				reach()
			}
		}})
		t.Cleanup(server.Close)
		return server.URL()
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for nc, err := l.Accept(); err == nil; nc, err = l.Accept() {
			reach()
			defer nc.Close()
		}
	}()
	return "tcp://" + l.Addr().String()
}

var printedCode = regexp.MustCompile(`exit code (\d+)`)

// command returns a command of a line, run in a folder.
func command(t *testing.T, folder, line string) *exec.Cmd {
	t.Helper()
	words := strings.Fields(line)
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...) //nolint:gosec // a command of the table
	cmd.Dir = folder
	return cmd
}

// signalWriter is what a command prints. It calls reach at each write.
type signalWriter struct {
	lockedBuilder

	reach func()
}

func (w *signalWriter) Write(b []byte) (int, error) {
	defer w.reach()
	return w.lockedBuilder.Write(b)
}

// runAndSignal runs a command, signals it at the moment that reached names, and signals it again when it prints that it
// was interrupted, as timeout(1) does. The second signal must not keep the command from writing its results.
func runAndSignal(
	t *testing.T, folder, line string, signal os.Signal, out *signalWriter, ready <-chan struct{}, want int,
) {
	t.Helper()
	cmd := command(t, folder, line)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, out, 10*time.Second
	reach, repeat := out.reach, sync.OnceFunc(func() { _ = cmd.Process.Signal(signal) }) // it may have ended
	out.reach = func() {
		if reach(); strings.Contains(out.String(), "interrupted: writing") {
			repeat()
		}
	}
	require.NoError(t, cmd.Start())
	<-ready
	require.NoError(t, cmd.Process.Signal(signal))
	_ = cmd.Wait() // its state has what matters
	assert.Equal(t, want, cmd.ProcessState.ExitCode(), "%s, %v: %s", line, signal, out.String())
	for _, printed := range printedCode.FindAllStringSubmatch(out.String(), -1) {
		assert.Equal(t, strconv.Itoa(want), printed[1], "%s: %s", line, out.String())
	}
	assert.NotRegexp(t, internalWords, out.String(), line)
	if strings.HasPrefix(line, "fwpcheck wait") {
		assert.NotContains(t, out.String(), "report", "it writes none")
	}
}
