package validity_test

import (
	"os"
	"time"

	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
)

// soundLoad returns a run in which all went well: the golden file of the tests of load/results.
func soundLoad() *results.Load {
	data, err := os.ReadFile("../results/testdata/load-sound.json.golden")
	if err != nil {
		panic(err)
	}
	l, err := results.ReadLoad(data)
	if err != nil {
		panic(err)
	}
	return l
}

// sampleOp returns the figures of a command: its lateness, and its service and response times.
func sampleOp(op string, count int64, lateness, service, response time.Duration) results.LoadOp {
	at := func(d time.Duration) results.Latency {
		return results.Latency{Count: count, Min: d / 2, Mean: d, P50: d, P90: d * 2, P99: d * 5, P999: d * 21, P9999: d * 43,
			Max: d * 87}
	}
	return results.LoadOp{Op: op, Count: count, Lateness: at(lateness), Service: at(service), Response: at(response)}
}

func parseThresholds(sources ...string) []validity.Threshold {
	var all []validity.Threshold
	for _, source := range sources {
		t, err := validity.ParseThreshold(source, sampleOps()...)
		if err != nil {
			panic(err)
		}
		all = append(all, t)
	}
	return all
}

// sampleOps are the kinds of commands of the samples.
func sampleOps() []string {
	return []string{
		"connect", "hello", "push", "fetch", "fetch.found", "fetch.waited", "fetch.empty", "ack", "fail", "beat", "info",
		"end",
	}
}
