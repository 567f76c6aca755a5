package results

import (
	"encoding/json"
	"time"

	"github.com/fwpsuite/fwp/reports"
)

// LoadSchema is the Schema of every Load.
const LoadSchema = "fwpbench/2"

// Load is the result of one run of the load generator. The exit code and every output are computed from it and from
// nothing else. Evaluate fills Validity and Thresholds, when everything else is there.
//
// Durations are nanoseconds in JSON, in keys that end in _ns; rates are a second; shares are 0 to 1. Moments of a run
// are counted from its start.
//
// A Load is plain data without locks.
type Load struct {
	reports.Head
	// Run is the id of the run: it is in the names of its queues and in the jid of every job.
	Run string `json:"run"`
	// LoadFrom is when the first arrival was due, by the same clock; zero if the load did not begin.
	LoadFrom time.Time `json:"load_from,omitzero"`
	// Target is what the load was put on.
	Target LoadTarget `json:"target"`
	// Machine is what the generator ran on; empty if there were several: see Parts.
	Machine Machine `json:"machine"`
	// Engine is what moved the bytes: "portable", or "epoll" and what that does without. Empty if there was no load.
	Engine string `json:"engine,omitempty"`
	// Plan is what was asked for.
	Plan LoadPlan `json:"plan"`
	// Phases holds the phases that began, in their order.
	Phases []Phase `json:"phases"`
	// Measured is the length of the window in which commands were recorded: that of the phase "measure".
	Measured time.Duration `json:"measured_ns" join:"max"`
	// Connections counts the connections that the target accepted.
	Connections Connections `json:"connections"`
	// Rate is the target rate of the plan's arrivals, and the rate that was achieved.
	Rate LoadRate `json:"rate"`
	// JobsDue is how the jobs grew that waited for workers; nil if no worker fetched while jobs were pushed.
	JobsDue *JobsDue `json:"jobs_due,omitempty"`
	// Ops holds every kind of command that was sent at least once, in the order of tables.
	Ops []LoadOp `json:"ops"`
	// Flows holds the flows of jobs, in the order of LoadFlows, each if it has at least one job.
	Flows []LoadFlow `json:"flows"`
	// ServerClock is how far the target's clock is from the generator's; nil if the times in its jobs show no difference.
	ServerClock *ServerClock `json:"server_clock,omitempty"`
	// Jobs is the account of every job of the run, whatever the phase it was pushed in.
	Jobs LoadJobs `json:"jobs"`
	// Queues has a row for each of the first 20 queues, if they are not alike; none of several generators.
	Queues      []LoadQueue      `json:"queues,omitempty"`
	Worker      *LoadWorker      `json:"worker,omitempty"`                     // the target, if it is one
	Disruptions *LoadDisruptions `json:"disruptions,omitempty"`                // what was done to the target on purpose
	ServerExit  string           `json:"server_ended,omitempty" from:"target"` // how a started server ended by itself
	// Findings holds what the target did wrong with the jobs of this run. Any one of them makes the exit code ExitLoss,
	// unless it is about a clause that only recommends something.
	Findings []LoadFinding `json:"findings"`
	// History is the file that has every call, which fwpcheck recheck reads; empty if there is none.
	History string `json:"history,omitempty"`
	// HistoryCut is where the recorded calls end because there were too many, counted from the start of the run; 0 if they
	// are complete. Jobs counts all of them.
	HistoryCut time.Duration `json:"history_cut_ns,omitempty" join:"max"`
	// Health is the generator's own error bar.
	Health Health `json:"health"`
	// Parts holds a row for each of several generators: this is the sum of their results, then.
	Parts []LoadPart `json:"parts,omitempty"`
	// Validity is whether the generator kept up; see Evaluate.
	Validity Validity `json:"validity"`
	// Thresholds holds the results of the thresholds, in the order in which they were given; see Evaluate.
	Thresholds []ThresholdResult `json:"thresholds"`
	// Percentiles are those that tables show, if the user has asked for others than the usual ones.
	Percentiles []Percentile `json:"percentiles,omitempty"`
	// Series holds the run second by second.
	Series []Second `json:"series"`
	// Heat is the map of response times of the command that the load is about.
	Heat LoadHeat `json:"heat,omitzero"`
	// Gaps holds the spans of a second or more in which a reply was due and none came.
	Gaps []Gap `json:"gaps,omitempty"`
	// FailedSpans holds the spans of a second or more in which all commands of a kind failed.
	FailedSpans []FailedSpan `json:"failed_spans,omitempty"`
	// AbortReason is the condition of --abort-on that ended the load before its time; empty if none did.
	AbortReason string `json:"ended_early,omitempty" from:"target"`
	// Histograms are those of the whole run, as an HdrHistogram log with one interval: fwpbench merge adds them up.
	Histograms string `json:"histograms,omitempty"`
	// StartFailure is why the load did not begin although the connections were open: the start of its segment had passed,
	// for example. Empty if it did begin.
	StartFailure string `json:"not_started,omitempty" from:"target"`
	// GivenUp is after how many jobs the prefill, or a load of a number of jobs, was given up, and why: "stopped after
	// 368 of 2,000 jobs: no reply for 10 s" for example. Empty if it was not.
	GivenUp string `json:"given_up,omitempty" from:"target"`
	// GoneReason is why the target was lost during the run and did not come back: "connection refused, after 31.2 s" for
	// example; empty if it stayed. Jobs then has what was confirmed and what is in doubt.
	GoneReason string `json:"gone,omitempty" from:"target"`
}

