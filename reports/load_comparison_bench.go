package reports

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/fwpsuite/fwp/internal/text"
)

// WriteBenchfmt writes the blocks of the pairs that count in the format of Go's benchmarks, a line for each metric of a
// block: benchstat -col side reads it. It writes once, and returns the error of that.
func (c *LoadComparison) WriteBenchfmt(w io.Writer) error {
	var out bytes.Buffer
	out.WriteString("Unit arrivals/s better=higher\n")
	m := &c.Machine
	for _, line := range [][2]string{
		{"goos", m.OS}, {"goarch", m.Arch}, {"cpu", m.CPU}, {"a", c.A.Name}, {"b", c.B.Name},
	} {
		if line[1] != "" {
			fmt.Fprintf(&out, "%s: %s\n", line[0], text.OneLine(line[1]))
		}
	}
	void := c.void()
	for _, b := range c.Blocks {
		if b.Void != "" || c.NoVerdict == "" && (void[b.Pair] || b.Pair == 0) {
			continue
		}
		fmt.Fprintf(&out, "side: %s\n", b.Side)
		for _, f := range b.Figures {
			unit := "ns/op"
			if HigherIsBetter(f.Metric) {
				unit = "arrivals/s"
			}
			fmt.Fprintf(&out, "Benchmark%s 1 %.6g %s\n", benchName(f.Metric), f.Value, unit)
		}
	}
	return writeOut(w, out.Bytes())
}

// benchName returns the name of a metric as a benchmark has it: "Push/response/p99".
func benchName(metric string) string {
	name, percentile := metric, ""
	if at := strings.LastIndex(metric, ".p"); at > 0 { // the point of p99.9 stays
		name, percentile = metric[:at], "/"+metric[at+1:]
	}
	name = strings.ReplaceAll(name, ".", "/")
	return strings.ToUpper(name[:1]) + name[1:] + percentile
}
