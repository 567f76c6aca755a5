package health

import (
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/fwpsuite/fwp/reports"
)

// reader takes snapshots.
type reader struct {
	collector *collector
	cgroups   []cgroupDir
	page      int64
}

func newReader() *reader {
	return &reader{collector: newCollector(), cgroups: parseCgroup(file("/proc/self/cgroup")), page: int64(os.Getpagesize())}
}

func (r *reader) take() snapshot {
	now := time.Now()
	s := snapshot{when: now, clock: now.Round(0)}
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) == nil {
		s.cpuKnown = true
		s.user, s.system = time.Duration(usage.Utime.Nano()), time.Duration(usage.Stime.Nano())
	}
	s.machine = parseStat(file("/proc/stat"))
	quota := 0.0
	for _, dir := range r.cgroups {
		at, of := dir.read()
		s.cgroup.known = s.cgroup.known || at.known
		s.cgroup.throttled += at.throttled
		s.cgroup.periods += at.periods
		if of > 0 && (quota == 0 || of < quota) {
			quota = of
		}
	}
	s.processors = processorsFor(quota)
	s.gc, s.heap = r.collector.read()
	s.memory = parseStatm(file("/proc/self/statm")) * r.page
	s.files = openFiles()
	s.softFiles, s.hardFiles = fileLimits()
	return s
}

// read returns how long the cgroup held its processes back, and its quota in processors.
func (d cgroupDir) read() (throttling, float64) {
	t := parseCPUStat(file(d.path + "/cpu.stat"))
	if d.old {
		return t, quotaOf(file(d.path+"/cpu.cfs_quota_us"), file(d.path+"/cpu.cfs_period_us"))
	}
	return t, parseQuota(file(d.path + "/cpu.max"))
}

// openFiles counts the descriptors of this process. Since Linux 6.2 the directory has their number as its size; before,
// it has to be read, which takes long with thousands of them, but there is nothing else.
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

// describe fills in what only this operating system tells.
func describe(m *reports.Machine) {
	m.Kernel = strings.TrimSpace(file("/proc/sys/kernel/osrelease"))
	m.CPU = parseModel(file("/proc/cpuinfo"))
	m.MemoryBytes = parseMemTotal(file("/proc/meminfo"))
}