// LoadTarget is the server under load. HI and Info are what it sent, as JSON; what is not JSON is written as a JSON
// string.
type LoadTarget struct {
	// Subject is the software.
	Subject reports.Subject `json:"subject,omitzero"`
	// URL is the address, without the password; it may be empty for the embedded server.
	URL string `json:"url,omitempty"`
	// Chosen is how the target was chosen: "from --url", "from FAKTORY_URL", "the embedded server" for example.
	Chosen string `json:"chosen,omitempty"`
	// HI is the JSON hash of the greeting.
	HI json.RawMessage `json:"hi,omitempty"`
	// Info is the answer to info before the load began; empty if there was none.
	Info json.RawMessage `json:"info,omitempty"`
}

// Machine is what the generator ran on. Fields that the operating system does not provide are empty or 0.
type Machine struct {
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	Kernel     string `json:"kernel,omitempty"` // release: "6.18.5"
	CPU        string `json:"cpu,omitempty"`    // model
	Cores      int    `json:"cores"`            // logical processors that this process may use
	GOMAXPROCS int    `json:"gomaxprocs"`
	Go         string `json:"go"`
	// Quota is how many processors the cgroup of this process may use; 0: no limit.
	Quota float64 `json:"cpu_quota,omitempty"`
	// MemoryBytes is the machine's memory.
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
}

// LoadPlan is the requested load.
type LoadPlan struct {
	// Words describes the plan in one or a few sentences, with all that is not as in a plain round trip.
	Words string `json:"words"`
	// Preset is the name of the preset that the workload was built on.
	Preset string `json:"preset,omitempty"`
	// IsOpenLoop is set if arrivals have planned times, whatever the target does (an open loop); if false, the next
	// command follows the reply to the one before (a closed loop).
	IsOpenLoop bool `json:"open"`
	// Overload is "queue", "drop" or "abort": what becomes of an arrival that finds no free connection. Empty for a
	// closed loop.
	Overload string `json:"overload,omitempty"`
	// Stages holds the rates of an open loop, the warm-up included; between From and To the rate is linear.
	Stages []Stage `json:"stages,omitempty"`
	// Producers, Consumers and Idle are numbers of connections as planned. Of consumers they are workers.
	Producers int `json:"producers,omitempty" join:"sum"`
	Consumers int `json:"consumers,omitempty" join:"sum"`
	Idle      int `json:"idle,omitempty" join:"sum"`
	// Queues is how many queues there are, and Awaited how many of them are the first that some worker names, if a worker
	// that finds no job waits for its first queue only; both 0 where that is not so.
	Queues  int `json:"queues,omitempty"`
	Awaited int `json:"awaited_queues,omitempty"`
	// Segment is the part of the load that this run was, "2/4" for example, of which Producers, Consumers and Idle are the
	// connections. Empty for a whole load.
	Segment string `json:"segment,omitempty"`
	// Workload is the whole workload as JSON, with every default filled in.
	Workload json.RawMessage `json:"workload,omitempty"`
}

