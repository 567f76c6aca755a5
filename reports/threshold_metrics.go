package reports

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// metric is a figure that a threshold can be about.
type metric struct {
	name string
	// family is the name with words in capitals for what varies: "OP.response.STAT". It is empty if nothing varies.
	family    string
	dimension dimension
	// shared is set if a share in % of something makes sense.
	shared bool
	// account is set if it is about the jobs and not about the rate or the times.
	account bool
	// means is what it is, in a few words.
	means string
	of    func(*Load) reading
}

// reading is the value of a metric, and the whole that it is a part of; ok is false if there is no data.
type reading struct {
	value, whole float64
	ok           bool
	atLeast      bool // the value is a lower bound
}

// Metrics returns the names of all figures that a Threshold can be about, in a load with these kinds of commands.
func Metrics(ops ...string) []string {
	var names []string
	for _, m := range metrics(ops) {
		names = append(names, m.name)
	}
	return names
}

// MetricTable returns the figures that a Threshold can be about, each with the values it takes and its meaning. OP,
// STAT and FLOW stand for what varies.
func MetricTable() Table {
	t := Table{Columns: []Column{{Title: "metric"}, {Title: "compared with"}, {Title: "what it is"}}, Wrap: true}
	var known []string
	for _, m := range metrics([]string{"OP"}) {
		name := cmp.Or(m.family, m.name)
		if slices.Contains(known, name) {
			continue
		}
		known = append(known, name)
		t.Rows = append(t.Rows, Cells(name, m.example(), m.means))
	}
	return t
}

// Stats returns the names of the parts of a time that stand for STAT in a metric: "p99" for example.
func Stats() []string {
	var names []string
	for _, s := range stats {
		names = append(names, s.name)
	}
	return names
}

// findMetric returns the metric of that name, if it is one of those in a load with these kinds of commands.
func findMetric(name string, ops []string) (metric, bool) {
	if name == "waited" { // as it was called before fwpbench/2
		name = "queued"
	}
	for _, m := range metricsLike(name, ops) {
		if m.name == name {
			return m, true
		}
	}
	return metric{}, false
}

// opOf returns the kind of command that a metric of this name would be about, and the name itself if about none.
func opOf(name string) string {
	for _, m := range opMetrics("") {
		if op, ok := strings.CutSuffix(name, m.name); ok {
			return op
		}
	}
	return name
}

// stat is a part of a Latency.
type stat struct {
	name string
	of   func(*Latency) time.Duration
}

// stats holds the parts of a Latency, as they are called in metrics.
var stats = []stat{
	{"min", func(l *Latency) time.Duration { return l.Min }},
	{"mean", func(l *Latency) time.Duration { return l.Mean }},
	{"p50", func(l *Latency) time.Duration { return l.P50 }},
	{"p90", func(l *Latency) time.Duration { return l.P90 }},
	{"p99", func(l *Latency) time.Duration { return l.P99 }},
	{"p99.9", func(l *Latency) time.Duration { return l.P999 }},
	{"p99.99", func(l *Latency) time.Duration { return l.P9999 }},
	{"max", func(l *Latency) time.Duration { return l.Max }},
}

// stat returns the part of that name, which is one of stats.
func (l *Latency) stat(name string) time.Duration {
	return find(stats, func(s *stat) bool { return s.name == name }).of(l)
}

// metrics returns all metrics. Of two that are equally near to a name that is none, the first is suggested.
func metrics(ops []string) []metric { return metricsLike("", ops) }

// metricsLike returns those that may have that name, and all if it is empty: there are hundreds, most of them of other
// commands than the one that it begins with.
func metricsLike(name string, ops []string) []metric {
	all := runMetrics()
	for _, op := range ops {
		if name != "" && !strings.HasPrefix(name, op+".") {
			continue
		}
		all = append(all, sumMetrics(op)...)
		if !slices.ContainsFunc(ops, func(other string) bool { return strings.HasPrefix(other, op+".") }) {
			all = append(all, timeMetrics(op)...)
		}
	}
	for _, stat := range stats {
		for _, flow := range LoadFlows() {
			all = append(all, metric{
				name: flow + "." + stat.name, family: "FLOW.STAT", dimension: aTime,
				means: "from the intended start of a job's push until it was delivered or its ack answered",
				of: func(l *Load) reading {
					if f := l.flow(flow); f != nil {
						return f.Time.reading(stat.name)
					}
					return reading{}
				},
			})
		}
		all = append(all, metric{
			name: "lateness." + stat.name, family: "lateness.STAT", dimension: aTime,
			means: "the highest lateness of all commands: the generator's own delay",
			of:    func(l *Load) reading { return l.worstLateness(stat.name) },
		})
	}
	return all
}

