package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/search"
	"github.com/fwpsuite/fwp/protocols/fwp/workerload"
	"github.com/fwpsuite/fwp/reports"
)

// side is what is loaded on one side of a comparison.
type side struct {
	name  string
	at    shared.Endpoint
	embed embedding
	work  plan.Workload

	worker      []string // its command: the side is a worker under load; nil: it is a server
	concurrency int      // of it
}

// summary returns the side as a report names it.
func (s *side) summary() results.ComparedLoad {
	if s.worker != nil {
		return results.ComparedLoad{Name: s.name, Plan: workerload.Describe(s.work, s.concurrency)}
	}
	return results.ComparedLoad{Name: s.name, Plan: load.Describe(s.work)}
}

// differences returns in what the two sides differ by their plans, and what is done to B.
func (o *compareOptions) differences(sides [2]*side) []results.LoadDifference {
	var loads [2][]*results.Load
	for i, s := range sides {
		plan := load.PlanOf(load.Config{Workload: s.work})
		if s.worker != nil {
			plan = results.LoadPlan{Words: s.summary().Plan}
		}
		loads[i] = []*results.Load{{Plan: plan}}
	}
	all := search.Differences(loads[0], loads[1])
	burden := ""
	if o.burden > 0 {
		burden = o.burden.String() + " for each command"
	}
	for _, row := range []struct{ name, b string }{
		{"burden", burden}, {"bug", o.bug}, {"variation", o.variation},
	} {
		if row.b != "" {
			all = append(all, results.LoadDifference{Name: row.name, A: "none", B: row.b})
		}
	}
	return all
}

// parseSides returns the two sides that the arguments name, with loads of the same seed.
func (o *compareOptions) parseSides(args []string, lookup func(string) (string, bool)) (sides [2]*side, err error) {
	if o.aa {
		args = []string{args[0], args[0]}
	}
	files := 0
	for i, arg := range args {
		s, isFile, err := o.parseSide(arg, lookup)
		if err != nil {
			return sides, err
		}
		if isFile {
			files++
		}
		o.setLength(&s.work)
		if s.work, err = o.blockWorkload(s.work); err != nil {
			return sides, err
		}
		if err := o.checkQueues(s.at, &s.work, o.primary); err != nil {
			return sides, fmt.Errorf("%s: %w", s.name, err)
		}
		sides[i] = s
	}
	if flag := o.firstGiven("url", "start", "password-file"); files == 0 && flag != "" {
		return sides, fmt.Errorf("--%s names the server of workload files: A and B name theirs", flag)
	}
	a, b := sides[0], sides[1]
	switch {
	case a.at.Entry != b.at.Entry:
		return sides, errors.New("the two sides have to be servers of one protocol: their commands do not compare")
	case (o.bug != "" || o.variation != "" || o.burden > 0) && !b.at.Choice.IsEmbedded:
		return sides, errors.New("--bug, --variation and --burden work only if B is embedded")
	}
	a.embed = embedding{protocol: a.at.Entry.Name}
	b.embed, b.work.Seed = o.embedding(b.at), a.work.Seed
	b.embed.burden = o.burden
	err = cmp.Or(o.targetFlags.Subject.Check(len(sides)), o.targetFlags.ApplySubject(&a.at, 0),
		o.targetFlags.ApplySubject(&b.at, 1))
	if err != nil {
		return sides, err
	}
	return sides, cmp.Or(o.applyProtocol(&b.at, &b.work), o.useBatches(&a.at, &a.work), checkWorkload(a.at, &a.work))
}

// parseSide returns what one argument names, and whether it is a workload file.
func (o *compareOptions) parseSide(arg string, lookup func(string) (string, bool)) (s *side, isFile bool, err error) {
	s = &side{name: arg}
	var files []string
	switch kind, command := target.NameOf(arg); kind {
	case target.NamesWorker:
		s.name, s.worker = "worker:"+target.RedactCommand(command), []string{"sh", "-c", "exec " + command}
		s.at, err = o.targetFlags.EmbeddedEndpoint()
	case target.NamesNothing:
		if _, statErr := os.Stat(arg); statErr != nil {
			return nil, true, fmt.Errorf("%s names no server, and there is no such workload file: a server is a URL, "+
				"start:COMMAND or embedded (docs/checking-a-server.md#how-a-server-is-named)", target.RedactCommand(arg))
		}
		isFile, files = true, []string{arg}
		s.at, err = o.targetFlags.Endpoint(o.flags, lookup, nil)
	default:
		s.at, _, err = o.targetFlags.EndpointOf(arg)
		if kind == target.NamesStart {
			s.name = "start:" + target.RedactCommand(command)
		} else if kind == target.NamesURL && err == nil {
			s.name = s.at.Choice.Address.String()
		}
	}
	if err != nil {
		return nil, isFile, err
	}
	if s.work, err = o.workload(files); s.worker != nil {
		s.work, s.concurrency = workerload.ForWorker(s.work), o.concurrency
		if !o.flags.Changed("warmup") {
			s.work.Warmup = defaultWarmup
		}
	}
	return s, isFile, err
}

