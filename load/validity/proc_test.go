package validity

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestParsePressure(t *testing.T) {
	t.Parallel()
	const line = "some avg10=99.04 avg60=98.99 avg300=90.27 total=1409205551\n"
	assert.Equal(t, 1409205551*time.Microsecond, parsePressure(line+"full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"))
	for _, other := range []string{"", "full total=7", "some total=x", "some avg10=0.00"} {
		assert.Zero(t, parsePressure(other), other)
	}
}

func TestParseStat(t *testing.T) {
	t.Parallel()
	const text = "cpu  100 20 30 4000 50 6 7 80 90 10\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 1\n"
	assert.Equal(t, machineTime{total: 4293, idle: 4050, steal: 80}, parseStat(text), "guest is in user already")
	assert.Equal(t, machineTime{total: 15, idle: 9}, parseStat("cpu 1 2 3 4 5"), "an old kernel")
	for _, broken := range []string{"", "cpu", "cpu 1 2 3", "cpu0 1 2 3 4 5", "cpu 1 2 x 4 5"} {
		assert.Zero(t, parseStat(broken), broken)
	}
}

func TestParseCPUStat(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, text string
		want       throttling
	}{
		{
			"version 2", "usage_usec 5\nuser_usec 3\nnr_periods 10\nnr_throttled 4\nthrottled_usec 2500\nnr_bursts 0\n",
			throttling{isKnown: true, periods: 4, throttled: 2500 * time.Microsecond},
		},
		{
			"version 1", "nr_periods 10\nnr_throttled 4\nthrottled_time 2500000\n",
			throttling{isKnown: true, periods: 4, throttled: 2500 * time.Microsecond},
		},
		{"version 2 without a limit", "usage_usec 5\nuser_usec 3\nsystem_usec 2\n", throttling{isKnown: true}},
		{"no file", "", throttling{}},
		{"something else", "a b\nnr_throttled x\n", throttling{}},
	}
	for _, c := range cases {
		assert.Equal(t, c.want, parseCPUStat(c.text), c.name)
	}
}

func TestParseQuota(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"150000 100000\n": 1.5, "max 100000\n": 0, "": 0, "x y": 0, "1 0": 0, "50000": 0,
	} {
		assert.InDelta(t, want, parseQuota(text), 1e-9, text)
	}
	assert.InDelta(t, 2.0, quotaOf("200000\n", "100000\n"), 1e-9)
	assert.Zero(t, quotaOf("-1\n", "100000\n"))
}

func TestParseCgroup(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, text string
		want       []cgroupDir
	}{
		{"version 2", "0::/user.slice/a.scope\n", []cgroupDir{
			{path: "/sys/fs/cgroup/user.slice/a.scope"}, {path: "/sys/fs/cgroup/user.slice"}, {path: "/sys/fs/cgroup"},
		}},
		{"version 2 in a container", "0::/\n", []cgroupDir{{path: "/sys/fs/cgroup"}}},
		{"version 1", "12:cpuset:/x\n4:cpu,cpuacct:/docker/1\n0::/system\n", []cgroupDir{
			{path: "/sys/fs/cgroup/cpu,cpuacct/docker/1", isVersion1: true}, {path: "/sys/fs/cgroup/cpu,cpuacct/docker", isVersion1: true},
			{path: "/sys/fs/cgroup/cpu,cpuacct", isVersion1: true},
		}},
		{"outside of the namespace", "0::/../..\n", []cgroupDir{{path: "/sys/fs/cgroup"}}},
		{"none", "", nil},
		{"something else", "a\n1:b\n", nil},
	}
	for _, c := range cases {
		assert.Equal(t, c.want, parseCgroup(c.text), c.name)
	}
}

func TestParseTheRest(t *testing.T) {
	t.Parallel()
	assert.EqualValues(t, 456, parseStatm("123 456 7 8 9 0 0\n"))
	assert.Zero(t, parseStatm(""))
	assert.Zero(t, parseStatm("1 x"))
	assert.Equal(t, "AMD EPYC 7B13", parseModel("processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC  7B13\nmodel "+
		"name\t: other\n"))
	assert.Empty(t, parseModel("processor : 0\n"))
	assert.EqualValues(t, 8<<20, parseMemTotal("MemFree: 1 kB\nMemTotal:       8192 kB\n"))
	assert.Zero(t, parseMemTotal("MemTotal: x kB\n"))
	assert.Zero(t, parseMemTotal(""))
}

func TestParseShare(t *testing.T) {
	t.Parallel()
	assert.EqualValues(t, 1500<<10, parseShare("55-7f ---p 00000000 00:00 0 [rollup]\nRss:  4096 kB\nPss:  1500 kB\nPss_Dirty: 9 kB\n"))
	for _, text := range []string{"", "Pss:", "Pss: x kB", "Rss: 4096 kB", "SwapPss: 7 kB"} {
		assert.EqualValues(t, -1, parseShare(text), text)
	}
}

func TestTreeUsage(t *testing.T) {
	t.Parallel()
	line := "812 (a (strange) name) S 7 812 812 0 -1 4194560 1 2 3 4 120 30 7 3 20 0 9 0 100 4096 25"
	assert.Equal(t, processStat{"a (strange) name", 7, 160, 9, 25}, parseProcessStat(line))
	for _, text := range []string{"", "812", "812 (a) S 7", strings.Replace(line, "120", "x", 1)} {
		assert.Equal(t, processStat{}, parseProcessStat(text))
	}
	all := map[int]processStat{
		1: {parent: 0, ticks: 1000}, 7: {parent: 1, ticks: 1, threads: 2, residentPages: 3},
		8: {name: "redis-server", parent: 7, ticks: 20, threads: 1, residentPages: 4}, 9: {parent: 8, ticks: 300},
		10: {parent: 1, ticks: 5000}, 20: {parent: 21, ticks: 1}, 21: {parent: 20, ticks: 1},
	}
	usage, ok := treeUsage(7, all, func(pid int) int64 { return all[pid].residentPages * 4096 })
	assert.Equal(t, Usage{CPU: 3210 * time.Millisecond, Memory: 7 * 4096, Redis: 4 * 4096, Threads: 3}, usage)
	assert.True(t, ok)
	_, ok = treeUsage(99, all, nil)
	assert.False(t, ok)
}