// opMetrics returns the metrics of one kind of command.
func opMetrics(name string) []metric { return append(sumMetrics(name), timeMetrics(name)...) }

// sumMetrics returns those metrics of one kind of command that are sums.
func sumMetrics(name string) []metric {
	return []metric{
		{
			name: name + ".rate", family: "OP.rate", dimension: aRate, means: "commands answered per second",
			of: func(l *Load) reading {
				sum := l.sumOf(name)
				return reading{value: sum.rate, ok: sum.count > 0}
			},
		},
		{
			name: name + ".errors", family: "OP.errors", shared: true, means: "commands that failed, of those that were sent",
			of: func(l *Load) reading {
				sum := l.sumOf(name)
				return partOf(sum.errors, sum.count+sum.errors)
			},
		},
		{
			name: name + ".count", family: "OP.count", means: "commands answered",
			of: func(l *Load) reading { // 0 is data too
				return reading{value: float64(l.sumOf(name).count), ok: len(l.Ops) > 0}
			},
		},
	}
}

// opTimes holds the times of a command, as they are called in metrics.
var opTimes = []struct {
	name, means string
	of          func(*LoadOp) *Latency
}{
	{"response", "from the intended start of a command until its reply", func(o *LoadOp) *Latency { return &o.Response }},
	{"service", "from when a command was sent until its reply", func(o *LoadOp) *Latency { return &o.Service }},
	{"lateness", "the generator's own delay in sending a command", func(o *LoadOp) *Latency { return &o.Lateness }},
}

// timeMetrics returns those metrics of one kind of command that are times. A command that has kinds has none.
func timeMetrics(name string) (all []metric) {
	for _, stat := range stats {
		for _, t := range opTimes {
			all = append(all, metric{
				name: name + "." + t.name + "." + stat.name, family: "OP." + t.name + ".STAT", dimension: aTime, means: t.means,
				of: func(l *Load) reading {
					if op := l.op(name); op != nil {
						return t.of(op).reading(stat.name)
					}
					return reading{}
				},
			})
		}
	}
	return all
}

// opSum is the sum of the commands of one kind, or of several.
type opSum struct {
	count, outside, errors int64
	rate                   float64
	kinds                  []LoadError
}

// sumOf adds up the commands of that name, and of those that are a kind of them: fetch is every fetch.
func (l *Load) sumOf(name string) opSum {
	var sum opSum
	for i := range l.Ops {
		op := &l.Ops[i]
		if op.Op == name || strings.HasPrefix(op.Op, name+".") {
			sum.count += op.Count
			sum.outside += op.Outside
			sum.errors += op.errors()
			sum.rate += op.Rate
			sum.kinds = append(sum.kinds, op.Errors...)
		}
	}
	return sum
}

// runMetrics returns the metrics of the run as a whole.
func runMetrics() []metric {
	number := func(name, means string, of func(*Load) reading) metric {
		return metric{name: name, shared: true, means: means, of: of}
	}
	recovery := func(name, means string, of func(*LoadDisruption) time.Duration) metric {
		return metric{
			name: name, dimension: aTime, means: means, of: func(l *Load) reading { return l.Disruptions.worst(of) },
		}
	}
	return append([]metric{
		{
			name: "rate", dimension: aRate, shared: true, means: "arrivals that succeeded per second, of the target rate",
			of: func(l *Load) reading {
				return reading{value: l.Rate.Achieved, whole: l.Rate.Target, ok: l.Rate.Planned+l.Rate.Done > 0}
			},
		},
		number("errors", "commands of any kind that failed, of those that were sent", (*Load).allErrors),
		number("unserved", "arrivals that still waited for a connection at the end, of those planned",
			func(l *Load) reading { return partOf(l.Rate.Unserved, l.Rate.Planned) }),
		number("dropped", "arrivals that --overload drop gave up, of those planned",
			func(l *Load) reading { return partOf(l.Rate.Dropped, l.Rate.Planned) }),
		number("queued", "arrivals that waited for a connection and got it, of those planned",
			func(l *Load) reading { return partOf(l.Rate.Queued, l.Rate.Planned) }),
		recovery("recovery.served", "the longest time from the end of a disruption until a command was served",
			func(d *LoadDisruption) time.Duration { return d.Served }),
		recovery("recovery.back", "the longest time from the end of a disruption until the rate was back",
			func(d *LoadDisruption) time.Duration { return d.Back }),
		number("connections.lost", "connections that ended unexpectedly, of those opened", func(l *Load) reading {
			return partOf(l.Connections.Lost, int64(l.Connections.Opened))
		}),
	}, jobMetrics()...)
}