// Settings returns the settings of the workload by their keys, each as in YAML; none if they are not known.
func (p *LoadPlan) Settings() (all map[string]string) {
	if json.Unmarshal(p.Workload, &all) != nil {
		return nil
	}
	return all
}

// pace returns how fast the commands of a closed loop follow each other.
func (p *LoadPlan) pace() string {
	if think := p.Settings()["think"]; think != "" && think != "0s" && think != "0" {
		return "with pauses of " + think + " after replies"
	}
	return "as fast as replies arrived"
}

// Stage is a part of an open loop.
type Stage struct {
	Length time.Duration `json:"over_ns"`
	From   float64       `json:"from_per_s"`
	To     float64       `json:"to_per_s"`
}

// Phase is a part of a run: "start" of a worker, "connect", "prefill", "wait", "warm-up", "measure", "drain", "close".
type Phase struct {
	Name string `json:"name"`
	// From is counted from the start of the run.
	From time.Duration `json:"from_ns"`
	Took time.Duration `json:"took_ns"`
	// Note is a remark about it: "empty after 1.2 s" for example.
	Note string `json:"note,omitempty" from:"target"`
}

// Connections counts the connections that the target accepted.
type Connections struct {
	// Planned is how many were to be open before the load began, Opened how many of them got through hello.
	Planned int `json:"planned" join:"sum"`
	Opened  int `json:"opened" join:"sum"`
	// Refusal is why the first of the others did not; empty if there were none.
	Refusal string `json:"refused,omitempty" join:"first" from:"target"`
	// Losses is how many connections ended unexpectedly, in the whole run; FirstLoss is why the first of them did.
	Losses    int64  `json:"lost,omitempty" join:"sum"`
	FirstLoss string `json:"lost_why,omitempty" join:"first" from:"target"`
	// Disconnects is how many connections their clients ended without goodbye, as a workload with disconnects asks for.
	Disconnects int64 `json:"disconnects,omitempty" join:"sum"`
}

// LoadOp is what became of the commands of one kind whose intended time was in the measured window.
type LoadOp struct {
	// Op is the kind of command: "connect" (until the connection is open), "hello" (without the time for the password
	// hash), "push", "fetch" (a fetch that brought an error or no answer: it has errors only), "fetch.found" (that found
	// a job waiting), "fetch.waited" (that was there before the push of its job), "fetch.empty" (that brought no job),
	// "ack", "fail", "beat", "info" or "end"; of a worker, see LoadWorker.
	Op string `json:"op"`
	// Count is how many were answered, error replies not included.
	Count int64 `json:"count"`
	// Rate is Count divided by the length of the window; 0 for connections that were opened before it.
	Rate float64 `json:"per_s"`
	// Outside is how many were answered whose intended time was not in the window; nothing else here counts them.
	Outside int64 `json:"outside,omitempty"`
	// Errors holds how many were not answered, or with an error, by kind.
	Errors []LoadError `json:"errors,omitempty"`
	// Lateness is the generator's own delay: from the intended time, or from the moment when the connection that sent
	// the command was free if that was later, until it was sent.
	Lateness Latency `json:"lateness"`
	// Service is the time from sent until answered.
	Service Latency `json:"service"`
	// Response is the time from intended until answered.
	Response Latency `json:"response"`
}