// readWorkerFlags reads the flags of a comparison of workers, if it is one. --concurrency says how many jobs they are
// told to work at a time, and is no setting of a load then.
func (o *compareOptions) readWorkerFlags(args []string) (err error) {
	workers := slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		kind, _ := target.NameOf(arg)
		return kind != target.NamesWorker
	})
	switch {
	case len(workers) == 0:
		return nil
	case len(workers) < len(args):
		return errors.New("one side is a worker and the other is none: write worker:COMMAND twice")
	}
	o.concurrency = defaultConcurrency
	if value, ok := o.settings["concurrency"]; ok {
		delete(o.settings, "concurrency")
		if o.concurrency, err = strconv.Atoi(value); err != nil || o.concurrency < 1 {
			return fmt.Errorf("--concurrency %s: it is 1 or more", value)
		}
	}
	for key := range o.settings {
		if !slices.Contains(workerload.Settings(), key) {
			return fmt.Errorf("--%s is about the load on a server, and has no effect on workers",
				strings.ReplaceAll(key, "_", "-"))
		}
	}
	if flag := o.firstGiven("bug", "variation", "burden", "preset"); flag != "" {
		return fmt.Errorf("--%s is about a server, and has no effect on workers", flag)
	}
	return nil
}

// measure measures a block of a worker.
func (s *side) measure(ctx context.Context, p process, config load.Config) *load.Result {
	flags := workerFlags{concurrency: s.concurrency, startTimeout: defaultStartTimeout}
	c := flags.workerConfig(p, config.Workload, s.worker)
	c.Watch, c.Metrics = config.Watch, config.Metrics
	return workerload.Run(ctx, c)
}

// blockWorkload returns the workload of a block.
func (o *compareOptions) blockWorkload(w plan.Workload) (plan.Workload, error) {
	switch {
	case o.flags.Changed("duration"):
		return w, errors.New("--duration: how long a block measures is set by --block")
	case w.JobLimit > 0:
		return w, errors.New("--jobs: a block has a length and no number of jobs; leave it out")
	case w.PlanLength() > 0 && o.flags.Changed("block"):
		return w, errors.New("--block: the stages or the trace of the workload are as long as they are; leave it out")
	case w.PlanLength() > 0:
		return w, nil
	}
	w.Duration = plan.Duration(o.block)
	if w.Warmup == 0 {
		w.Warmup = plan.Duration(min(2*time.Second, o.block/5))
	}
	return w, nil
}

// Unless the user says otherwise blocks are short and many: what drifts on a machine moves between two short blocks
// less than between two long ones.
const (
	defaultBlock       = time.Second
	defaultWorkerBlock = 3 * time.Second        // of a worker, which is started anew for each block
	overheadEstimate   = 500 * time.Millisecond // of a block: its warm-up, start and end
	defaultTime        = 3 * time.Minute
	blockArrivals      = 2500 // of an open loop, at least: a p99 is compared if 20 values are beyond it
	minDefaultPairs    = 10   // pairs
	maxDefaultPairs    = 60
)

// arrivals returns how many a block of an open loop needs for the percentiles that decide: a fourth more than these ask
// for.
func (o *compareOptions) arrivals() (n int64) {
	n = blockArrivals
	for _, metric := range o.primary {
		if p, ok := results.PercentileIn(metric); ok {
			n = max(n, p.Needs(results.MinComparedTail)*5/4)
		}
	}
	return n
}

// setLength sets how long a block is and how many pairs there are, where that is not given.
func (o *compareOptions) setLength(w *plan.Workload) {
	if o.block == 0 {
		o.block = max(defaultBlock, w.PlanLength())
		if o.concurrency > 0 {
			o.block = defaultWorkerBlock
		}
		if w.Rate > 0 {
			length := time.Duration(float64(o.arrivals()) / float64(w.Rate) * float64(time.Second))
			o.block = max(o.block, length.Round(100*time.Millisecond))
		}
	}
	if o.pairs == 0 {
		o.pairs = min(max(int(defaultTime/(2*(o.block+overheadEstimate))), minDefaultPairs), maxDefaultPairs)
	}
}

