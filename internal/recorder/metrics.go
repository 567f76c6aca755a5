package recorder

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/monitor"
)

// Metrics returns a handler that writes what has passed in the text format of Prometheus. clause returns the clause of
// a breach.
func (r *Recorder) Metrics(clause func(breach string) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = io.WriteString(w, metricsText(r.Summary(), clause)) // whoever asked may have gone
	})
}

func metricsText(s Summary, clause func(string) string) string {
	var b strings.Builder
	metric := func(name, kind, help string) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, help, kind)
	}
	c := s.Counts
	metric("fwp_record_connections_total", "counter", "Connections of clients.")
	fmt.Fprintf(&b, "fwp_record_connections_total %d\n", c.Connections)
	metric("fwp_record_connections_open", "gauge", "Connections that are open.")
	fmt.Fprintf(&b, "fwp_record_connections_open %d\n", c.Open)
	metric("fwp_record_connections_unjudged_total", "counter", "Connections that were passed on without being judged.")
	fmt.Fprintf(&b, "fwp_record_connections_unjudged_total %d\n", c.Unjudged)
	metric("fwp_record_bytes_total", "counter", "Bytes that were passed on, by who sent them.")
	fmt.Fprintf(&b, "fwp_record_bytes_total{from=\"client\"} %d\n", c.ClientBytes)
	fmt.Fprintf(&b, "fwp_record_bytes_total{from=\"server\"} %d\n", c.ServerBytes)
	metric("fwp_record_commands_total", "counter", "Lines that clients sent.")
	for _, verb := range slices.Sorted(maps.Keys(c.Commands)) {
		fmt.Fprintf(&b, "fwp_record_commands_total{verb=%q} %d\n", verb, c.Commands[verb])
	}
	metric("fwp_record_error_replies_total", "counter", "Error replies of the server.")
	fmt.Fprintf(&b, "fwp_record_error_replies_total %d\n", c.Errors)
	metric("fwp_record_breaches_total", "counter", "Breaches of the specification.")
	for _, name := range slices.Sorted(maps.Keys(c.Breaches)) {
		fmt.Fprintf(&b, "fwp_record_breaches_total{breach=%q,clause=%q} %d\n", name, clause(name), c.Breaches[name])
	}
	metric("fwp_record_rules", "gauge", "Rules by state; inconclusive: their situation was not seen.")
	states := map[monitor.State]int{}
	for _, result := range s.Results {
		states[result.State()]++
	}
	for _, state := range []monitor.State{monitor.Held, monitor.Broke, monitor.Inconclusive} {
		fmt.Fprintf(&b, "fwp_record_rules{state=%q} %d\n", state, states[state])
	}
	metric("fwp_record_judging_delay_seconds", "gauge", "How long the latest bytes waited to be judged.")
	fmt.Fprintf(&b, "fwp_record_judging_delay_seconds %g\n", c.LatestWait.Seconds())
	return b.String()
}
