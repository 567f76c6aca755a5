package health

import (
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// TreeTime returns the CPU time so far of a process of this machine and of all that it has started, in steps of 10 ms.
// It is not known (false) where the process has ended, or the operating system does not provide it: only Linux does.
func TreeTime(pid int) (time.Duration, bool) {
	names, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is valid
	all := map[int]processStat{}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Clean(name))
		if err != nil { // it has ended
			continue
		}
		if number, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
			all[number] = parseProcessStat(string(text))
		}
	}
	return treeTime(pid, all)
}
