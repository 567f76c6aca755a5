package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Setting is one thing that can be set about a workload, by a flag or in YAML.
type Setting struct {
	Key      string // in YAML, as in reserve_for
	Usage    string // one line for the help
	Value    Value
	hasItems bool // YAML may give a sequence, whose items stand between commas elsewhere
}

// Flag is the setting's name as a flag, as in reserve-for.
func (s Setting) Flag() string { return strings.ReplaceAll(s.Key, "_", "-") }

// Value reads and writes one field of a workload. It fits the flag packages.
type Value interface {
	String() string
	Set(text string) error // the error is a *Problem without Key
	Type() string          // as in the help: number, duration, bool ...
}

// value is a Value that knows its field through two functions.
type value struct {
	kind  string
	show  func() string
	parse func(text string) error
}

func (v value) String() string {
	if v.show == nil { // flag packages make zero values by reflection
		return ""
	}
	return v.show()
}
func (v value) Set(text string) error { return v.parse(text) }
func (v value) Type() string          { return v.kind }

// newValue makes the value of a field from the two halves of its notation.
func newValue[T any](field *T, kind string, parse func(string) (T, error), show func(T) string) Value {
	return value{
		kind: kind,
		show: func() string { return show(*field) },
		parse: func(text string) error {
			x, err := parse(text)
			if err == nil {
				*field = x
			}
			return err
		},
	}
}

// maxCount bounds connections and workers, maxQueues queues, and maxJobs what a run can account for.
const (
	maxCount  = 1_000_000
	maxQueues = 1000
	maxJobs   = 10_000_000_000
)

// Settings are all settings of w but its preset, in the order of the help.
// Setting a value checks it for itself; [Workload.Check] finds contradictions.
func (w *Workload) Settings() []Setting {
	return append(w.loadSettings(), w.jobSettings()...)
}

func (w *Workload) loadSettings() []Setting {
	return []Setting{
		{"producers", "connections that push", countValue(&w.Producers, maxCount), false},
		{"consumers", "workers, each with its own worker id", countValue(&w.Consumers, maxCount), false},
		{"connections", "connections that are short-lived (churn) or only send BEAT (idle)",
			countValue(&w.Connections, maxCount), false},
		{"observers", "connections that send only INFO and BEAT", countValue(&w.Observers, maxCount), false},
		{"rate", "rate of an open loop, as in " + rateExample + "; 0 means a closed loop",
			newValue(&w.Rate, "rate", ParseRate, Rate.String), false},
		{"stages", "rates of an open loop in stages, as in " + stageExample,
			newValue(&w.Stages, "stages", allowEmpty(ParseStages), Stages.String), true},
		{"trace", "open loop: play the recorded arrivals and their jobs in `FILE` (CSV)",
			newValue(&w.Trace, "file", parseText, func(s string) string { return s }), false},
		{"trace_speed", "the speed of the trace, as in 2x (default 1x)",
			positiveValue(&w.TraceSpeed, "factor", parseSpeed, showSpeed), false},
		{"poisson", "arrivals at random times instead of evenly spaced", boolValue(&w.Poisson), false},
		{"burst", "how many arrivals come at the same time", positiveCountValue(&w.Burst), false},
		{"batch", "how many jobs one PUSHB pushes, if so many are due", positiveCountValue(&w.Batch), false},
		{"duration", "how long to measure", positiveDurationValue(&w.Duration), false},
		{"jobs", "how many jobs to push", countValue(&w.JobLimit, maxJobs), false},
		{"warmup", "time before the measurement", durationValue(&w.Warmup), false},
		{"seed", "the seed of all random choices", newValue(&w.Seed, "number", parseSeed,
			func(n uint64) string { return strconv.FormatUint(n, 10) }), false},
		{"think", "pause of a producer between reply and next push, as in 10ms or 5ms-20ms", rangeValue(&w.Think), false},
		{"backlog", "closed loop: producers pause while this many jobs per worker are queued; 0 means no limit",
			countValue(&w.Backlog, maxCount), false},
		{"topology", "connections of a worker: " + strings.Join(kindNames[:], ", "),
			enumValue(&w.Topology.Kind, kindNames[:]), false},
		{"fetchers", "connections of a pool that fetch", positiveCountValue(&w.Topology.Fetchers), false},
		{"reporters", "connections of a pool that report", positiveCountValue(&w.Topology.Reporters), false},
		{"concurrency", "jobs that a pool works on concurrently", positiveCountValue(&w.Topology.Concurrency), false},
		{"churn", "each connection connects, pushes one job and ends", boolValue(&w.Churn), false},
		{"beat_only", "connections only send BEAT", boolValue(&w.BeatOnly), false},
		{"observe_every", "pause of an observer between two INFOs; 0 means no pause", durationValue(&w.ObserveEvery), false},
		{"disconnects", "share of the commands before or after which a client disconnects and reconnects, as in 2%",
			newValue(&w.Disconnects, "share", ParseShare, formatNumber), false},
		{"disconnect_at", "where clients disconnect: " + strings.Join(phaseNames[:], ", ") + " (default: all but fetch " +
			"and fail)",
			newValue(&w.DisconnectAt, "names", listOf(parseName[Phase](phaseNames[:])), joinItems(Phase.String)), true},
		{"drain", "the longest time for emptying the queues at the end", positiveDurationValue(&w.Drain), false},
	}
}