// jobMetrics returns the metrics of the account of the jobs. They have data if there were jobs; what only a complete
// drain shows has none without it.
func jobMetrics() []metric {
	job := func(name, means string, of func(*LoadJobs) reading) metric {
		return metric{
			name: name, shared: true, account: true, means: means,
			of: func(l *Load) reading { return of(&l.Jobs) },
		}
	}
	return []metric{
		{name: "findings", account: true, means: "what the target did wrong with jobs and replies", of: (*Load).allFindings},
		job("lost", "jobs accepted and never delivered, of those pushed",
			func(j *LoadJobs) reading { return ifDrained(j, partOf(j.Lost, j.Pushed)) }),
		job("missing", "jobs accepted and not delivered until the end, of those pushed",
			func(j *LoadJobs) reading { return ifDrained(j, partOf(j.Missing, j.Pushed)) }),
		job("duplicated", "jobs delivered while held or after their end, of those delivered",
			func(j *LoadJobs) reading { return partOf(j.Duplicated, j.Delivered) }),
		job("foreign", "jobs that are not of this run, altered, or from a wrong queue, of those delivered",
			func(j *LoadJobs) reading { return partOf(j.Foreign, j.Delivered+j.Foreign) }),
		job("redelivered", "further deliveries that are allowed, of the jobs delivered",
			func(j *LoadJobs) reading { return partOf(j.Redelivered, j.Delivered) }),
		job("out_of_order", "jobs delivered after one that was pushed later, of those delivered",
			func(j *LoadJobs) reading { return partOf(j.OutOfOrder, j.Delivered) }),
		job("pushed", "push answered with OK, of those sent",
			func(j *LoadJobs) reading { return partOf(j.Pushed, j.sent()) }),
		job("refused", "push answered with an error, of those sent",
			func(j *LoadJobs) reading { return partOf(j.Refused, j.sent()) }),
		job("doubtful", "push without a reply, of those sent",
			func(j *LoadJobs) reading { return partOf(j.Doubtful, j.sent()) }),
		job("delivered", "jobs delivered at least once, of those pushed",
			func(j *LoadJobs) reading { return partOf(j.Delivered, j.Pushed) }),
		job("acked", "ack answered with OK, of the jobs pushed",
			func(j *LoadJobs) reading { return partOf(j.Acked, j.Pushed) }),
		job("failed", "fail answered with OK, of the jobs pushed",
			func(j *LoadJobs) reading { return partOf(j.Failed, j.Pushed) }),
		job("held", "jobs delivered and neither acknowledged nor failed at the end, of those pushed",
			func(j *LoadJobs) reading { return partOf(j.Held, j.Pushed) }),
		job("waiting", "jobs that may come back after the end, of those pushed",
			func(j *LoadJobs) reading { return partOf(j.Waiting, j.Pushed) }),
		job("in_doubt", "missing jobs that a fetch without a reply may have taken, of those pushed",
			func(j *LoadJobs) reading { return partOf(j.InDoubt, j.Pushed) }),
	}
}

func (l *Latency) reading(stat string) reading {
	return reading{value: float64(l.stat(stat)), ok: l.Count > 0, atLeast: slices.Contains(l.AtLeast, stat)}
}

// partOf returns a part of a whole; without a whole there is no data.
func partOf(part, whole int64) reading {
	return reading{value: float64(part), whole: float64(whole), ok: whole > 0}
}

func ifDrained(j *LoadJobs, r reading) reading {
	r.ok = r.ok && j.Drained
	return r
}

// sent returns how many PUSHes there were.
func (j *LoadJobs) sent() int64 { return j.Pushed + j.Refused + j.Doubtful }

func (l *Load) allErrors() reading {
	var wrong, all int64
	for i := range l.Ops {
		wrong += l.Ops[i].errors()
		all += l.Ops[i].errors() + l.Ops[i].Count
	}
	return partOf(wrong, all)
}

func (l *Load) allFindings() reading {
	r := reading{ok: l.Jobs.sent() > 0}
	for _, f := range l.Findings {
		r.value += float64(f.Count)
	}
	return r
}

// worstLateness returns the longest of the lateness of all commands whose lateness spoils figures.
func (l *Load) worstLateness(stat string) (worst reading) {
	for i := range l.Ops {
		if op := &l.Ops[i]; l.dueByPlan(op.Op) && op.Lateness.Count > 0 {
			worst.ok = true
			worst.value = max(worst.value, float64(op.Lateness.stat(stat)))
		}
	}
	return worst
}
