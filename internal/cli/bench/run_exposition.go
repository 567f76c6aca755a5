package bench

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/results"
)

// expositionType is the content type of the text format of Prometheus.
const expositionType = "text/plain; version=0.0.4; charset=utf-8"

// exposition holds the figures of a run so far, and writes them in the text format of Prometheus. The format is a few
// dozen lines, and written here with the standard library: a client library would bring its own registry and histograms
// beside those of load/measure. It is safe for concurrent use.
type exposition struct {
	name string
	plan results.LoadPlan

	mu       sync.Mutex
	total    measure.Set
	moment   load.Progress
	drops    int64
	hasBegun bool
}

// newExposition returns that of a run that has not begun: it has its plan.
func newExposition(name string, plan results.LoadPlan) *exposition {
	return &exposition{name: name, plan: plan}
}

// End notes that the run has ended: its figures are the final ones.
func (r *exposition) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.moment.Phase = "end"
}

// Watch takes the figures of one more second: it is for load.Config.
func (r *exposition) Watch(m load.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.Run != r.moment.Run {
		r.total, r.drops = measure.Set{}, 0
	}
	r.total.Add(m.Set)
	r.drops += m.Dropped
	m.Set = nil // it is valid during the call only
	r.moment, r.hasBegun = m, true
}

// WriteTo writes all figures so far. It writes once, and returns the error of that.
func (r *exposition) WriteTo(w io.Writer) (int64, error) {
	r.mu.Lock()
	var t promText
	t.plan(r.name, &r.plan, r.hasBegun)
	if r.hasBegun {
		t.moment(&r.moment)
		t.commands(&r.total)
		t.times(&r.total)
		t.metric("fwpbench_arrivals_dropped_total", counter, "Arrivals that found no free connection and were not sent.",
			float64(r.drops))
	}
	r.mu.Unlock()
	n, err := w.Write(t.out.Bytes())
	return int64(n), err
}

// Kinds of metrics.
const (
	counter   = "counter"
	gauge     = "gauge"
	histogram = "histogram"
)

// promText gathers metrics in the text format of Prometheus.
type promText struct{ out bytes.Buffer }

// begin begins a metric.
func (t *promText) begin(name, kind, help string) {
	fmt.Fprintf(&t.out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// sample writes a value, with labels as in op, push.
func (t *promText) sample(name string, value float64, labels ...string) {
	t.out.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		between := ","
		if i == 0 {
			between = "{"
		}
		fmt.Fprintf(&t.out, `%s%s="%s"`, between, labels[i], escapeLabel(labels[i+1]))
	}
	if len(labels) > 0 {
		t.out.WriteByte('}')
	}
	t.out.WriteString(" " + strconv.FormatFloat(value, 'g', -1, 64) + "\n")
}

// escapeLabel returns the value of a label as it is written.
func escapeLabel(value string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value)
}

// metric writes a metric with one value.
func (t *promText) metric(name, kind, help string, value float64) {
	t.begin(name, kind, help)
	t.sample(name, value)
}

// plan writes the plan of a run, and that it has not begun.
func (t *promText) plan(run string, plan *results.LoadPlan, hasBegun bool) {
	if !hasBegun {
		t.begin("fwpbench_run_info", gauge, "The run, and the phase that it is in.")
		t.sample("fwpbench_run_info", 1, "run", run, "phase", "before")
	}
	t.begin("fwpbench_plan_info", gauge, "What the load is, as planned.")
	t.sample("fwpbench_plan_info", 1, "preset", plan.Preset, "open", strconv.FormatBool(plan.IsOpenLoop), "words",
		plan.Words)
	t.begin("fwpbench_plan_connections", gauge, "Connections as planned.")
	for _, kind := range []struct {
		name string
		n    int
	}{{"producers", plan.Producers}, {"workers", plan.Consumers}, {"idle", plan.Idle}} {
		t.sample("fwpbench_plan_connections", float64(kind.n), "kind", kind.name)
	}
}

