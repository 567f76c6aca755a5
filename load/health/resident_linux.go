package health

import (
	"fmt"
	"os"
	"strconv"
)

// Resident returns how many bytes of memory a process of this machine has resident. It fails if there is no such process,
// or if it has none.
func Resident(pid int) (int64, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0, fmt.Errorf("memory of process %d: %w", pid, err)
	}
	pages := parseStatm(string(text))
	if pages == 0 { // it has ended, or it is a thread of the kernel
		return 0, fmt.Errorf("memory of process %d: it has none", pid)
	}
	return pages * int64(os.Getpagesize()), nil
}
