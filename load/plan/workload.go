package plan

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Workload is what a run does. The zero value of a field is its default, which
// [Workload.WithDefaults] puts in where it is not zero. Its methods do not change it,
// except through the values of [Workload.Settings]; a Workload that is not changed is
// safe for concurrent use.
type Workload struct {
	Preset string // where it started from; empty is roundtrip

	Producers   int // connections that push
	Consumers   int // workers: worker ids, each with one connection or a pool
	Connections int // connections of churn, or that only beat
	Observers   int // connections that only ask: info and, as consumers, beat

	Rate   Rate   // arrivals a second of an open loop; 0 and no Stages: closed loop
	Stages Stages // the same in stages, ramps and spikes, warm-up included
	// Trace is the file of a recorded load, whose arrivals and jobs are those of an open loop at TraceSpeed times their
	// speed (0 is 1), and TraceData what it holds; see ReadTrace. What the trace says about jobs stands in place of
	// Queues, JobTypes and Payload. TraceData is no setting.
	Trace      string
	TraceSpeed float64
	TraceData  *Trace

	Poisson  bool     // arrivals by chance instead of evenly spaced
	Burst    int      // how many arrive at a time; 0 is 1
	Duration Duration // what is measured; 0 is 30 s, without limit if JobLimit is set
	Batch    int      // jobs that one command pushes at the most, where so many are due; 0 is 1
	JobLimit int64    // pushes (cycles in churn) after which the run ends; 0 is no limit
	Warmup   Duration // comes before Duration and is not measured; with Stages, their first part
	Seed     uint64   // decides everything that looks like chance

	Backlog int // closed loop: jobs for each place of a worker that may wait; producers wait beyond that; 0: any number

	Think Range // closed loop: a producer's pause between reply and next push
	Work  Range // how long a worker holds a job

	Topology Topology
	Payload  Size // bytes of padding in each job
	// ExactIntegers gives each job an integer beyond 2^53, which must be delivered unchanged. Servers that read JSON
	// numbers as floats round it.
	ExactIntegers bool
	Queues        Queues
	JobTypes      []string // at random; none is one type of our own

	ReserveFor Duration // whole seconds, 60 s or more; 0 is 1800 s
	FailShare  float64  // of the deliveries that end in a fail, 0 to 1
	Retry      *int     // retry of each job; nil is 25
	Delay      Range    // how far in the future `at` lies; 0 is no `at`

	Prefill  int64    // jobs that are there before the first fetch
	Churn    bool     // connections are short-lived: connect, hello, one command, goodbye
	BeatOnly bool     // connections are consumers that do nothing but beat
	Drain    Duration // how long the drain may take; 0 is 60 s

	ObserveEvery Duration // an observer's pause between a reply and its next info

	// Disconnects is the share of the turns (commands, and the times between them) at which
	// a client ends its connection without goodbye, and reconnects; 0 to 1. DisconnectAt are
	// the phases in which that may happen; none is all but AtFetch and AtFail.
	Disconnects  float64
	DisconnectAt []Phase
}

// Topology is how the connections of a worker share its duties.
type Topology struct {
	Kind        TopologyKind // 0 is Single
	Fetchers    int          // of a pool: connections that fetch; 0 is 1
	Reporters   int          // of a pool: connections that ack and fail; 0 is 1
	Concurrency int          // of a pool: jobs at work at a time; 0 is 10
}

// Queues is what queues there are and how a job gets its own.
type Queues struct {
	Number  int       // 0 is as many as there are Weights, or else one for each worker, 10 at most
	Pick    Pick      // 0 is Uniform
	Weights []float64 // of Weighted, one for each queue
	Rates   []Rate    // of an open loop, one for each queue: in the place of Workload.Rate, Pick and Weights
	Skew    float64   // of Zipf: queue i has weight 1/(i+1)^Skew; 0 is 1
}

// The defaults of fields whose zero value is not meant literally.
const (
	DefaultDuration    = Duration(30 * time.Second)
	DefaultDrain       = Duration(60 * time.Second)
	DefaultReserveFor  = Duration(1800 * time.Second) // the protocol's own
	DefaultRetry       = 25                           // the protocol's own
	DefaultJobType     = "fwpbench"
	DefaultConcurrency = 10
	DefaultQueues      = 10 // at most: enough to see a job come from one that its worker has not asked for
)

