package results

import "time"

// Health is the generator's own error bar: what it and its machine used while it measured, in the time Length. Unknown
// names what this operating system does not provide; the fields are 0 then.
type Health struct {
	Length time.Duration `json:"over_ns"`
	// CPUUser and CPUSystem are the CPU time of this process.
	CPUUser   time.Duration `json:"cpu_user_ns"`
	CPUSystem time.Duration `json:"cpu_system_ns"`
	// CPUShare is that time as a share of what one CPU for each loop (or a smaller quota of the cgroup) can give;
	// CPUPeak is the share in the busiest second.
	CPUShare float64 `json:"cpu_share"`
	CPUPeak  float64 `json:"cpu_peak"`
	// Loops holds, for each loop of the engine, the share of time in which it was not asleep.
	Loops []float64 `json:"loops_busy,omitempty"`
	// ReplyDelay is the mean time for which a reply has waited until the generator handled it, estimated; 0 where the
	// engine does not know.
	ReplyDelay time.Duration `json:"reply_waited_ns,omitempty" join:"max"`
	// MachineBusy is the share of the machine's CPU time that was used, by this process, the target (if it runs here) and
	// others; MachinePeak is that of the busiest second.
	MachineBusy float64 `json:"machine_busy"`
	MachinePeak float64 `json:"machine_peak"`
	// Pressure is the share of the time in which a process of this cgroup, or of the machine, waited for a CPU.
	Pressure float64 `json:"cpu_pressure,omitempty"`
	// Steal is the share of the machine's CPU time that its host gave to others.
	Steal float64 `json:"steal"`
	// Throttled is how long a cgroup held this process back, and ThrottledPeriods how often.
	Throttled        time.Duration `json:"throttled_ns"`
	ThrottledPeriods int64         `json:"throttled_periods"`
	// GCPauses is how often the garbage collector stopped the process, GCPause for how long in all, and GCPauseMax
	// the longest of them.
	GCPauses   int64         `json:"gc_pauses"`
	GCPause    time.Duration `json:"gc_pause_ns"`
	GCPauseMax time.Duration `json:"gc_pause_max_ns"`
	// MemoryPeak is the most memory in bytes that the process had resident; HeapPeak is that of Go's heap.
	MemoryPeak int64 `json:"memory_peak_bytes"`
	HeapPeak   int64 `json:"heap_peak_bytes"`
	// Files are the open descriptors of this process.
	Files Files `json:"files"`
	// NoFiles, NoPorts and NoMemory count connections that could not be opened for lack of descriptors, of local ports
	// or of memory for sockets.
	NoFiles  int64 `json:"no_files" join:"sum"`
	NoPorts  int64 `json:"no_ports" join:"sum"`
	NoMemory int64 `json:"no_memory" join:"sum"`
	// Holes holds the spans in which this process stood still: it was stopped, or the machine slept, was paused, or had no
	// CPU time for it.
	Holes []Hole `json:"holes,omitempty"`
	// ClockJumps holds the moments at which the clock of the machine was set, or the machine slept.
	ClockJumps []ClockJump `json:"clock_jumps,omitempty"`
	// ServerCPU is the CPU time of the target and of all that it started, in steps of 10 ms, if it runs on this machine
	// and fwpbench started it; 0 if that is not known.
	ServerCPU time.Duration `json:"server_cpu_ns,omitempty"`
	// Unknown names what could not be measured here: "cpu", "machine", "files", "cgroup", "memory".
	Unknown []string `json:"unknown,omitempty"`
}

// Files counts open descriptors: the most at any one time, and the limits. The soft one holds; the process may raise
// it by itself to the hard one, which only root raises.
type Files struct {
	Peak int64 `json:"peak"`
	Soft int64 `json:"soft_limit"`
	Hard int64 `json:"hard_limit"`
}

// Hole is a span of more than 200 ms in which the process stood still.
type Hole struct {
	// At is counted from the start of the run.
	At     time.Duration `json:"at_ns"`
	Length time.Duration `json:"for_ns"`
}

// ClockJump is a step of the time of day against the monotonic clock.
type ClockJump struct {
	// At is counted from the start of the run; the jump was in the second before.
	At time.Duration `json:"at_ns"`
	// By is how far the time of day went ahead; negative: back.
	By time.Duration `json:"by_ns"`
}

// Validity is whether the figures of a run are about the target. The zero value is INVALID: figures that were not
// evaluated are not a result.
type Validity struct {
	IsValid bool `json:"valid"`
	// Reasons holds why not; empty if valid.
	Reasons []Reason `json:"reasons,omitempty"`
	// Remarks holds what the reader of the figures should know, one sentence each, though they are valid.
	Remarks []string `json:"remarks,omitempty" from:"target"`
	// Limit is that the generator was the limit of a closed loop: its rate is a lower bound. Empty if it was not.
	Limit string `json:"limit,omitempty"`
	// Share is the generator's own part of the median cycle of a closed loop: of the time from one command of a connection
	// to the next one. From a tenth on (HasBounds) rates are lower bounds, and times upper ones.
	Share     float64 `json:"generator_share,omitempty"`
	HasBounds bool    `json:"bounds,omitempty"`
}

// ReasonStill is the ID of the reason that the generator stood still.
const ReasonStill = "still"

// ReasonRefused is the ID of the reason that the target answered too much with errors.
const ReasonRefused = "refused"

// Reason is why a run is INVALID.
type Reason struct {
	// ID is a stable slug: ReasonStill, "empty", "errors", ReasonRefused, "late", "saturated", "files", "ports", "memory",
	// "connections", "aborted", "behind", "stolen", "throttled", "clock", "disruptions", "start" or "part".
	ID string `json:"id"`
	// Description is what was observed and which limit it passed, in one sentence without a full stop.
	Description string `json:"what" from:"target"`
	// Do is what to do about it, in one sentence without a full stop.
	Do string `json:"do"`
	// Facts are the figures behind it.
	Facts []Fact `json:"facts,omitempty"`
}

// Fact is a figure with its name, in words.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value" from:"target"`
}

// LoadWorker is what is known of the worker of a run whose target is one. The times of its jobs are those of the kinds
// "job" (from the delivery of a job until its ack or fail), "idle" (from the reply to that until the next fetch) and
// "beat" (from one heartbeat to the next).
type LoadWorker struct {
	// Command is how it was started, and Concurrency how many jobs it was told to work at a time.
	Command     string `json:"command"`
	Concurrency int    `json:"concurrency"`
	// InHand is the mean of the jobs that it had in hand while measuring, and InHandMax the most.
	InHand    float64 `json:"in_hand"`
	InHandMax int64   `json:"in_hand_most"`
	// Connections is how many it had open at a time, at most.
	Connections int `json:"connections"`
	// MemoryPeak is the most memory in bytes that its processes had resident at the end of a second. What they share
	// counts once, where the operating system says it.
	MemoryPeak int64 `json:"memory_peak_bytes,omitempty"`
	// Beats counts its heartbeats, and BeatGap is the longest time without one, that until its end included.
	Beats   int64         `json:"beats"`
	BeatGap time.Duration `json:"beat_gap_ns"`
	// ServerTime is the mean time that the server took for a fetch of a job or for an ack: it is not the worker's.
	ServerTime time.Duration `json:"server_own_ns"`
	// Output holds the last lines that it printed, if it ended by itself or did not work.
	Output []string `json:"output,omitempty" from:"target"`
}
