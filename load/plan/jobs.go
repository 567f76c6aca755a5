package plan

import (
	"bytes"
	"encoding/json"
	"math"
	"math/bits"
	"slices"
	"sort"
	"strconv"
	"time"
)

// What a random number of a job is for: each use has a stream of its own, so that a
// change of one setting leaves what the others draw.
const (
	purposeQueue = iota
	purposeType
	purposeSize
	purposeBytes
	purposePadding
	purposeWork
	purposeThink
	purposeDelay
	purposeFailure
	purposeDisconnect
	purposeCount
)

// Jobs makes the jobs of one run and recognises them. All of its methods are pure and
// safe for concurrent use.
type Jobs struct {
	run         string // its name
	seeds       [purposeCount]uint64
	queues      []string
	pick        picker
	hasPriority bool
	sharers     int // workers that share the queues out among themselves; 0 if all ask for all
	types       []string
	sizes       sizes
	padding     string
	hasInteger  bool   // the args end with integerOf
	prefix      string // of the jids
	fragments   fragments
	work        Range
	think       Range
	delay       Range
	failShare   float64
	retry       int
	reserve     time.Duration
	trace       *Trace // nil: none

	disconnects  float64
	disconnectAt [phaseCount]bool
}

// fragments are the parts of a body that do not change, as JSON.
type fragments struct {
	start  string
	types  []string // `","jobtype":"..."`
	queues []string // `,"queue":"...","reserve_for":1800,"retry":25`
	args   string
}

// paddingLength is how long the text is from which padding is cut: a power of two.
const paddingLength = 4096

// Jobs returns the jobs of a run. The run is a name that no other run at the server has
// at the same time: letters, digits, - and _, a handful of them. The workload must
// pass [Workload.Check].
func (w *Workload) Jobs(run string, seed uint64) *Jobs {
	f := w.WithDefaults()
	j := &Jobs{
		run: run, prefix: "fwpbench-" + run + "-",
		pick: f.Queues.picker(), hasPriority: f.Queues.Pick == Priority,
		types: slices.Clone(f.JobTypes), sizes: f.Payload.sampler(),
		work: f.Work, think: f.Think, delay: f.Delay,
		failShare: f.FailShare, retry: *f.Retry, reserve: time.Duration(f.ReserveFor),
		hasInteger: f.ExactIntegers, trace: f.TraceData, disconnects: f.Disconnects,
		disconnectAt: f.disconnectPhases(),
	}
	if f.Queues.Pick == Uniform {
		j.sharers = f.Consumers
	}
	for purpose := range j.seeds {
		j.seeds[purpose] = Mix(seed, uint64(purpose))
	}
	for i := range f.Queues.Number {
		j.queues = append(j.queues, j.prefix+strconv.Itoa(i))
	}
	j.padding = padding(j.seeds[purposePadding])
	j.fragments = j.write()
	return j
}

// padding returns text that needs no escape in JSON and looks random.
func padding(seed uint64) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	text := make([]byte, paddingLength)
	for i := range text {
		text[i] = letters[Mix(seed, uint64(i))%uint64(len(letters))]
	}
	return string(text)
}

func (j *Jobs) write() fragments {
	run := string(quoteJSON(j.run))
	inner := run[1 : len(run)-1]
	f := fragments{
		start: `{"jid":"fwpbench-` + inner + `-`,
		args:  `,"args":[` + run + `,`,
	}
	for _, t := range j.types {
		f.types = append(f.types, `","jobtype":`+string(quoteJSON(t)))
	}
	options := `,"reserve_for":` + strconv.Itoa(int(j.reserve/time.Second)) + `,"retry":` + strconv.Itoa(j.retry)
	for _, q := range j.queues {
		f.queues = append(f.queues, `,"queue":`+string(quoteJSON(q))+options)
	}
	return f
}

// quoteJSON is text as JSON, without the escapes that only HTML needs.
func quoteJSON(text string) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string can always be written
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func (j *Jobs) random(purpose int, k int64) uint64 {
	return Mix(j.seeds[purpose], uint64(k))
}

// Queues returns the names of the run's queues, fwpbench-RUN-0 and so on. The caller must
// not change them.
func (j *Jobs) Queues() []string { return j.queues }

// Prefix returns how the names of the run's queues and jobs begin, and those of no other run.
func (j *Jobs) Prefix() string { return j.prefix }