func (w *Workload) jobSettings() []Setting {
	return []Setting{
		{"payload", "bytes of padding in a job, as in " + sizeExample, newValue(&w.Payload, "size", ParseSize, Size.String),
			false},
		{"exact_integers", "jobs have an integer above 2^53, which must not be rounded", boolValue(&w.ExactIntegers), false},
		{"queues", "number of queues; 0 means one for each worker, at most 10, or one for each weight",
			countValue(&w.Queues.Number, maxQueues), false},
		{"queue_pick", "how the queue of a job is chosen: " + strings.Join(pickNames[:], ", "),
			enumValue(&w.Queues.Pick, pickNames[:]), false},
		{"queue_weights", "a weight for each queue, as in 80,15,5",
			newValue(&w.Queues.Weights, "numbers", listOf(parseWeight), joinItems(formatNumber)), true},
		{"queue_rates", "a rate of an open loop for each queue, as in 900/s,25/s,25/s",
			newValue(&w.Queues.Rates, "rates", listOf(ParseRate), joinItems(Rate.String)), true},
		{"queue_skew", "Zipf exponent (default 1)", positiveValue(&w.Queues.Skew, "number", parseSkew, formatNumber), false},
		{"job_types", "job types to choose from", newValue(&w.JobTypes, "names", listOf(parseJobType),
			joinItems(func(s string) string { return s })), true},
		{"reserve_for", "how long a worker may hold a job, 60s or more",
			positiveValue(&w.ReserveFor, "duration", parseReserveFor, Duration.String), false},
		{"work", "how long a worker works on a job, as in 10ms or 5ms-20ms", rangeValue(&w.Work), false},
		{"fail_share", "share of the deliveries that end with FAIL, as in 0.05 or 5%",
			newValue(&w.FailShare, "share", ParseShare, formatNumber), false},
		{"retry", "how often the server retries a failed job; -1 keeps it as dead",
			newValue(&w.Retry, "number", allowEmpty(parseRetry), showRetry), false},
		{"delay", "how far in the future jobs are scheduled, as in 5s or 1s-10s", rangeValue(&w.Delay), false},
		{"prefill", "jobs to push before the first fetch", countValue(&w.Prefill, maxJobs), false},
	}
}

// positiveValue makes the value of a field whose zero stands for the default: it is written as the empty text, and a
// zero that was asked for is refused.
func positiveValue[T comparable](field *T, kind string, parse func(string) (T, error), show func(T) string) Value {
	var zero T
	read := func(text string) (T, error) {
		x, err := parse(text)
		if err == nil && x == zero {
			err = newProblem(text, "must be above 0", "a "+kind+" above 0", "leave it out for the default")
		}
		return x, err
	}
	return newValue(field, kind, allowEmpty(read), func(x T) string {
		if x == zero {
			return ""
		}
		return show(x)
	})
}

