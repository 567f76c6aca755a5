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

// compared returns the side as a report names it.
func (s *side) compared() results.ComparedLoad {
	if s.worker != nil {
		return results.ComparedLoad{Name: s.name, Plan: workerload.Describe(s.work, s.concurrency)}
	}
	return results.ComparedLoad{Name: s.name, Plan: load.Describe(s.work)}
}

// differs returns in what the two sides differ by their plans, and what is done to B.
func (o *compareOptions) differs(sides [2]*side) []results.LoadDifference {
	var loads [2][]*results.Load
	for i, s := range sides {
		plan := load.PlanOf(load.Config{Workload: s.work})
		if s.worker != nil {
			plan = results.LoadPlan{Words: s.compared().Plan}
		}
		loads[i] = []*results.Load{{Plan: plan}}
	}
	all := search.Unlike(loads[0], loads[1])
	burden := ""
	if o.burden > 0 {
		burden = o.burden.String() + " for each command"
	}
	for _, of := range []struct{ what, b string }{
		{"burden", burden}, {"bug", o.bug}, {"variation", o.variation},
	} {
		if of.b != "" {
			all = append(all, results.LoadDifference{What: of.what, A: "none", B: of.b})
		}
	}
	return all
}

// both returns the two sides that the arguments name, with loads of the same seed.
func (o *compareOptions) both(args []string, lookup func(string) (string, bool)) (sides [2]*side, err error) {
	if o.aa {
		args = []string{args[0], args[0]}
	}
	files := 0
	for i, arg := range args {
		s, file, err := o.side(arg, lookup)
		if err != nil {
			return sides, err
		}
		if file {
			files++
		}
		o.length(&s.work)
		if s.work, err = o.blockOf(s.work); err != nil {
			return sides, err
		}
		if err := o.unawaited(s.at, &s.work, o.primary); err != nil {
			return sides, fmt.Errorf("%s: %w", s.name, err)
		}
		sides[i] = s
	}
	if flag := o.firstGiven("url", "start", "password-file"); files == 0 && flag != "" {
		return sides, fmt.Errorf("--%s names the server of workload files: A and B name theirs", flag)
	}
	a, b := sides[0], sides[1]
	switch {
	case a.at.Peer != b.at.Peer:
		return sides, errors.New("the two sides have to be servers of one protocol: their commands do not compare")
	case (o.bug != "" || o.variation != "" || o.burden > 0) && !b.at.Choice.Embedded:
		return sides, errors.New("--bug, --variation and --burden work only if B is embedded")
	}
	a.embed = embedding{protocol: a.at.Peer.Name}
	b.embed = o.embedding(b.at)
	b.embed.burden = o.burden
	b.work.Seed = a.work.Seed
	err = cmp.Or(o.targetFlags.Subject.Check(len(sides)), o.targetFlags.Name(&a.at, 0), o.targetFlags.Name(&b.at, 1))
	if err != nil {
		return sides, err
	}
	return sides, cmp.Or(o.fits(&b.at, &b.work), o.batches(&a.at, &a.work), checkWorkload(a.at, &a.work))
}

// side returns what one argument names, and whether it is a workload file.
func (o *compareOptions) side(arg string, lookup func(string) (string, bool)) (s *side, file bool, err error) {
	s = &side{name: arg}
	var files []string
	switch of, command := target.NameOf(arg); of {
	case target.NamesWorker:
		s.name, s.worker = "worker:"+target.RedactCommand(command), []string{"sh", "-c", "exec " + command}
		s.at, err = o.targetFlags.Embedded()
	case target.NamesNothing:
		if _, missing := os.Stat(arg); missing != nil {
			return nil, true, fmt.Errorf("%s names no server, and there is no such workload file: a server is a URL, "+
				"start:COMMAND or embedded (docs/checking-a-server.md#how-a-server-is-named)", target.RedactCommand(arg))
		}
		file, files = true, []string{arg}
		s.at, err = o.targetFlags.Endpoint(o.given, lookup, nil)
	default:
		s.at, _, err = o.targetFlags.Named(arg)
		if of == target.NamesStart {
			s.name = "start:" + target.RedactCommand(command)
		} else if of == target.NamesURL && err == nil {
			s.name = s.at.Choice.Address.String()
		}
	}
	if err != nil {
		return nil, file, err
	}
	if s.work, err = o.workload(files); s.worker != nil {
		s.work, s.concurrency = workerload.Of(s.work), o.concurrency
		if !o.given.Changed("warmup") {
			s.work.Warmup = usualWarmup
		}
	}
	return s, file, err
}

