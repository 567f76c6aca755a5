package validity

import (
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/load/results"
)

// system reads what only Linux provides.
type system struct{ cgroups []cgroupDir }

func newSystem() system { return system{cgroups: parseCgroup(file("/proc/self/cgroup"))} }

// read fills in the machine, the cgroup, memory and open files, and lowers the processors to the cgroup's quota.
func (sys system) read(s *snapshot) {
	s.machine = parseStat(file("/proc/stat"))
	for _, dir := range sys.cgroups {
		at, quota := dir.read()
		s.cgroup.isKnown = s.cgroup.isKnown || at.isKnown
		s.cgroup.throttled += at.throttled
		s.cgroup.periods += at.periods
		if quota > 0 && quota < s.processors {
			s.processors = quota
		}
	}
	s.pressure = sys.pressure()
	s.memory = parseStatm(file("/proc/self/statm")) * int64(os.Getpagesize())
	s.files = openFiles()
}

// pressure returns for how long a process of the cgroup has waited for a CPU, or of the machine where it has no cgroup
// of version 2.
func (sys system) pressure() time.Duration {
	text := ""
	if len(sys.cgroups) > 0 {
		text = file(sys.cgroups[0].path + "/cpu.pressure")
	}
	return parsePressure(cmp.Or(text, file("/proc/pressure/cpu")))
}

// quota returns how many processors the cgroups allow, 0 for any number.
func (sys system) quota() (lowest float64) {
	for _, dir := range sys.cgroups {
		if _, quota := dir.read(); quota > 0 && (lowest == 0 || quota < lowest) {
			lowest = quota
		}
	}
	return lowest
}

// read returns how long the cgroup held its processes back, and its quota in processors.
func (d cgroupDir) read() (throttling, float64) {
	t := parseCPUStat(file(d.path + "/cpu.stat"))
	if d.isVersion1 {
		return t, quotaOf(file(d.path+"/cpu.cfs_quota_us"), file(d.path+"/cpu.cfs_period_us"))
	}
	return t, parseQuota(file(d.path + "/cpu.max"))
}

// openFiles counts the descriptors of this process. Since Linux 6.2 their number is the size of the directory; older
// kernels need a read of the directory, which takes long with thousands of them.
func openFiles() int64 {
	info, err := os.Stat("/proc/self/fd")
	if err != nil {
		return 0
	}
	if info.Size() > 0 {
		return info.Size()
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return int64(len(entries))
}

// file returns the text of a file, or nothing.
func file(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(text)
}

// describe fills in what only Linux provides.
func describe(m *results.Machine) {
	m.Kernel = strings.TrimSpace(file("/proc/sys/kernel/osrelease"))
	m.CPU = parseModel(file("/proc/cpuinfo"))
	m.MemoryBytes = parseMemTotal(file("/proc/meminfo"))
	m.Quota = newSystem().quota()
}

// Tree returns what a process of this machine and all that it has started use. It is not known (false) where the
// process has ended, or the operating system does not provide it: only Linux does.
func Tree(pid int) (Usage, bool) {
	all := processes()
	return treeUsage(pid, all, func(pid int) int64 { return all[pid].residentBytes() })
}

// TreeByShares is Tree, but what several processes have in common counts once, where the kernel says the share of
// each. That costs more than Tree, the more memory the processes have.
func TreeByShares(pid int) (Usage, bool) {
	all := processes()
	return treeUsage(pid, all, func(pid int) int64 {
		if share := parseShare(file("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")); share >= 0 {
			return share
		}
		return all[pid].residentBytes()
	})
}

func (p processStat) residentBytes() int64 { return p.residentPages * int64(os.Getpagesize()) }

// processes returns those of this machine.
func processes() map[int]processStat {
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
	return all
}
