//go:build linux && !race

package main_test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
)

// interrupted are commands, each with the exit codes with which the first SIGINT or SIGTERM ends it while it waits
// for a greeting, and after a command; 0: it is not interrupted then. URL is the server.
var interrupted = map[string][2]int{
	"fwpcheck run --url URL --no-progress":                           {130, 130},
	"fwpcheck explore --url URL --time 1m --no-progress":             {130, 130},
	"fwpcheck compare URL URL --time 1m":                             {130, 130},
	"fwpcheck record --upstream URL":                                 {130, 0},
	"fwpcheck clean --url URL":                                       {130, 0},
	"fwpcheck wait --url URL --timeout 1m":                           {130, 0},
	"fwpcheck shrink many.fwp --url URL":                             {130, 130},
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
	for line, codes := range interrupted {
		for phase, code := range codes {
			signal := []os.Signal{os.Interrupt, syscall.SIGTERM}[(phase+len(line))%2]
			if code == 0 {
				continue
			}
			t.Run(strings.Join(strings.Fields(line)[:2], " ")+strconv.Itoa(phase), func(t *testing.T) {
				t.Parallel()
				reached := make(chan struct{}, 1000)
				reach := func() {
					select {
					case reached <- struct{}{}:
					default:
					}
				}
				signalled(t, folder, strings.ReplaceAll(line, "URL", at(t, phase, reach)), signal, reached, code)
			})
		}
	}
}

// at returns the URL of a server that never greets, or of one that serves, which calls reach when a client is there, or
// has sent a command.
func at(t *testing.T, phase int, reach func()) string {
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

// signalled runs a command and signals it when it has reached something.
func signalled(
	t *testing.T, folder, line string, signal os.Signal, reached <-chan struct{}, want int,
) {
	t.Helper()
	cmd := command(t, folder, line)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, 10*time.Second
	require.NoError(t, cmd.Start())
	<-reached
	require.NoError(t, cmd.Process.Signal(signal))
	_ = cmd.Wait() // its state has what matters
	assert.Equal(t, want, cmd.ProcessState.ExitCode(), "%s, %v: %s", line, signal, out.String())
	for _, printed := range printedCode.FindAllStringSubmatch(out.String(), -1) {
		assert.Equal(t, strconv.Itoa(want), printed[1], "%s: %s", line, out.String())
	}
	assert.NotRegexp(t, ours, out.String(), line)
}