// WorkerQueues returns the queues that a worker names in a fetch, in their order. If the queues are
// all alike the workload's workers share them out, at least one for each worker: so a
// job that reaches the wrong connection shows. Else each asks for all, in priority
// order or from another queue for each worker, because a fetch blocks on its first
// queue only. The worker is 0 or more.
func (j *Jobs) WorkerQueues(worker int) []string {
	first := worker % len(j.queues)
	switch {
	case j.hasPriority:
		return slices.Clone(j.queues)
	case worker >= j.sharers:
		return slices.Concat(j.queues[first:], j.queues[:first])
	}
	asks := []string{j.queues[first]}
	for i := first + j.sharers; i < len(j.queues); i += j.sharers {
		asks = append(asks, j.queues[i])
	}
	return asks
}

// QueueOf returns the queue of job k, as an index of Queues.
func (j *Jobs) QueueOf(k int64) int {
	if j.trace != nil && len(j.trace.Queues) > 0 {
		return int(j.trace.job(k).queue)
	}
	return j.pick.at(j.random(purposeQueue, k))
}

// AppendQueue appends the name of the queue of job k to dst.
func (j *Jobs) AppendQueue(dst []byte, k int64) []byte {
	return append(dst, j.queues[j.QueueOf(k)]...)
}

func (j *Jobs) typeOf(k int64) int {
	if j.trace != nil && len(j.trace.Types) > 0 {
		return int(j.trace.job(k).jobtype)
	}
	return int(scaleTo(j.random(purposeType, k), uint64(len(j.types))))
}

// LargestPayload returns the most bytes of padding that a job can have.
func (j *Jobs) LargestPayload() int {
	if j.trace != nil && j.trace.hasPayloads {
		return j.trace.largestPayload
	}
	return j.sizes.largest()
}

// PayloadOf returns the bytes of padding in job k, 0 to 16 MiB.
func (j *Jobs) PayloadOf(k int64) int {
	if j.trace != nil && j.trace.hasPayloads {
		return int(j.trace.job(k).payload)
	}
	return j.sizes.at(j.random(purposeSize, k), j.random(purposeBytes, k))
}

// Work returns how long a worker holds job k.
func (j *Jobs) Work(k int64) time.Duration { return j.work.at(j.random(purposeWork, k)) }

// Think returns how long a producer of a closed loop waits after the reply to the push of
// job k.
func (j *Jobs) Think(k int64) time.Duration { return j.think.at(j.random(purposeThink, k)) }

// Delay returns how long after its push job k is due; 0 if it is not scheduled.
func (j *Jobs) Delay(k int64) time.Duration { return j.delay.at(j.random(purposeDelay, k)) }

// Fails reports whether a delivery of job k ends in a fail; the first has attempt 0.
func (j *Jobs) Fails(k int64, attempt int) bool {
	return unit(Mix(j.random(purposeFailure, k), uint64(attempt))) < j.failShare
}

// Retry returns the retry of job k: how often the server tries it again, -1 for a job that
// dies at once but is kept. (Work units)
func (j *Jobs) Retry(int64) int { return j.retry }

// ReserveFor returns how long a worker may hold a job, whole seconds. (Work units)
func (j *Jobs) ReserveFor() time.Duration { return j.reserve }

// scaleTo scales a random number to one below n, without the bias that matters.
func scaleTo(random, n uint64) uint64 {
	high, _ := bits.Mul64(random, n)
	return high
}

// unit scales a random number to one between 0 and 1, both excluded.
func unit(random uint64) float64 { return (float64(random>>12) + 0.5) / (1 << 52) }

// picker draws an index by weight, through a table of the inverse distribution.
type picker []uint64 // up to this random number it is this index

// newPicker takes weights of which at least one is above 0.
func newPicker(weights []float64) picker {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	p := make(picker, len(weights))
	running, last := 0.0, 0
	for i, w := range weights {
		running += w
		part := running / sum * (1 << 64)
		if part >= 1<<64 {
			p[i] = math.MaxUint64
		} else {
			p[i] = uint64(part)
		}
		if w > 0 {
			last = i
		}
	}
	for i := last; i < len(p); i++ {
		p[i] = math.MaxUint64 // what rounding left over belongs to the last that can be drawn
	}
	return p
}

func (p picker) at(random uint64) int {
	if len(p) == 1 {
		return 0
	}
	return sort.Search(len(p), func(i int) bool { return random < p[i] || p[i] == math.MaxUint64 })
}

// picker is how a job gets its queue.
func (q Queues) picker() picker { return newPicker(q.weights()) }

// weights returns the weight of each queue. The queues in priority order are filled evenly: their order matters to
// workers only.
func (q Queues) weights() []float64 {
	weights := slices.Repeat([]float64{1}, q.Number)
	switch q.Pick {
	case Weighted:
		copy(weights, q.Weights)
	case Zipf:
		for i := range weights {
			weights[i] = math.Pow(float64(i+1), -q.Skew)
		}
	}
	return weights
}
