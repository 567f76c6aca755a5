package record

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
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
	metric := func(name, kind, help string) func(labels string, value any) {
		fmt.Fprintf(&b, "# HELP fwp_record_%s %s\n# TYPE fwp_record_%[1]s %[3]s\n", name, help, kind)
		return func(labels string, value any) { fmt.Fprintf(&b, "fwp_record_%s%s %v\n", name, labels, value) }
	}
	c := s.Counts
	metric("connections_total", "counter", "Connections of clients.")("", c.Connections)
	metric("connections_open", "gauge", "Connections that are open.")("", c.OpenConnections)
	metric("connections_unjudged_total", "counter",
		"Connections that were forwarded without checks.")("", c.UnjudgedConnections)
	add := metric("bytes_total", "counter", "Bytes that were forwarded, by sender.")
	add(`{from="client"}`, c.ClientBytes)
	add(`{from="server"}`, c.ServerBytes)
	add = metric("commands_total", "counter", "Lines that clients sent.")
	for _, verb := range slices.Sorted(maps.Keys(c.Commands)) {
		add(fmt.Sprintf("{verb=%q}", verb), c.Commands[verb])
	}
	metric("error_replies_total", "counter", "Error replies of the server.")("", c.Errors)
	add = metric("breaches_total", "counter", "Violations of the specification.")
	for _, name := range slices.Sorted(maps.Keys(c.Breaches)) {
		add(fmt.Sprintf("{breach=%q,clause=%q}", name, clause(name)), c.Breaches[name])
	}
	add = metric("rules", "gauge", "Rules by state; inconclusive: their situation did not occur.")
	states := map[clientrules.State]int{}
	for _, result := range s.Results {
		states[result.State()]++
	}
	for _, state := range []clientrules.State{clientrules.StateHeld, clientrules.StateBroken,
		clientrules.StateInconclusive} {
		add(fmt.Sprintf("{state=%q}", state), states[state])
	}
	delay := fmt.Sprintf("%g", c.LatestWait.Seconds())
	metric("judging_delay_seconds", "gauge", "How long the latest bytes waited for their check.")("", delay)
	return b.String()
}