func parseCount[T int | int64](limit int64) func(string) (T, error) {
	return func(text string) (T, error) {
		n, err := parseInt(text, 0, limit)
		return T(n), err
	}
}

func countValue[T int | int64](field *T, limit int64) Value {
	return newValue(field, "number", parseCount[T](limit), func(n T) string { return strconv.FormatInt(int64(n), 10) })
}

func positiveCountValue(field *int) Value {
	return positiveValue(field, "number", parseCount[int](maxCount), strconv.Itoa)
}

func durationValue(field *Duration) Value {
	return newValue(field, "duration", ParseDuration, Duration.String)
}

func positiveDurationValue(field *Duration) Value {
	return positiveValue(field, "duration", ParseDuration, Duration.String)
}

func rangeValue(field *Range) Value { return newValue(field, "duration", ParseRange, Range.String) }

func boolValue(field *bool) Value { return newValue(field, "bool", parseBool, strconv.FormatBool) }

func enumValue[T ~uint8](field *T, names []string) Value {
	return newValue(field, "name", parseName[T](names), func(x T) string {
		if int(x) < len(names) {
			return names[x]
		}
		return strconv.Itoa(int(x))
	})
}

// allowEmpty lets the empty text mean the zero value.
func allowEmpty[T any](parse func(string) (T, error)) func(string) (T, error) {
	return func(text string) (x T, err error) {
		if text == "" {
			return x, nil
		}
		return parse(text)
	}
}

// listOf reads items between commas; the empty text is the empty list.
func listOf[T any](parse func(string) (T, error)) func(string) ([]T, error) {
	return allowEmpty(func(text string) (list []T, err error) {
		for item := range strings.SplitSeq(text, ",") {
			x, err := parse(strings.TrimSpace(item))
			if err != nil {
				return nil, err
			}
			list = append(list, x)
		}
		return list, nil
	})
}

func joinItems[T any](show func(T) string) func([]T) string {
	return func(list []T) string {
		texts := make([]string, len(list))
		for i, x := range list {
			texts[i] = show(x)
		}
		return strings.Join(texts, ",")
	}
}

func parseBool(text string) (bool, error) {
	if text == "true" || text == "false" {
		return text == "true", nil
	}
	return false, newProblem(text, "is not true or false", "true or false", "write one of them")
}

func parseText(text string) (string, error) { return text, nil }

func parseSeed(text string) (uint64, error) {
	n, err := strconv.ParseUint(strings.ReplaceAll(text, "_", ""), 10, 64)
	if err != nil {
		return 0, newProblem(text, "is not a valid seed", fmt.Sprintf("a whole number from 0 to %d", uint64(math.MaxUint64)),
			"write digits, as in 42")
	}
	return n, nil
}

func parseWeight(text string) (float64, error) { return parseFloat(text, 0, 1e9, "80 or 0.5") }

func parseSkew(text string) (float64, error) { return parseFloat(text, 0, 100, "1.1") }

func parseRetry(text string) (*int, error) {
	n, err := parseInt(text, -1, 1000)
	retry := int(n)
	return &retry, err
}

func showRetry(retry *int) string {
	if retry == nil {
		return ""
	}
	return strconv.Itoa(*retry)
}

// parseReserveFor keeps what the protocol asks of reserve_for. (Work units)
func parseReserveFor(text string) (Duration, error) {
	d, err := ParseDuration(text)
	if err == nil && d != 0 && (d < Duration(time.Minute) || d%Duration(time.Second) != 0) {
		err = newProblem(text, "is not a valid reservation", "whole seconds, 60s or more", "write it as in 60s or 30m")
	}
	return d, err
}

func parseJobType(text string) (string, error) {
	if text == "" || len(text) > 200 || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return "", newProblem(text, "is not a valid job type", "1 to 200 bytes of text without control characters",
			"give it a name, as in email")
	}
	return text, nil
}
