package results

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/reports"
)

// WriteSeriesCSV writes the series of l as comma-separated values (RFC 4180, but with LF): a line with the names of the
// columns, and one for each second. The first columns are
//
//	at_ns, over_ns, phase, target_per_s, achieved_per_s, connections, in_flight, backlog, dropped, jobs_due, unserved,
//	errors, cpu, memory_bytes
//
// and then, if the target was started here, server_cpu, server_memory_bytes, server_redis_bytes, server_threads and
// server_waiting_jobs; for each command that the run used, OP_count, OP_errors, OP_unanswered, OP_at_least,
// OP_lateness_p99_ns, OP_service_p50_ns, OP_service_p99_ns, OP_response_p50_ns, OP_response_p99_ns and
// OP_response_max_ns, and for each way of jobs FLOW_count, FLOW_unanswered, FLOW_at_least, FLOW_p50_ns, FLOW_p99_ns
// and FLOW_max_ns; and those percentiles that the user has asked for, as OP_response_p95_ns. OP and FLOW are the
// names with an underscore in place of the point. AT_LEAST names the times of its row that are lower bounds, with a
// blank between. Names and units are those of the JSON. A time is empty in a second that has no value for it. It
// writes once, and returns the error of that.
func WriteSeriesCSV(w io.Writer, l *Load) error {
	var out bytes.Buffer
	ops, flows := l.seriesNames()
	hasServer := slices.ContainsFunc(l.Series, func(s Second) bool { return s.Server != nil })
	extra := PercentilesBeyondSeconds(l.Percentiles)
	header, _ := new(Second).row(hasServer, ops, flows, extra)
	all := [][]string{header}
	for i := range l.Series {
		_, values := l.Series[i].row(hasServer, ops, flows, extra)
		all = append(all, values)
	}
	if err := csv.NewWriter(&out).WriteAll(all); err != nil {
		return fmt.Errorf("write series: %w", err)
	}
	return reports.WriteOut(w, out.Bytes())
}

// seriesNames returns the kinds of commands and the flows that have a value in the series: those of l.Ops first, which
// are in the order of tables.
func (l *Load) seriesNames() (ops, flows []string) {
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
	absent := func(name string) bool { return !recorded[name] }
	for _, name := range slices.DeleteFunc(all, absent) {
		if !slices.Contains(ops, name) {
			ops = append(ops, name)
		}
	}
	return ops, slices.DeleteFunc(LoadFlows(), absent)
}

// row returns the names of the columns, and the values of one second.
func (s *Second) row(hasServer bool, ops, flows []string, extra []Percentile) (names, values []string) {
	errors := sumOf(s.Ops, func(o *SecondOp) int64 { return o.Errors })
	names, values = columns(s, true)
	at := slices.Index(names, "cpu")
	names, values = slices.Insert(names, at, "errors"), slices.Insert(values, at, strconv.FormatInt(errors, 10))
	add := func(name string, part any, hasValues bool) {
		keys, cells := columns(part, hasValues)
		for _, key := range keys {
			names = append(names, strings.ReplaceAll(name, ".", "_")+"_"+key)
		}
		values = append(values, cells...)
	}
	addExtra := func(name string, times map[string]time.Duration, prefixes ...string) {
		for _, prefix := range prefixes {
			for _, p := range extra {
				value := ""
				if at, ok := times[prefix+p.String()]; ok {
					value = strconv.FormatInt(int64(at), 10)
				}
				key := strings.ReplaceAll(name+"_"+prefix+p.String(), ".", "_")
				names, values = append(names, key+"_ns"), append(values, value)
			}
		}
	}
	if hasServer {
		add("server", cmp.Or(s.Server, &ServerSecond{}), s.Server != nil)
	}
	for _, name := range ops {
		op := cmp.Or(reports.Find(s.Ops, func(o *SecondOp) bool { return o.Op == name }), &SecondOp{})
		add(name, op, op.Count+op.Unanswered > 0 || len(op.AtLeast) > 0)
		addExtra(name, op.Percentiles, "service_", "response_")
	}
	for _, name := range flows {
		flow := cmp.Or(reports.Find(s.Flows, func(f *SecondFlow) bool { return f.Flow == name }), &SecondFlow{})
		add(name, flow, flow.Count > 0)
		addExtra(name, flow.Percentiles, "")
	}
	return names, values
}

// columns returns the keys and the values of the numbers of a second, or of a part of it, as JSON has them: numbers
// with three decimals at most, and times in nanoseconds, of no values none.
func columns(part any, hasValues bool) (names, values []string) {
	fields := reflect.ValueOf(part).Elem()
	for i := range fields.NumField() {
		name := keyOf(fields.Type().Field(i))
		value := ""
		switch x := fields.Field(i).Interface().(type) {
		case string:
			if value = x; name != "phase" {
				continue // it is in the names
			}
		case time.Duration:
			if hasValues {
				value = strconv.FormatInt(int64(x), 10)
			}
		case float64:
			value = reports.Trimmed(x, 3)
		case *int64:
			if x != nil {
				value = fmt.Sprint(*x)
			}
		case int, int64:
			value = fmt.Sprint(x)
		case []string: // figures that are lower bounds
			value = strings.Join(x, " ")
		default:
			continue
		}
		names, values = append(names, name), append(values, value)
	}
	return names, values
}
