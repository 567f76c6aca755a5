package results

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/reports"
)

// WriteSeriesCSV writes the series of l as comma-separated values (RFC 4180, but with LF): a line with the names of the
// columns, and one for each second. The first columns are
//
//	at_ns, over_ns, phase, target_per_s, achieved_per_s, connections, in_flight, backlog, dropped, unserved, errors,
//	cpu, memory_bytes
//
// and then, for each command that the run used, OP_count, OP_errors, OP_lateness_p99_ns, OP_service_p50_ns,
// OP_service_p99_ns, OP_response_p50_ns, OP_response_p99_ns and OP_response_max_ns, and for each way of jobs
// FLOW_count, FLOW_p50_ns, FLOW_p99_ns and FLOW_max_ns. OP and FLOW are the names with an underscore in place of the
// point. Names and units are those of the JSON. A time is empty in a second that has no value for it. It writes once,
// and returns the error of that.
func WriteSeriesCSV(w io.Writer, l *Load) error {
	var out bytes.Buffer
	rows := csv.NewWriter(&out)
	ops, flows := l.inSeries()
	header := []string{
		"at_ns", "over_ns", "phase", "target_per_s", "achieved_per_s", "connections", "in_flight", "backlog", "dropped",
		"unserved", "errors", "cpu", "memory_bytes",
	}
	for _, op := range ops {
		name := strings.ReplaceAll(op, ".", "_")
		for _, column := range []string{
			"count", "errors", "lateness_p99_ns", "service_p50_ns", "service_p99_ns", "response_p50_ns",
			"response_p99_ns", "response_max_ns",
		} {
			header = append(header, name+"_"+column)
		}
	}
	for _, flow := range flows {
		name := strings.ReplaceAll(flow, ".", "_")
		header = append(header, name+"_count", name+"_p50_ns", name+"_p99_ns", name+"_max_ns")
	}
	all := [][]string{header}
	for i := range l.Series {
		all = append(all, l.Series[i].row(ops, flows))
	}
	if err := rows.WriteAll(all); err != nil {
		return fmt.Errorf("write series: %w", err)
	}
	return reports.WriteOut(w, out.Bytes())
}

// inSeries returns the kinds of commands and the flows that have a value in the series: those of l.Ops first, which are
// in the order of tables.
func (l *Load) inSeries() (ops, flows []string) {
	recorded := map[string]bool{}
	var all []string
	for i := range l.Ops {
		all = append(all, l.Ops[i].Op)
	}
	for i := range l.Series {
		for _, op := range l.Series[i].Ops {
			recorded[op.Op] = true
			all = append(all, op.Op)
		}
		for _, flow := range l.Series[i].Flows {
			recorded[flow.Flow] = true
		}
	}
	for _, name := range all {
		if recorded[name] {
			ops = append(ops, name)
			delete(recorded, name) // once
		}
	}
	for _, name := range LoadFlows() {
		if recorded[name] {
			flows = append(flows, name)
		}
	}
	return ops, flows
}

// row returns the line of one second.
func (s *Second) row(ops, flows []string) []string {
	var errors int64
	for i := range s.Ops {
		errors += s.Ops[i].Errors
	}
	row := []string{
		decimal(int64(s.At)), decimal(int64(s.Over)), s.Phase, number(s.Target), number(s.Achieved),
		strconv.Itoa(s.Connections), decimal(s.InFlight), decimal(s.Backlog), decimal(s.Dropped), decimal(s.Unserved),
		decimal(errors), number(s.CPU), decimal(s.MemoryBytes),
	}
	for _, name := range ops {
		op := cmp.Or(reports.Find(s.Ops, func(o *SecondOp) bool { return o.Op == name }), &SecondOp{})
		row = append(row, decimal(op.Count), decimal(op.Errors))
		row = append(row, nanoseconds(op.Count, op.LatenessP99, op.ServiceP50, op.ServiceP99, op.ResponseP50,
			op.ResponseP99, op.ResponseMax)...)
	}
	for _, name := range flows {
		flow := cmp.Or(reports.Find(s.Flows, func(f *SecondFlow) bool { return f.Flow == name }), &SecondFlow{})
		row = append(row, decimal(flow.Count))
		row = append(row, nanoseconds(flow.Count, flow.P50, flow.P99, flow.Max)...)
	}
	return row
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// number writes x with three decimals at most.
func number(x float64) string { return reports.Trimmed(x, 3) }

// nanoseconds writes times in nanoseconds; of no values there are none.
func nanoseconds(values int64, times ...time.Duration) []string {
	out := make([]string, len(times))
	for i, d := range times {
		if values > 0 {
			out[i] = decimal(int64(d))
		}
	}
	return out
}
