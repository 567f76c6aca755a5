package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/reports"
)

// Each is refused before anything is started, in words that name the flag.
func TestFlagsOfALoad(t *testing.T) {
	t.Parallel()
	assertUsageErrors(t, [][2]string{
		{"run --processors 0", "--processors must be from 1 to"},
		{"run --processors 100000", "--processors must be from 1 to"},
		{"run --connect-rate 0", "--connect-rate must be more than 0"},
		{"run --connect-rate -5", "--connect-rate must be more than 0"},
		{"run --timeout 2s", "--timeout must be from 3s"},
		{"run --timeout 61m", "--timeout must be from 3s"},
		{"run --threshold push.p99", "--threshold: "},
		{"run --threshold push.responze.p99<1s", "--threshold: "},
		{"run --rate fast", "--rate: "},
		{"run --preset roundtripp", "did you mean roundtrip"},
		{"run roundtrip", "use --preset for a preset: fwpbench run --preset roundtrip"},
		{"run tcp://localhost", "use --url for a server"},
		{"run a.yaml b.yaml", "run takes one workload file"},
		{"run --preset push a.yaml", "a file names its preset itself (preset: push)"},
		{"run nothing.yaml", "read workload: "},
		{"run --requests", "FWP has no command that waits for a result"},
		{"run --variation no-such", `--variation: unknown variation "no-such"`},
		{"run --variation json-numbers --url tcp://127.0.0.1:1", "--variation works only with the embedded server"},
		{"run --bug no-such-bug", `--bug: unknown planted bug "no-such-bug"`},
		{"run --bug push-lost --url tcp://127.0.0.1:1", "--bug works only with the embedded server"},
		{"run --protocol workq --bug push-lost", "it is one of fwp: give --protocol fwp"},
		{"run --protocol workq --history h", "Workq has no history yet"},
		{"run --protocol emqp --history h", "eMQP has no history yet"},
		{"run --protocol workq --disrupt-every 1s --duration 10s", "disruptions work with FWP only"},
		{"run --protocol emqp --fail-share 1%", "fail_share does not work with eMQP"},
		{"run --protocol emqp --delay 1s", "delay does not work with eMQP"},
		{"run --protocol nobody", `--protocol: unknown protocol "nobody"`},
		{"run --protocol workq --url tcp://127.0.0.1:1", "its URLs begin with workq://"},
		{"run --disrupt a.yaml --disrupt-every 1s", "a schedule is either in a file or drawn from the seed"},
		{"run --disrupt kill", "--disrupt kill: say how often, with --disrupt-every"},
		{"run --disrupt-every 1ms", "--disrupt-every must be at least 100ms"},
		{"run --disrupt-every 1s --disrupt explode", "--disrupt: "},
		{"run --disrupt-every 1h --duration 1s", "before the end of the first disruption"},
		{"run --disrupt nothing.yaml", "--disrupt: "},
		{"run --disrupt-every 1s --disrupt kill --duration 10s --url tcp://127.0.0.1:1", "kill needs a server that"},
		{"run --disrupt-every 1s --disrupt fill --duration 60s", "the embedded server keeps its jobs in memory"},
		{"run --segment 3/2", "--segment: "},
		{"run --segment 1/2", "--segment needs a server that all segments reach"},
		{"run --segment 1/2 --url tcp://127.0.0.1:1", "--segment needs --seed"},
		{"run --start-at yesterday", `--start-at "yesterday" is not a time`},
		{"capacity --from 0", "the first rate is above 0"},
		{"capacity --from 10/s --most 5/s", "not above the highest"},
		{"capacity --from fast", "--from: "},
		{"capacity --most fast", "--most: "},
		{"capacity --step 0s", "--step must be longer than 0"},
		{"capacity --precision 100%", "--precision 100%: it is more than 0"},
		{"capacity --rate 5/s", "--rate: the search sets the rate"},
		{"capacity --stages 1s:5", "--stages: the search sets the rate"},
		{"capacity --requests", "FWP has no command that waits for a result"},
		{"capacity --precision near", "--precision: "},
		{"capacity --threshold p99", "--threshold: "},
		{"capacity --threshold push.response.p99.9<1s --step 1s --most 4000/s", "than the 5000 arrivals"},
		{"capacity --threshold job.fetched.p99<1s --queues 9 --consumers 8", "so job.fetched.p99<1s would"},
		{"capacity --producers 0 --consumers 0", "there are no connections"},
		{"capacity --bug push-lost --url tcp://127.0.0.1:1", "--bug works only with the embedded server"},
		{"compare a b --aa", "--aa takes one server or workload"},
		{"compare a b --block 1s", "--block is for --run"},
		{"compare --run embedded embedded --block 0s", "--block must be longer than 0"},
		{"compare --run embedded embedded --pairs 1001", "--pairs 1001: from 6 to 1000"},
		{"compare --run embedded embedded --burden 2s", "--burden must be from 0 to 1s"},
		{"compare --run embedded workq://127.0.0.1:1", "have to be servers of one protocol"},
		{"compare --run embedded embedded --requests", "FWP has no command that waits for a result"},
		{"compare --run embedded", "got 1"},
		{"compare --run embedded embedded --pairs 5", "--pairs 5: from 6"},
		{"compare --run embedded embedded --margin lots", "--margin: "},
		{"compare --run embedded embedded --margin 0", "--margin 0: it is more than 0"},
		{"compare --run embedded embedded --url tcp://127.0.0.1:1", "--url names the server of workload files"},
		{"compare --run embedded tcp://127.0.0.1:1 --burden 1ms", "--burden work only if B is embedded"},
		{"compare --run embedded embedded --duration 1s", "is set by --block"},
		{"compare --run embedded embedded --jobs 10", "a block has a length"},
		{"compare --run nothing.yaml embedded", "no such workload file: a server is a URL, start:COMMAND or embedded"},
		{"compare --run start:sleep embedded", "must listen on a port"},
		{"compare --run embedded embedded --primary generator.cpu", "it is about the generator"},
		{"compare --run embedded embedded --primary a --primary b --primary c", "at most two metrics"},
		{"compare --run embedded embedded --stages 1s:5 --block 2s", "the stages or the trace of the workload are as lo"},
	})
}

