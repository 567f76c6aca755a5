package target

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fwpsuite/fwp/internal/base/input"
)

// adoptOrphans makes descendants whose parent has ended our children, so that killOrphans finds them even if they
// have left their process group.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// stopOrphans asks the children of this process to end: those that have left their group, such as a server that runs in
// the background. It waits until they have ended, or the patience is over, and reports whether they have.
func stopOrphans(patience <-chan time.Time) bool {
	signalOrphans(syscall.SIGTERM)
	signalOrphans(syscall.SIGCONT)
	return awaitEnd(patience, func() bool { return !hasOrphans() })
}

// hasOrphans reports whether this process has children.
func hasOrphans() bool { return len(childrenOf(os.Getpid())) > 0 }

// signalOrphans sends the children of this process a signal.
func signalOrphans(s syscall.Signal) {
	for _, pid := range childrenOf(os.Getpid()) {
		_ = syscall.Kill(pid, s)
	}
}

// killOrphans kills the children of this process until there are none. A child that ended may leave children of its
// own, which are ours then.
func killOrphans() {
	for {
		children := childrenOf(os.Getpid())
		if len(children) == 0 {
			return
		}
		for _, pid := range children {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			_, _ = syscall.Wait4(pid, nil, 0, nil)
		}
	}
}

// descendants returns the process ids of those below a process that run: it leaves out those that have ended and that
// nobody has waited for.
func descendants(pid int) (all []int) {
	for _, child := range childrenOf(pid) {
		stat, _ := input.Read(fmt.Sprintf("/proc/%d/stat", child), 1<<12) // none if it has ended
		if _, state, ok := strings.Cut(string(stat[max(0, bytes.LastIndexByte(stat, ')')):]), ") "); ok && state[0] != 'Z' {
			all = append(all, child)
		}
		all = append(all, descendants(child)...)
	}
	return all
}

// childrenOf returns the process ids of the children of a process.
func childrenOf(pid int) []int {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is valid
	var all []int
	for _, file := range files {
		text, _ := input.Read(file, 1<<20) // none if the thread has ended
		for field := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil {
				all = append(all, pid)
			}
		}
	}
	return all
}
