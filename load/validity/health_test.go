package validity

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/results"
)

// script returns the snapshots one after the other.
func script(all ...snapshot) func() snapshot {
	return func() snapshot {
		next := all[0]
		all = all[1:]
		return next
	}
}

func TestSamplerOfAWindow(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(after time.Duration, change func(*snapshot)) snapshot {
		s := snapshot{
			instant: start.Add(after), clock: start.Round(0).Add(after), isCPUKnown: true, processors: 2,
			cgroup: throttling{isKnown: true}, memory: 1 << 20, files: 7, softFiles: 100, hardFiles: 200,
		}
		change(&s)
		return s
	}
	s := &Sampler{start: start, stillness: newStillness(start), take: script(
		at(10*time.Second, func(s *snapshot) { // begin
			s.user, s.machine = time.Second, machineTime{total: 1000, idle: 500, steal: 10}
			s.gc, s.files = pauses{count: 2, total: time.Millisecond, longest: time.Hour}, 90
		}),
		at(11*time.Second, func(s *snapshot) { // a busy second
			s.user, s.system, s.machine = 2*time.Second, 500*time.Millisecond, machineTime{total: 1200, idle: 520, steal: 10}
			s.cgroup.throttled, s.cgroup.periods, s.memory, s.heap = 30*time.Millisecond, 3, 5<<20, 4<<20
			s.gc = pauses{count: 4, total: 3 * time.Millisecond, longest: 700 * time.Microsecond}
		}),
		at(14*time.Second, func(s *snapshot) { // a quiet time, and the clock is set back
			s.user, s.system, s.machine = 2*time.Second, time.Second, machineTime{total: 1800, idle: 1104, steal: 26}
			s.cgroup.throttled, s.cgroup.periods = 30*time.Millisecond, 3
			s.clock = s.clock.Add(-time.Hour)
			s.gc = pauses{count: 5, total: 4 * time.Millisecond, longest: 100 * time.Microsecond}
		}),
		at(14100*time.Millisecond, func(s *snapshot) { // a burst that is too short for a peak, and then the end
			s.user, s.system, s.machine = 2*time.Second+100*time.Millisecond, 1100*time.Millisecond,
				machineTime{total: 1820, idle: 1104, steal: 26}
			s.cgroup.throttled, s.cgroup.periods = 30*time.Millisecond, 3
			s.clock = s.clock.Add(-time.Hour)
			s.gc = pauses{count: 5, total: 4 * time.Millisecond}
		}),
	), last: at(9*time.Second, func(s *snapshot) { s.memory, s.files = 1<<30, 1000 })} // before: does not count

	s.Begin()
	busy := s.Sample()
	assert.InDelta(t, 1.5, busy.CPU, 1e-9)
	assert.InDelta(t, 0.75, busy.Share, 1e-9)
	assert.InDelta(t, 0.9, busy.MachineBusy, 1e-9)
	assert.EqualValues(t, 5<<20, busy.Memory)
	assert.Zero(t, busy.Jump)
	quiet := s.Sample()
	assert.Equal(t, -time.Hour, quiet.Jump)
	got := s.End()

	assert.InDelta(t, 2.2/(4.1*2), got.CPUShare, 1e-9)
	assert.InDelta(t, 0.75, got.CPUPeak, 1e-9)
	assert.InDelta(t, 1-604.0/820-16.0/820, got.MachineBusy, 1e-9)
	assert.InDelta(t, 0.9, got.MachinePeak, 1e-9)
	assert.InDelta(t, 16.0/820, got.Steal, 1e-9)
	got.CPUShare, got.CPUPeak, got.MachineBusy, got.MachinePeak, got.Steal = 0, 0, 0, 0, 0
	assert.Equal(t, results.Health{
		Length: 4100 * time.Millisecond, CPUUser: 1100 * time.Millisecond, CPUSystem: 1100 * time.Millisecond,
		Throttled: 30 * time.Millisecond, ThrottledPeriods: 3,
		GCPauses: 3, GCPause: 3 * time.Millisecond, GCPauseMax: 700 * time.Microsecond,
		MemoryPeak: 5 << 20, HeapPeak: 4 << 20, Files: results.Files{Peak: 90, Soft: 100, Hard: 200},
		ClockJumps: []results.ClockJump{{At: 14 * time.Second, By: -time.Hour}},
	}, got)
}

func TestSamplerWithoutAWindow(t *testing.T) {
	t.Parallel()
	s := &Sampler{take: script()}
	assert.Equal(t, results.Health{Unknown: []string{"cpu", "machine", "files", "cgroup", "memory"}}, s.End())
	assert.Equal(t, Sample{Memory: 3}, difference(snapshot{}, snapshot{memory: 3}), "no time has passed")
}

// The figures of this machine are unknown, but reading them must work, and missing ones must be in Unknown.
func TestSamplerOnThisMachine(t *testing.T) {
	t.Parallel()
	s := NewSampler(time.Now(), 1)
	s.Begin()
	runtime.GC()
	got := s.End()
	assert.Positive(t, got.Length)
	assert.Positive(t, got.HeapPeak)
	assert.Positive(t, got.GCPauses)
	if runtime.GOOS == "linux" {
		assert.NotContains(t, got.Unknown, "cpu")
		assert.NotContains(t, got.Unknown, "memory")
		assert.Positive(t, got.Files.Soft)
	}
	m := ThisMachine()
	assert.Equal(t, runtime.GOOS, m.OS)
	assert.Positive(t, m.Cores)
}

