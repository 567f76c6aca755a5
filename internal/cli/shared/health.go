package shared

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/base/input"
	"github.com/fwpsuite/fwp/reports"
)

// NewHealth builds the hidden command `health`, by which the image of the programs tells whether a container is
// healthy: whatever `serve` serves there listens. It connects to nothing, because a double records what its clients do.
// Where nothing serves, there is nothing to check.
func NewHealth(p Process) *cobra.Command {
	return &cobra.Command{
		Use:    "health",
		Short:  "Check that each `serve` of this container listens",
		Hidden: true,
		Args:   NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			servers, err := silentServers("/proc", cmd.Root())
			if err != nil {
				return &InternalError{err}
			}
			if len(servers) > 0 {
				p.Logf("it does not listen: %s", strings.Join(servers, ", "))
				return Exit(reports.ExitFindings)
			}
			return nil
		},
	}
}

// silentServers returns the processes that run `serve` of this program and listen nowhere. proc is where the kernel has
// them.
func silentServers(proc string, root *cobra.Command) (all []string, err error) {
	self, err := os.Stat(filepath.Join(proc, "self", "exe"))
	if err != nil {
		return nil, fmt.Errorf("find the processes of this container: %w", err)
	}
	processes, _ := filepath.Glob(filepath.Join(proc, "[0-9]*")) // the pattern is valid
	for _, process := range processes {
		program, err := os.Stat(filepath.Join(process, "exe"))
		if err != nil || !os.SameFile(self, program) {
			continue
		}
		words, _ := input.Read(filepath.Join(process, "cmdline"), 1<<20) // none if it has ended
		name, arguments, _ := strings.Cut(strings.TrimSuffix(string(words), "\x00"), "\x00")
		found, _, err := root.Find(strings.Split(arguments, "\x00"))
		if err == nil && found.Name() == "serve" && !isListening(process) {
			all = append(all, fmt.Sprintf("process %s (%s %s)", filepath.Base(process), filepath.Base(name), found.Name()))
		}
	}
	return all, nil
}

// isListening reports whether a process has a TCP socket open that listens.
func isListening(process string) bool {
	var sockets []string
	for _, table := range []string{"tcp", "tcp6"} {
		text, _ := input.Read(filepath.Join(process, "net", table), 64<<20) // none without IPv6
		for line := range bytes.Lines(text) {
			if f := strings.Fields(string(line)); len(f) > 9 && f[3] == "0A" { // its state; the last one is its inode
				sockets = append(sockets, "socket:["+f[9]+"]")
			}
		}
	}
	files, _ := filepath.Glob(filepath.Join(process, "fd", "*")) // the pattern is valid
	return slices.ContainsFunc(files, func(file string) bool {
		to, _ := os.Readlink(file)
		return slices.Contains(sockets, to)
	})
}