// moment writes how the run is.
func (t *promText) moment(m *load.Progress) {
	t.begin("fwpbench_run_info", gauge, "The run, and the phase that it is in.")
	t.sample("fwpbench_run_info", 1, "run", m.Run, "phase", m.Phase)
	t.metric("fwpbench_arrivals_per_second", gauge, "Arrivals that succeeded, in the last second.", m.Achieved)
	t.metric("fwpbench_target_arrivals_per_second", gauge, "The rate of the plan in the last second; 0 in a closed loop.",
		m.Target)
	t.metric("fwpbench_connections", gauge, "Connections that are open.", float64(m.Connections))
	t.metric("fwpbench_commands_in_flight", gauge, "Commands without a reply.", float64(m.InFlight))
	if m.JobsDue != nil {
		t.metric("fwpbench_jobs_due", gauge, "Jobs that are due and that no worker has got, while measuring.",
			float64(*m.JobsDue))
	}
	t.metric("fwpbench_arrivals_waiting", gauge, "Arrivals that wait for a free connection.", float64(m.Backlog))
	t.begin("fwpbench_disruption", gauge, "1 while the target is disrupted on purpose.")
	value := 0.0
	if m.Disruption != "" {
		value = 1
	}
	t.sample("fwpbench_disruption", value, "what", m.Disruption)
	t.begin("fwpbench_jobs", gauge, "The account of the jobs so far, by what became of them.")
	for name, n := range m.Jobs.Counts() {
		t.sample("fwpbench_jobs", float64(n), "state", name)
	}
	t.metric("fwpbench_generator_cpus", gauge, "CPUs that the generator used in the last second.", m.CPU)
	t.metric("fwpbench_generator_memory_bytes", gauge, "Resident memory of the generator.", float64(m.MemoryBytes))
	t.server(m.Server)
}

// server writes what the server used, if that is known.
func (t *promText) server(s *results.ServerSecond) {
	if s == nil {
		return
	}
	t.metric("fwpbench_server_cpus", gauge, "CPUs that the server and all that it started used in the last second.", s.CPU)
	t.metric("fwpbench_server_memory_bytes", gauge, "Resident memory of the server and of all that it started.",
		float64(s.MemoryBytes))
	t.metric("fwpbench_server_redis_memory_bytes", gauge, "The part of it that is redis-server's.", float64(s.RedisBytes))
	t.metric("fwpbench_server_threads", gauge, "Threads of the server and of all that it started.", float64(s.Threads))
}

// commands writes how many commands there were.
func (t *promText) commands(s *measure.Set) {
	t.begin("fwpbench_commands_total", counter, "Commands that were answered, by kind.")
	for _, op := range s.Ops() {
		t.sample("fwpbench_commands_total", float64(s.Done(op)+s.OutsideWindow(op)), "op", string(op))
	}
	t.begin("fwpbench_command_errors_total", counter, "Commands that failed, by kind and by how.")
	for _, op := range s.Ops() {
		for kind := range measure.ErrorKinds {
			if n := s.Errors(op, kind); n > 0 {
				t.sample("fwpbench_command_errors_total", float64(n), "op", string(op), "kind", kind.String())
			}
		}
	}
}

// times writes the histograms: those of commands that were due while measuring.
func (t *promText) times(s *measure.Set) {
	for _, m := range []struct {
		name, help string
		kind       measure.Measure
	}{
		{"response", "From the intended start of a command until its reply.", measure.Response},
		{"service", "From the sending of a command until its reply.", measure.Service},
		{"lateness", "The generator's own delay in sending a command.", measure.Lateness},
	} {
		name := "fwpbench_" + m.name + "_seconds"
		t.begin(name, histogram, m.help)
		for _, op := range s.Ops() {
			t.histogram(name, s.Times(measure.SeriesOf(op, m.kind)), "op", string(op))
		}
	}
	t.begin("fwpbench_job_seconds", histogram,
		"From the intended start of a push until its job was delivered, or its ack answered; job.late: from the time of a "+
			"job until it was delivered.")
	for flow := range measure.Flows {
		t.histogram("fwpbench_job_seconds", s.Times(measure.FlowSeries(flow)), "flow", flow.String())
	}
}

// edges returns the ends of the buckets: 1, 2.5 and 5 of each power of ten from 10 us to 100 s.
func edges() (all []time.Duration) {
	for unit := 10 * time.Microsecond; unit <= 10*time.Second; unit *= 10 {
		all = append(all, unit, 5*unit/2, 5*unit)
	}
	return append(all, 100*time.Second)
}

// histogram writes one histogram; nothing without values.
func (t *promText) histogram(name string, times measure.Times, labels ...string) {
	if times.Count() == 0 {
		return
	}
	var sum int64
	ends := edges()
	rows := times.Rows(append(ends, 1<<62)) // the last row has what is greater
	for i, edge := range ends {
		if i < len(rows) {
			sum += rows[i]
		}
		le := strconv.FormatFloat(edge.Seconds(), 'g', -1, 64)
		t.sample(name+"_bucket", float64(sum), append(labels[:2:2], "le", le)...)
	}
	t.sample(name+"_bucket", float64(times.Count()), append(labels[:2:2], "le", "+Inf")...)
	t.sample(name+"_sum", times.Mean().Seconds()*float64(times.Count()), labels...)
	t.sample(name+"_count", float64(times.Count()), labels...)
}