// WithDefaults returns a copy with every default written out. It is meant for reading: what is
// filled in may contradict settings that are made afterwards.
func (w *Workload) WithDefaults() Workload {
	f := *w
	f.Preset = cmp.Or(f.Preset, presets[0].name)
	if f.IsOpen() {
		f.Burst = cmp.Or(f.Burst, f.Batch)
	}
	f.Burst = cmp.Or(f.Burst, 1)
	f.Drain = cmp.Or(f.Drain, DefaultDrain)
	f.ReserveFor = cmp.Or(f.ReserveFor, DefaultReserveFor)
	if f.JobLimit == 0 && len(f.Stages) == 0 && f.Trace == "" {
		f.Duration = cmp.Or(f.Duration, DefaultDuration)
	}
	if f.Trace != "" {
		f.TraceSpeed = cmp.Or(f.TraceSpeed, 1)
	}
	if len(f.Queues.Rates) > 0 {
		f.fillRates()
	}
	if f.TraceData != nil {
		f.fillTrace()
	}
	if len(f.JobTypes) == 0 {
		f.JobTypes = []string{DefaultJobType}
	}
	if f.Retry == nil {
		retry := DefaultRetry
		f.Retry = &retry
	}
	f.Queues.Number = cmp.Or(f.Queues.Number, len(f.Queues.Weights),
		min(cmp.Or(f.Consumers, DefaultQueues), DefaultQueues))
	if f.Queues.Pick == Zipf {
		f.Queues.Skew = cmp.Or(f.Queues.Skew, 1)
	}
	if f.Topology.Kind == Pool {
		f.Topology.Fetchers = cmp.Or(f.Topology.Fetchers, 1)
		f.Topology.Reporters = cmp.Or(f.Topology.Reporters, 1)
		f.Topology.Concurrency = cmp.Or(f.Topology.Concurrency, DefaultConcurrency)
	}
	return f
}

// fillRates sets what the rates of the queues say.
func (w *Workload) fillRates() {
	w.Rate, w.Queues.Pick, w.Queues.Weights = 0, Weighted, make([]float64, len(w.Queues.Rates))
	for i, rate := range w.Queues.Rates {
		w.Rate += rate
		w.Queues.Weights[i] = float64(rate)
	}
}

// fillTrace sets what the trace says. Workers ask for all queues, which are not alike.
func (w *Workload) fillTrace() {
	if queues := w.TraceData.Queues; len(queues) > 0 {
		pick := Weighted
		if w.Queues.Pick == Priority {
			pick = Priority
		}
		w.Queues = Queues{Number: len(queues), Pick: pick, Weights: w.TraceData.shares()}
	}
	if len(w.TraceData.Types) > 0 {
		w.JobTypes = w.TraceData.Types
	}
}

// AwaitedQueues returns how many of the queues are the first that some worker names. Where a worker that finds no job
// waits for one of its first queue only, no worker waits for jobs of the others.
func (w *Workload) AwaitedQueues() int {
	f := w.WithDefaults()
	switch {
	case f.Consumers == 0:
		return f.Queues.Number
	case f.Queues.Pick == Priority:
		return 1
	}
	return min(f.Consumers, f.Queues.Number)
}

// IsOpen reports whether the arrivals follow a plan instead of the replies.
func (w *Workload) IsOpen() bool {
	return w.Rate > 0 || len(w.Stages) > 0 || len(w.Queues.Rates) > 0 || w.Trace != ""
}

// QueueShares returns the share of the jobs that each queue has, if not all have the same or workers prefer some, and
// else nothing. Names are those of a trace; without one there are none.
func (w *Workload) QueueShares() (shares []float64, names []string) {
	f := w.WithDefaults()
	if f.Queues.Pick == Uniform || f.Queues.Number < 2 {
		return nil, nil
	}
	shares, sum := f.Queues.weights(), 0.0
	for _, share := range shares {
		sum += share
	}
	for i := range shares {
		shares[i] /= sum
	}
	if f.TraceData != nil {
		names = f.TraceData.Queues
	}
	return shares, names
}

// PlanLength returns how long the stages or the trace take; 0 if the load has neither.
func (w *Workload) PlanLength() time.Duration {
	if w.TraceData != nil {
		return w.Plan(0).Span()
	}
	return w.Stages.Length()
}

// Window returns the part of the run that is measured, as times since its first arrival.
// An until of 0 is open: the run ends with its last job.
func (w *Workload) Window() (from, until time.Duration) {
	f := w.WithDefaults()
	switch {
	case f.PlanLength() > 0:
		until = f.PlanLength()
	case f.Duration > 0:
		until = time.Duration(f.Warmup + f.Duration)
	}
	return time.Duration(f.Warmup), until
}

// Plan returns the plan of arrivals of the run, warm-up included, or nil if the loop is
// closed. A plan without an end in time is limited to JobLimit.
func (w *Workload) Plan(seed uint64) *Plan {
	if !w.IsOpen() {
		return nil
	}
	f := w.WithDefaults()
	if f.Trace != "" {
		plan := &Plan{MaxArrivals: f.JobLimit, Instants: []time.Duration{}}
		if f.TraceData != nil {
			plan.Instants = f.TraceData.instants(f.TraceSpeed)
		}
		return plan
	}
	stages := slices.Clone(f.Stages)
	if len(stages) == 0 {
		_, until := f.Window()
		if until == 0 {
			until = f.jobLimitTime()
		}
		stages = Stages{{Length: until, From: float64(f.Rate), To: float64(f.Rate)}}
	}
	return &Plan{Stages: stages, Poisson: f.Poisson, Burst: f.Burst, MaxArrivals: f.JobLimit, Seed: seed}
}

// jobLimitTime is a time in which JobLimit jobs arrive for certain: chance may be late by eight
// standard deviations.
func (w *Workload) jobLimitTime() time.Duration {
	arrivals := float64(w.JobLimit)
	if w.Poisson {
		burst := float64(w.Burst)
		arrivals += float64(8*math.Sqrt(arrivals*burst)) + float64(64*burst)
	}
	return time.Duration(math.Ceil(min(arrivals/float64(w.Rate)*1e9, 1<<62)))
}