// ofWorkers reads the flags of a comparison of workers, if it is one. --concurrency says how many jobs they are told to
// work at a time, and is no setting of a load then.
func (o *compareOptions) ofWorkers(args []string) (err error) {
	named := slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		of, _ := target.NameOf(arg)
		return of != target.NamesWorker
	})
	switch {
	case len(named) == 0:
		return nil
	case len(named) < len(args):
		return errors.New("one side is a worker and the other is none: write worker:COMMAND twice")
	}
	o.concurrency = usualConcurrency
	if given, is := o.settings["concurrency"]; is {
		delete(o.settings, "concurrency")
		if o.concurrency, err = strconv.Atoi(given); err != nil || o.concurrency < 1 {
			return fmt.Errorf("--concurrency %s: it is 1 or more", given)
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

// worked measures a block of a worker.
func (s *side) worked(ctx context.Context, p process, of load.Config) *load.Result {
	flags := workerFlags{concurrency: s.concurrency, start: usualStart}
	c := flags.ofWorker(p, of.Workload, s.worker)
	c.Watch, c.Metrics = of.Watch, of.Metrics
	return workerload.Run(ctx, c)
}

// blockOf returns the workload of a block.
func (o *compareOptions) blockOf(w plan.Workload) (plan.Workload, error) {
	switch {
	case o.given.Changed("duration"):
		return w, errors.New("--duration: how long a block measures is set by --block")
	case w.JobLimit > 0:
		return w, errors.New("--jobs: a block has a length and no number of jobs; leave it out")
	case w.Planned() > 0 && o.given.Changed("block"):
		return w, errors.New("--block: the stages or the trace of the workload are as long as they are; leave it out")
	case w.Planned() > 0:
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
	usualBlock    = time.Second
	usualWorker   = 3 * time.Second        // of a worker, which is started anew for each block
	usualOverhead = 500 * time.Millisecond // of a block: its warm-up, start and end
	usualTime     = 3 * time.Minute
	blockArrivals = 2500 // of an open loop, at least: a p99 is compared if 20 values are beyond it
	leastUsual    = 10   // pairs
	mostUsual     = 60
)

// arrivals returns how many a block of an open loop needs for the percentiles that decide: a fourth more than these ask
// for.
func (o *compareOptions) arrivals() (needed int64) {
	needed = blockArrivals
	for _, metric := range o.primary {
		if p, is := results.PercentileIn(metric); is {
			needed = max(needed, p.Needs(results.Beyond)*5/4)
		}
	}
	return needed
}

// length sets how long a block is and how many pairs there are, where that is not given.
func (o *compareOptions) length(w *plan.Workload) {
	if o.block == 0 {
		o.block = max(usualBlock, w.Planned())
		if o.concurrency > 0 {
			o.block = usualWorker
		}
		if w.Rate > 0 {
			needed := time.Duration(float64(o.arrivals()) / float64(w.Rate) * float64(time.Second))
			o.block = max(o.block, needed.Round(100*time.Millisecond))
		}
	}
	if o.pairs == 0 {
		o.pairs = min(max(int(usualTime/(2*(o.block+usualOverhead))), leastUsual), mostUsual)
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
	plan := search.Plan(2*o.pairs, c.Seed)
	shown := &blocks{of: 2 * (o.pairs + 1)}
	bar.Begin(shown.state)
	defer bar.End()
	for i, b := range plan {
		s := sides[slices.Index([]string{search.A, search.B}, b.Side)]
		w := s.work
		w.Seed = b.Seed
		l := newLive(false, &w, io.Discard)
		name := fmt.Sprintf("pair %d of %d, %s", c.Valid()+1, o.pairs, b.Side)
		if b.Pair == 0 {
			name = "first block of " + b.Side + ", discarded"
		}
		shown.now.Store(&block{min(i, shown.of-1), name, l})
		config := o.config(p, w)
		config.Watch, config.MissingWait, config.Metrics = l.show, missingWait, o.primary
		var result *load.Result
		if s.worker != nil {
			result = s.worked(ctx, p, config)
		} else if result, err = o.once(ctx, s.at, config, s.embed, nil); err != nil {
			return err
		}
		c.Blocks = append(c.Blocks, results.BlockOf(result.Report, b.Side, b.Pair))
		map[string]*results.ComparedLoad{search.A: &c.A, search.B: &c.B}[b.Side].Subject = result.Report.Target.Subject
		if brokenOff(result.Report, &c.Trouble) {
			if c.Unreachable != "" {
				c.Unreachable = b.Side + ": " + c.Unreachable
			}
			break
		}
		if i%2 == 1 && p.enough(o, sides, c) {
			break
		}
	}
	return nil
}

// enough reports whether no more pairs are to be measured after one that is complete.
func (p process) enough(o *compareOptions, sides [2]*side, c *results.LoadComparison) bool {
	if why := search.Hopeless(c, o.decisive(sides)); why != "" && !o.aa {
		c.Stopped = "stopped after " + text.Count(c.Valid(), "pair") + ": " + why
		p.Logf("%s", c.Stopped)
		return true
	}
	measured := len(c.Blocks)/2 - 1
	if !o.given.Changed("pairs") && timeIsOver(time.Since(c.Started), c.Valid(), measured) {
		c.Pairs = measured
		return true
	}
	return c.Valid() >= o.pairs
}

// timeIsOver reports whether no further pair fits into the usual time, after so many pairs and the one that is
// discarded. What the pairs have shown has no part in it, so that it favours no verdict.
func timeIsOver(elapsed time.Duration, valid, measured int) bool {
	return valid >= leastUsual && elapsed+elapsed/time.Duration(measured+1) > usualTime
}

// brokenOff reports whether a series of runs cannot go on after one of them, and sets why.
func brokenOff(l *results.Load, t *reports.Trouble) bool {
	code := l.Outcome(reports.ExitOptions{}).Code
	switch code {
	case reports.ExitInterrupted:
		t.Interrupted = true
	case reports.ExitInternal:
		t.Internal = l.Internal
	case reports.ExitUnreachable:
		t.Unreachable = cmp.Or(l.Unreachable, l.Gone)
	default:
		return false
	}
	return true
}

// blocks shows how far a series of runs is.
type blocks struct {
	of  int
	now atomic.Pointer[block]
}

// block is a run of a series, and what shows it.
type block struct {
	number int
	name   string
	live   *live
}

// state returns what a line of progress shows.
func (b *blocks) state() (share float64, parts []string) {
	now := b.now.Load()
	if now == nil {
		return 0, nil
	}
	part, figures := now.live.state()
	return (float64(now.number) + part) / float64(b.of), append([]string{now.name}, figures...)
}
