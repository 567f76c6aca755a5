package health

import (
	"os"
	"path/filepath"
	"strconv"
)

// Tree returns what a process of this machine and all that it has started use. It is not known (false) where the
// process has ended, or the operating system does not provide it: only Linux does.
func Tree(pid int) (Usage, bool) {
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
	return treeUsage(pid, all, int64(os.Getpagesize()))
}
