package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/validity"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
	"github.com/fwpsuite/fwp/protocols/fwp/workerload"
)

// workerOptions are the flags of `fwpbench worker`.
type workerOptions struct {
	benchOptions
	workerFlags
	subject shared.SubjectFlag
}

// workerFlags are those that concern the worker.
type workerFlags struct {
	concurrency  int
	startTimeout time.Duration
}

// newWorker builds `fwpbench worker`.
func newWorker(p process) *cobra.Command {
	o := &workerOptions{benchOptions: benchOptions{loadFlags: newLoadFlags()}}
	cmd := &cobra.Command{
		Use:   "worker [flags] -- COMMAND [ARG...]",
		Short: "Measure a worker library: jobs per second, idle time, CPU and memory per job",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("worker: no command was given; write it after --, as in: fwpbench worker -- node worker.mjs")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.flags = cmd.Flags()
			return p.benchWorker(cmd.Context(), o, args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.SetInterspersed(false) // the flags of COMMAND are its own
	o.declareWorkload(f, workerload.Settings()...)
	f.Lookup("duration").DefValue, f.Lookup("warmup").DefValue = workerload.DefaultDuration.String(),
		defaultWarmup.String()
	o.workerFlags.declare(cmd)
	o.declareThresholds(cmd)
	o.declareShown(f)
	o.subject.Declare(f)
	o.reportFlags.Declare(cmd, "print a line every second")
	return cmd
}

func (o *workerFlags) declare(cmd *cobra.Command) {
	cmd.Flags().IntVar(&o.concurrency, "concurrency", defaultConcurrency, "tell the worker to run `N` jobs at a time")
	cmd.Flags().DurationVar(&o.startTimeout, "start-timeout", defaultStartTimeout,
		"the longest wait for the first FETCH of COMMAND")
}

// What a worker is told, and how long its start may take, unless the user says otherwise.
const (
	defaultConcurrency  = 10
	defaultStartTimeout = 90 * time.Second
)

// defaultWarmup is not measured, unless there is a number of jobs.
const defaultWarmup = plan.Duration(time.Second)

// validate checks the values that no flag checks by itself.
func (o *workerOptions) validate() (err error) {
	if o.parsedThresholds, err = parseThresholds(o.thresholds); err != nil {
		return err
	}
	if o.tablePercentiles, err = parsePercentiles(o.percentiles); err != nil {
		return err
	}
	return cmp.Or(o.workerFlags.validate(), o.subject.Check(1), o.reportFlags.Validate(),
		target.NeedShell("fwpbench worker"))
}

func (o *workerFlags) validate() error {
	switch {
	case o.concurrency < 1:
		return fmt.Errorf("--concurrency %d: it is 1 or more", o.concurrency)
	case o.startTimeout <= 0:
		return errors.New("--start-timeout must be more than 0")
	}
	return nil
}

// benchWorker is one run, from the flags to the exit code.
func (p process) benchWorker(ctx context.Context, o *workerOptions, words []string) error {
	w, err := o.workload(nil)
	if err := cmp.Or(o.validate(), err); err != nil {
		return err
	}
	if !o.flags.Changed("warmup") && w.JobLimit == 0 {
		w.Warmup = defaultWarmup
	}
	outputs, err := o.open()
	if err != nil {
		return err
	}
	defer outputs.Discard()
	c := o.workerConfig(p, workerload.ForWorker(w), words)
	if err := o.subject.Apply(0, &c.Subject); err != nil {
		return err
	}
	bar := p.NewBar(!o.reportFlags.NoProgress && !o.reportFlags.IsVerbose)
	ctx, stop := p.AnnounceInterrupt(ctx)
	defer stop()
	p.Logf("measuring %s: %s; seed %d", c.Command, workerload.Describe(c.Workload, c.Concurrency), w.Seed)
	live := newLive(o.reportFlags.IsVerbose, &c.Workload, p.Err)
	c.Thresholds, c.Percentiles, c.Watch = o.parsedThresholds, o.tablePercentiles, outputs.watch(live)
	bar.Begin(live.state)
	result := workerload.Run(ctx, c)
	bar.End()
	return p.finish(&o.benchOptions, outputs, result)
}

// workerConfig returns the configuration of a run. The server of the suite gets half of the processors.
func (o *workerFlags) workerConfig(p process, w plan.Workload, words []string) workerload.Config {
	processors := max(1, runtime.NumCPU()/2)
	runtime.GOMAXPROCS(processors)
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = text.ShellQuote(word)
	}
	command := target.RedactCommand(strings.Join(quoted, " "))
	return workerload.Config{
		Start: launcher(words), Command: command, Subject: shared.CommandSubject(command, words), Run: load.NewRunName(),
		Version: p.Name + " " + shared.Version(), Workload: w, Concurrency: o.concurrency, Patience: o.startTimeout,
		Processors: processors,
	}
}

// launcher returns what starts a command in the environment that fwpcheck worker gives.
func launcher(words []string) func(string, []string, int) (workerload.Program, error) {
	return func(url string, queues []string, concurrency int) (workerload.Program, error) {
		started, err := fwpsituations.Command{Words: words}.Launch(fwpsituations.Environment{
			URL: url, Queues: queues, Concurrency: concurrency,
		})
		if err != nil {
			return nil, err
		}
		return workerProcess{started}, nil
	}
}

// workerProcess is a worker that was started.
type workerProcess struct{ fwpsituations.Process }

// Usage is what the worker and all that it started use: of that the supervisor above them is next to nothing.
func (m workerProcess) Usage() (validity.Usage, bool) {
	process, ok := m.Process.(interface{ PID() int })
	if !ok {
		return validity.Usage{}, false
	}
	return validity.TreeByShares(process.PID())
}