// LoadError is how often something went wrong in the same way.
type LoadError struct {
	// Kind is a stable slug: "rejected" (an error reply), "malformed" (a reply that breaks the protocol), "timeout",
	// "refused" (the connection was), "reset", "closed", "out-of-files", "out-of-ports", "out-of-memory", "too-long" (a
	// reply was, for what a load reads) or "other".
	Kind  string `json:"kind"`
	Count int64  `json:"count"`
	// Example is the message of the first of them, escaped or not.
	Example string `json:"example,omitempty" from:"target"`
}

// LoadFlow is an end-to-end latency of the jobs whose push was due in the measured window.
type LoadFlow struct {
	// Flow is one of LoadFlows.
	Flow string  `json:"flow"`
	Time Latency `json:"time"`
}

// LoadQueue is what became of the jobs of one queue: a part of the account, and of the flow job.fetched.
type LoadQueue struct {
	// Queue is its name on the server, Recorded that in the trace which was played.
	Queue    string `json:"queue"`
	Recorded string `json:"recorded,omitempty" from:"target"`
	// Share is the part of all jobs that the plan has for it.
	Share     float64 `json:"share"`
	Pushed    int64   `json:"pushed"`
	Delivered int64   `json:"delivered"`
	Missing   int64   `json:"missing"`
	// Fetched is the time from the intended start of a push until the job was delivered, of pushes that were due in the
	// measured window.
	Fetched Latency `json:"fetched"`
}

// Latency sums up a histogram. Without values (Count 0) everything is 0.
type Latency struct {
	Count int64         `json:"count"`
	Min   time.Duration `json:"min_ns"`
	Mean  time.Duration `json:"mean_ns"`
	P50   time.Duration `json:"p50_ns"`
	P90   time.Duration `json:"p90_ns"`
	P99   time.Duration `json:"p99_ns"`
	P999  time.Duration `json:"p99_9_ns"`
	P9999 time.Duration `json:"p99_99_ns"`
	Max   time.Duration `json:"max_ns"`
	// Percentiles holds further percentiles that thresholds or the user asked for, by their names: "p95" for example.
	Percentiles map[string]time.Duration `json:"more_ns,omitzero"`
	// Unserved is how many of the values are those of arrivals that were unserved, and Unanswered how many those of
	// commands without a reply (timed out, cut, reset or in flight at the end): each counts as the time that it had
	// waited, and would have been longer.
	Unserved   int64 `json:"unserved,omitempty"`
	Unanswered int64 `json:"unanswered,omitempty"`
	// AtLeast names the figures that are lower bounds because of that: "mean", "p99", "max" for example. AtMost has what
	// figures would be had these waited for ever, if that is something else; what would have no bound is in AtLeast only.
	AtLeast []string                 `json:"at_least,omitempty"`
	AtMost  map[string]time.Duration `json:"at_most_ns,omitzero"`
	// OutOfRange is how many values the histogram could not hold and holds as its smallest or largest.
	OutOfRange int64 `json:"out_of_range,omitempty"`
	// Curve holds the percentiles for a picture, each closer to 100 % than the one before.
	Curve []Quantile `json:"curve,omitempty"`
}

// LoadHeat is how many commands of one kind took how long in each second.
type LoadHeat struct {
	Op string `json:"op"`
	// Edges are the ends of the rows: a response time that is not greater than an edge, and greater than the one before.
	// The last row has what is longer, too.
	Edges   []time.Duration `json:"edges_ns"`
	Columns []HeatSecond    `json:"columns"`
}

// HeatSecond is one second of the map: a count for each row, those at the end left out if they are 0.
type HeatSecond struct {
	// At is when it began, from the start of the run.
	At     time.Duration `json:"at_ns"`
	Counts []int64       `json:"counts"`
}