// missingWait is how long a run of a series waits for missing jobs after its queues were empty. A server may look for
// those that are due each 5 s.
const missingWait = 10 * time.Second

// measure measures the blocks of a comparison, until one cannot be, or no number of them would decide. A pair that is
// void is replaced at once, as often as pairs were asked for.
func (p process) measure(
	ctx context.Context, o *compareOptions, sides [2]*side, c *results.LoadComparison, bar *shared.Bar,
) (err error) {
	plan := search.PlanBlocks(2*o.pairs, c.Seed)
	progress := &seriesProgress{total: 2 * (o.pairs + 1)}
	bar.Begin(progress.state)
	defer bar.End()
	for i, b := range plan {
		s := sides[slices.Index([]string{search.A, search.B}, b.Side)]
		w := s.work
		w.Seed = b.Seed
		l := newLive(false, &w, io.Discard)
		name := fmt.Sprintf("pair %d of %d, %s", c.ValidPairs()+1, o.pairs, b.Side)
		if b.Pair == 0 {
			name = "first block of " + b.Side + ", discarded"
		}
		progress.run.Store(&seriesRun{min(i, progress.total-1), name, l})
		config := o.config(p, w)
		config.Watch, config.MissingWait, config.Metrics = l.show, missingWait, o.primary
		var result *load.Result
		if s.worker != nil {
			result = s.measure(ctx, p, config)
		} else if result, err = o.runLoad(ctx, s.at, config, s.embed, nil); err != nil {
			return err
		}
		c.Blocks = append(c.Blocks, results.BlockOf(result.Report, b.Side, b.Pair))
		map[string]*results.ComparedLoad{search.A: &c.A, search.B: &c.B}[b.Side].Subject = result.Report.Target.Subject
		if endsSeries(result.Report, &c.Trouble) {
			if c.Unreachable != "" {
				c.Unreachable = b.Side + ": " + c.Unreachable
			}
			break
		}
		if i%2 == 1 && p.isEnough(o, sides, c) {
			break
		}
	}
	return nil
}

// isEnough reports whether no more pairs are to be measured after one that is complete.
func (p process) isEnough(o *compareOptions, sides [2]*side, c *results.LoadComparison) bool {
	if reason := search.HopelessReason(c, o.primaryMetrics(sides)); reason != "" && !o.aa {
		c.StopReason = "stopped after " + text.Count(c.ValidPairs(), "pair") + ": " + reason
		p.Logf("%s", c.StopReason)
		return true
	}
	pairs := len(c.Blocks)/2 - 1
	if !o.flags.Changed("pairs") && timeIsOver(time.Since(c.StartTime), c.ValidPairs(), pairs) {
		c.Pairs = pairs
		return true
	}
	return c.ValidPairs() >= o.pairs
}

// timeIsOver reports whether no further pair fits into the usual time, after so many pairs and the one that is
// discarded. What the pairs have shown has no part in it, so that it favours no verdict.
func timeIsOver(elapsed time.Duration, valid, pairs int) bool {
	return valid >= minDefaultPairs && elapsed+elapsed/time.Duration(pairs+1) > defaultTime
}

// endsSeries reports whether a series of runs cannot go on after one of them, and sets why.
func endsSeries(l *results.Load, t *reports.Trouble) bool {
	code := l.Outcome(reports.ExitOptions{}).Code
	switch code {
	case reports.ExitInterrupted:
		t.Interrupted = true
	case reports.ExitInternal:
		t.Internal = l.Internal
	case reports.ExitUnreachable:
		t.Unreachable = cmp.Or(l.Unreachable, l.GoneReason)
	default:
		return false
	}
	return true
}

// seriesProgress shows how far a series of runs is.
type seriesProgress struct {
	total int
	run   atomic.Pointer[seriesRun]
}

// seriesRun is a run of a series, and what shows it.
type seriesRun struct {
	number int
	name   string
	live   *live
}

// state returns what a line of progress shows.
func (b *seriesProgress) state() (share float64, parts []string) {
	run := b.run.Load()
	if run == nil {
		return 0, nil
	}
	part, figures := run.live.state()
	return (float64(run.number) + part) / float64(b.total), append([]string{run.name}, figures...)
}
