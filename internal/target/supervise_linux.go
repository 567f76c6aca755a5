package target

import (
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/fwpsuite/fwp/internal/input"
)

// adoptOrphans makes descendants whose parent has ended our children, so that killOrphans finds them even if they
// have left their process group.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// killOrphans kills the children of this process until there are none. A child that ended may leave children of its
// own, which are ours then.
func killOrphans() {
	for {
		children := children()
		if len(children) == 0 {
			return
		}
		for _, pid := range children {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			_, _ = syscall.Wait4(pid, nil, 0, nil)
		}
	}
}

// children returns the process ids of the children of this process.
func children() []int {
	files, _ := filepath.Glob("/proc/self/task/*/children") // the pattern is valid
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