// Second is one second of a run.
type Second struct {
	// At is when it began, from the start of the run.
	At time.Duration `json:"at_ns"`
	// Length is its length: a second, but less where a phase ends.
	Length time.Duration `json:"over_ns"`
	Phase  string        `json:"phase"`
	// Target is the mean rate of the plan in this second; 0 for a closed loop.
	Target float64 `json:"target_per_s"`
	// Achieved is how many arrivals succeeded a second.
	Achieved    float64 `json:"achieved_per_s"`
	Connections int     `json:"connections" join:"sum"`
	// InFlight is how many commands were without an answer at its end, fetches that waited for a job included.
	InFlight int64 `json:"in_flight" join:"sum"`
	// Backlog is how many arrivals waited for a free connection at its end.
	Backlog int64 `json:"backlog" join:"sum"`
	Dropped int64 `json:"dropped" join:"sum"`
	// JobsDue is how many jobs were due at its end: see JobsDue. Absent where that was not counted.
	JobsDue *int64 `json:"jobs_due,omitempty"`
	// Unserved is how many arrivals were given up in this second because the load ended.
	Unserved int64 `json:"unserved,omitempty" join:"sum"`
	// CPU is the CPU time of the generator per second: 1.5 is one and a half CPUs.
	CPU float64 `json:"cpu" join:"sum"`
	// MemoryBytes is the resident memory of the generator at its end; 0 where the operating system does not provide it.
	MemoryBytes int64 `json:"memory_bytes,omitempty" join:"sum"`
	// Server is what the target used, if it was started by the generator's program on this machine, or said.
	Server *ServerSecond `json:"server,omitempty"`
	// Ops and Flows hold the figures of this second, in the order of tables.
	Ops   []SecondOp   `json:"ops,omitempty"`
	Flows []SecondFlow `json:"flows,omitempty"`
}

// ServerSecond is what a target and all that it started used in one second.
type ServerSecond struct {
	// CPU is the CPU time per second, in steps of 10 ms: 1.5 is one and a half CPUs.
	CPU float64 `json:"cpu"`
	// MemoryBytes is the resident memory at the end of the second, RedisBytes how much of it is that of redis-server.
	MemoryBytes int64 `json:"memory_bytes"`
	RedisBytes  int64 `json:"redis_bytes,omitempty"`
	Threads     int   `json:"threads"`
	// WaitingJobs is how many jobs of the run were in its queues, as the server told an observer in this second; absent if
	// it did not. Then the figures above are 0 unless the target was started here.
	WaitingJobs *int64  `json:"waiting_jobs,omitempty"`
	InHand      float64 `json:"in_hand,omitempty"` // of a worker under load: how many jobs it had, on average
}

// SecondOp is one kind of command in one second.
type SecondOp struct {
	Op     string `json:"op"`
	Count  int64  `json:"count"`
	Errors int64  `json:"errors,omitempty"`
	// Unanswered is how many of the times are those of commands without a reply, and AtLeast names the figures that are
	// lower bounds because of that: "response_p99" for example.
	Unanswered int64    `json:"unanswered,omitempty"`
	AtLeast    []string `json:"at_least,omitempty"`
	// LatenessP99 is the generator's own delay.
	LatenessP99 time.Duration `json:"lateness_p99_ns"`
	ServiceP50  time.Duration `json:"service_p50_ns"`
	ServiceP99  time.Duration `json:"service_p99_ns"`
	ResponseP50 time.Duration `json:"response_p50_ns"`
	ResponseP99 time.Duration `json:"response_p99_ns"`
	ResponseMax time.Duration `json:"response_max_ns"`
	// Percentiles holds the percentiles that the user has asked for: "response_p95" for example.
	Percentiles map[string]time.Duration `json:"more_ns,omitzero"`
}

// SecondFlow is one end-to-end latency in one second.
type SecondFlow struct {
	Flow  string `json:"flow"`
	Count int64  `json:"count"`
	// Unanswered and AtLeast are those of a SecondOp.
	Unanswered int64    `json:"unanswered,omitempty"`
	AtLeast    []string `json:"at_least,omitempty"`

	P50 time.Duration `json:"p50_ns"`
	P99 time.Duration `json:"p99_ns"`
	Max time.Duration `json:"max_ns"`
	// Percentiles is that of a SecondOp: "p95" for example.
	Percentiles map[string]time.Duration `json:"more_ns,omitzero"`
}
