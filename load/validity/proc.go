package validity

import (
	"path"
	"strconv"
	"strings"
	"time"
)

// The parsers of files in /proc and /sys. All are pure, and return zero values for what they do not find.

// machineTime is the CPU time of the whole machine, in ticks of the kernel.
type machineTime struct {
	total, idle, steal uint64 // idle includes waiting for input and output
}

// parseStat reads the first line of /proc/stat (proc_stat(5)): user, nice, system, idle, iowait, irq, softirq, steal,
// and guest and guest_nice, which are in user and nice already.
func parseStat(text string) machineTime {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	if len(fields) < 5 || fields[0] != "cpu" {
		return machineTime{}
	}
	var t machineTime
	for i, field := range fields[1:min(len(fields), 9)] {
		ticks, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			return machineTime{}
		}
		t.total += ticks
		switch i {
		case 3, 4:
			t.idle += ticks
		case 7:
			t.steal = ticks
		}
	}
	return t
}

// throttling is how long a cgroup throttled its processes, and in how many of its periods.
type throttling struct {
	isKnown   bool
	throttled time.Duration
	periods   int64
}

// parseCPUStat reads cpu.stat of a cgroup, of version 2 (throttled_usec) or 1 (throttled_time, in ns).
func parseCPUStat(text string) throttling {
	var t throttling
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			continue
		}
		switch name {
		case "usage_usec", "nr_periods":
			t.isKnown = true
		case "nr_throttled":
			t.periods, t.isKnown = n, true
		case "throttled_usec":
			t.throttled = time.Duration(n) * time.Microsecond
		case "throttled_time":
			t.throttled = time.Duration(n)
		}
	}
	return t
}

// parseQuota reads cpu.max of a cgroup of version 2, "150000 100000" or "max 100000": how many processors its processes
// may use together, or 0 for any number.
func parseQuota(text string) float64 {
	quota, period, _ := strings.Cut(strings.TrimSpace(text), " ")
	return quotaOf(quota, period)
}

// parsePressure reads cpu.pressure of a cgroup, or /proc/pressure/cpu: for how long some process has waited for a CPU,
// "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234" in microseconds.
func parsePressure(text string) time.Duration {
	line, _, _ := strings.Cut(text, "\n")
	_, total, found := strings.Cut(line, "total=")
	n, err := strconv.ParseInt(total, 10, 64)
	if !found || err != nil || !strings.HasPrefix(line, "some ") {
		return 0
	}
	return time.Duration(n) * time.Microsecond
}

// quotaOf divides a quota by its period. "max" and, of version 1, -1 stand for any number, which is 0.
func quotaOf(quota, period string) float64 {
	q, err := strconv.ParseFloat(strings.TrimSpace(quota), 64)
	if err != nil || q <= 0 {
		return 0
	}
	p, err := strconv.ParseFloat(strings.TrimSpace(period), 64)
	if err != nil || p <= 0 {
		return 0
	}
	return q / p
}

// cgroupDir is a directory of files about a cgroup.
type cgroupDir struct {
	path       string
	isVersion1 bool // version 1
}

// parseCgroup reads /proc/self/cgroup and returns the directories in which the CPU time of the process is limited: its
// own and those above, because any of them may hold it back. Version 1 has lines like "4:cpu,cpuacct:/a/b", version
// 2 has one: "0::/a/b".
func parseCgroup(text string) []cgroupDir {
	root, group, isVersion1 := "", "", false
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[0] == "0" && parts[1] == "" && !isVersion1:
			root, group = "/sys/fs/cgroup", parts[2]
		case strings.Contains(","+parts[1]+",", ",cpu,"):
			root, group, isVersion1 = "/sys/fs/cgroup/"+parts[1], parts[2], true
		}
	}
	if root == "" {
		return nil
	}
	var dirs []cgroupDir
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		dirs = append(dirs, cgroupDir{path: path.Join(root, at), isVersion1: isVersion1})
		if at == "/" {
			return dirs
		}
	}
}

// parseStatm reads /proc/self/statm and returns how many pages the process has resident.
func parseStatm(text string) int64 {
	fields := strings.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages
}

// parseModel returns the model of the first CPU in /proc/cpuinfo. Not every architecture has it.
func parseModel(text string) string {
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return ""
}

// parseMemTotal returns the memory of the machine in /proc/meminfo, in bytes.
func parseMemTotal(text string) int64 {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "MemTotal:" {
			continue
		}
		kib, _ := strconv.ParseInt(fields[1], 10, 64)
		return kib << 10
	}
	return 0
}

// parseShare reads /proc/PID/smaps_rollup and returns the memory of a process in bytes, of which it has a share only
// where other processes have the same: as those that are forked have with their parent. It is negative if that is not
// there.
func parseShare(text string) int64 {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "Pss:" {
			continue
		}
		if kib, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
			return kib << 10
		}
	}
	return -1
}

// Usage is what a process of this machine and all that it has started use: CPU time so far, in steps of 10 ms, resident
// memory in bytes, and threads. Redis is the memory of those among them that are a redis-server.
type Usage struct {
	CPU           time.Duration
	Memory, Redis int64
	Threads       int
}

// processStat is what one process uses, with its children that have ended, in ticks and pages.
type processStat struct {
	name                          string
	parent                        int
	ticks, threads, residentPages int64
}

// tick is how long a tick of proc_pid_stat(5) is, on every architecture that Go has but one.
const tick = 10 * time.Millisecond

// parseProcessStat reads /proc/PID/stat. The second field is the name of the program in parentheses, which may contain
// any character.
func parseProcessStat(text string) processStat {
	from, at := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	fields := strings.Fields(text[at+1:])
	if from < 0 || at < from || len(fields) < 22 { // from the third field on: state, parent ...
		return processStat{}
	}
	p := processStat{name: text[from+1 : at]}
	p.parent, _ = strconv.Atoi(fields[1])
	for place, to := range map[int]*int64{11: &p.ticks, 12: &p.ticks, 13: &p.ticks, 14: &p.ticks, 17: &p.threads,
		21: &p.residentPages} {
		n, err := strconv.ParseInt(fields[place], 10, 64)
		if err != nil {
			return processStat{}
		}
		*to += n
	}
	return p
}

// treeUsage returns what a process and all below it use.
func treeUsage(pid int, all map[int]processStat, memory func(pid int) int64) (u Usage, ok bool) {
	if _, ok := all[pid]; !ok {
		return u, false
	}
	for number, p := range all {
		at := number
		for range all { // a process that has ended while the others were read may close a circle
			if at == pid {
				u.CPU += time.Duration(p.ticks) * tick
				u.Threads += int(p.threads)
				bytes := memory(number)
				u.Memory += bytes
				if p.name == "redis-server" {
					u.Redis += bytes
				}
				break
			}
			if at = all[at].parent; at == 0 {
				break
			}
		}
	}
	return u, true
}