func TestRaise(t *testing.T) {
	t.Parallel()
	denied := errors.New("operation not permitted")
	cases := []struct {
		name               string
		soft, hard, need   int64
		isRoot             bool
		wantSoft, wantHard int64
		hasError           bool
	}{
		{name: "enough", soft: 1024, hard: 4096, need: 1000, wantSoft: 1024, wantHard: 4096},
		{name: "raised", soft: 1024, hard: 4096, need: 2000, wantSoft: 2000, wantHard: 4096},
		{name: "too low a hard limit", soft: 1024, hard: 4096, need: 5000, wantSoft: 4096, wantHard: 4096, hasError: true},
		{name: "root", soft: 1024, hard: 4096, need: 5000, isRoot: true, wantSoft: 5000, wantHard: 5000},
		{name: "a system without limits", need: 5000},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			soft, hard := c.soft, c.hard
			set := func(s, h int64) error {
				if h > hard && !c.isRoot {
					return denied
				}
				soft, hard = s, h
				return nil
			}
			err := raise(c.need, func() (int64, int64) { return soft, hard }, set)
			assert.Equal(t, []int64{c.wantSoft, c.wantHard}, []int64{soft, hard})
			if !c.hasError {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err,
				"may open 4096 files, and the run needs 5000 file descriptors: use fewer connections")
		})
	}
}

func TestRaiseFilesOfThisProcess(t *testing.T) {
	t.Parallel()
	require.NoError(t, RaiseFiles(1)) // there is room for one
}

// BenchmarkSample measures a sample, of which a run takes one a second.
func BenchmarkSample(b *testing.B) {
	s := NewSampler(time.Now(), 1)
	b.ReportAllocs()
	for b.Loop() {
		s.Sample()
	}
}

// What counts as used between two snapshots, as a jump of the clock, and as a peak.
func TestWhatIsUsedBetweenTwoSnapshots(t *testing.T) {
	t.Parallel()
	now := time.Now()
	first := snapshot{instant: now, clock: now.Round(0), processors: 2,
		machine: machineTime{total: 1000, idle: 500, steal: 10}}
	for name, test := range map[string]struct {
		change func(*snapshot)
		want   Sample
	}{
		"nothing": {func(*snapshot) {}, Sample{Length: time.Second}},
		"half of two processors": {func(s *snapshot) { s.user, s.system = 900*time.Millisecond, 100*time.Millisecond },
			Sample{Length: time.Second, CPU: 1, Share: 0.5}},
		"a machine without idle time": {func(s *snapshot) { s.machine = machineTime{total: 1200, idle: 500, steal: 10} },
			Sample{Length: time.Second, MachineBusy: 1}},
		"a quarter was stolen": {func(s *snapshot) { s.machine = machineTime{total: 1200, idle: 600, steal: 60} },
			Sample{Length: time.Second, MachineBusy: 0.25, Steal: 0.25}},
		"idle time that steps back": {func(s *snapshot) { s.machine = machineTime{total: 1200, idle: 499, steal: 10} },
			Sample{Length: time.Second, MachineBusy: 1}},
		"a machine that tells nothing": {func(s *snapshot) { s.machine = machineTime{} }, Sample{Length: time.Second}},
		"a clock that is slewed": {func(s *snapshot) { s.clock = s.clock.Add(jumpFrom - 1) },
			Sample{Length: time.Second}},
		"a clock that is set": {func(s *snapshot) { s.clock = s.clock.Add(jumpFrom) },
			Sample{Length: time.Second, Jump: jumpFrom}},
		"a clock that is set back": {func(s *snapshot) { s.clock = s.clock.Add(-time.Hour) },
			Sample{Length: time.Second, Jump: -time.Hour}},
		"no time at all": {func(s *snapshot) { s.instant, s.memory = now, 77 }, Sample{Memory: 77}},
	} {
		second := first
		second.instant, second.clock = now.Add(time.Second), first.clock.Add(time.Second)
		test.change(&second)
		assert.Equal(t, test.want, difference(first, second), name)
	}
	var s maxima
	s.add(Sample{Length: peakOver - 1, Share: 0.9, MachineBusy: 0.8}, snapshot{memory: 5, heap: 3, files: 2}, time.Second)
	assert.Equal(t, maxima{memory: 5, heap: 3, files: 2}, s, "a short sample may be one burst: no peak")
	s.add(Sample{Length: peakOver, Share: 0.7, MachineBusy: 0.6, Jump: time.Hour},
		snapshot{memory: 4, gc: pauses{longest: 9}},
		2*time.Second)
	assert.Equal(t, maxima{cpuPeak: 0.7, machinePeak: 0.6, memory: 5, heap: 3, files: 2, gcPauseMax: 9,
		jumps: []results.ClockJump{{At: 2 * time.Second, By: time.Hour}}}, s)
	for range 2 * maxJumps {
		s.add(Sample{Jump: time.Hour}, snapshot{}, 0)
	}
	assert.Len(t, s.jumps, maxJumps)
}

func TestWhatIsUnknown(t *testing.T) {
	t.Parallel()
	all := snapshot{isCPUKnown: true, machine: machineTime{total: 1}, files: 1, cgroup: throttling{isKnown: true}, memory: 1}
	assert.Empty(t, all.unknown())
	for name, change := range map[string]func(*snapshot){
		"cpu": func(s *snapshot) { s.isCPUKnown = false }, "machine": func(s *snapshot) { s.machine.total = 0 },
		"files": func(s *snapshot) { s.files = 0 }, "cgroup": func(s *snapshot) { s.cgroup.isKnown = false },
		"memory": func(s *snapshot) { s.memory = 0 },
	} {
		s := all
		change(&s)
		assert.Equal(t, []string{name}, s.unknown())
	}
}
