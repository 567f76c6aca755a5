package lag

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/input"
)

// waits returns how long each thread of a process, and of all processes below it, has waited for a processor so far, by
// the id of the thread. What the kernel does not tell is left out.
func waits(process int) map[int]time.Duration {
	all := map[int]time.Duration{}
	for left := []int{process}; len(left) > 0; left = left[1:] {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", left[0])) // the pattern is valid
		for _, thread := range threads {
			id, _ := strconv.Atoi(filepath.Base(thread))
			if stat := numbers(filepath.Join(thread, "schedstat")); len(stat) > 1 { // ran, waited, turns
				all[id] = time.Duration(stat[1])
			}
			left = append(left, numbers(filepath.Join(thread, "children"))...)
		}
	}
	return all
}

// numbers returns those that a file of the kernel consists of; none if the thread has ended.
func numbers(path string) (all []int) {
	text, _ := input.Read(path, 1<<16)
	for field := range strings.FieldsSeq(string(text)) {
		if n, err := strconv.Atoi(field); err == nil {
			all = append(all, n)
		}
	}
	return all
}