// assertUsageErrors calls fwpbench with the first text of each pair, which is a mistake; the second says which. None gets as far as
// its target.
func assertUsageErrors(t *testing.T, commands [][2]string) {
	t.Helper()
	for _, command := range commands {
		code, out := runBench(strings.Fields(command[0])...)
		assert.Equal(t, reports.ExitUsage, code, command[0])
		assert.Contains(t, strings.Join(strings.Fields(out), " "), command[1], command[0])
	}
}

// The settings of flags go on top of those of the preset, and a seed that is not given is drawn.
func TestAWorkloadOfFlags(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]func(w *plan.Workload) bool{
		"--rate 5/s":                  func(w *plan.Workload) bool { return w.Rate == 5 },
		"--preset push --producers 3": func(w *plan.Workload) bool { return w.Preset == "push" && w.Producers == 3 },
		"--seed 7":                    func(w *plan.Workload) bool { return w.Seed == 7 },
		"--fail-share 2% --retry 0":   func(w *plan.Workload) bool { return w.FailShare == 0.02 && *w.Retry == 0 },
		"--duration 3s --warmup 1s": func(w *plan.Workload) bool {
			return w.Duration == plan.Duration(3*time.Second)
		},
		"--consumers 9 --consumers 4":   func(w *plan.Workload) bool { return w.Consumers == 4 },
		"--preset idle --connections 5": func(w *plan.Workload) bool { return w.Connections == 5 },
	} {
		o := newLoadFlags()
		o.flags = pflag.NewFlagSet("run", pflag.ContinueOnError)
		o.declareWorkload(o.flags)
		o.flags.StringVar(&o.preset, "preset", "", "")
		require.NoError(t, o.flags.Parse(strings.Fields(args)), args)
		w, err := o.workload(nil)
		require.NoError(t, err, args)
		assert.True(t, want(&w), args)
		assert.Equal(t, strings.Contains(args, "--seed"), o.isSeeded, args)
		assert.NotZero(t, w.Seed, args)
	}
}

// A segment has its share of the rate at which connections are opened.
func TestASegmentIsApplied(t *testing.T) {
	t.Parallel()
	s := segmentFlags{part: plan.Segment{Index: 1, Count: 4}}
	config := load.Config{Pace: 1000}
	s.apply(&config)
	assert.InDelta(t, 250, config.Pace, 0)
	assert.Equal(t, s.part, config.Segment)
	assert.Zero(t, config.StartAt)
	empty, other := segmentFlags{}, load.Config{Pace: 1000}
	empty.apply(&other)
	assert.InDelta(t, 1000, other.Pace, 0)
}
