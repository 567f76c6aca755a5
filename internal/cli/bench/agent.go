package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/agents"
	"github.com/fwpsuite/fwp/load/arrivals"
	"github.com/fwpsuite/fwp/load/judge"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/workload"
	"github.com/fwpsuite/fwp/reports"
)

// agentOptions are the flags of `fwpbench agent`.
type agentOptions struct {
	name        string
	rate        string
	connections int
	processors  int
	within      time.Duration
	metrics     metricsFlag
	nats        natsFlags

	mostRate workload.Rate
}

// newAgent builds `fwpbench agent`.
func newAgent(p process) *cobra.Command {
	o := &agentOptions{}
	cmd := &cobra.Command{
		Use:   "agent URL",
		Short: "Put a segment of a load on a server, for a coordinator",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("which coordinator? Give the URL that fwpbench run --agents has printed")
			}
			return nil
		},
		ValidArgsFunction: program.Complete(func() []string { return nil }),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate(cmd.Flags().Changed("processors")); err != nil {
				return err
			}
			return p.agent(cmd.Context(), o, args[0])
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.name, "name", "", "be `NAME` in the report (default: the name of the machine, and the process)")
	f.StringVar(&o.rate, "max-rate", "", "refuse a plan with more than `N` arrivals a second for this agent, as in 5000/s")
	f.IntVar(&o.connections, "max-connections", 0, "refuse a plan with more than `N` connections for this agent")
	f.IntVar(&o.processors, "processors", 0, "use `N` CPUs (GOMAXPROCS); if not given, as fwpbench run does")
	f.DurationVar(&o.within, "within", time.Minute, "give up unless the coordinator is there within that time")
	o.metrics.declare(f)
	o.nats.declareFiles(cmd)
	return cmd
}

// validate checks the values that no flag checks by itself.
func (o *agentOptions) validate(processors bool) (err error) {
	if o.rate != "" {
		if o.mostRate, err = parseRate("max-rate", o.rate); err != nil {
			return err
		}
	}
	switch {
	case o.connections < 0:
		return errors.New("--max-connections must be 0 (no limit) or more")
	case processors && o.processors < 1:
		return errors.New("--processors must be 1 or more")
	case strings.ContainsFunc(o.name, func(r rune) bool { return r <= ' ' }):
		return fmt.Errorf("--name %q has a blank in it", o.name)
	case o.within <= 0:
		return errors.New("--within must be more than 0")
	}
	if o.name == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "agent"
		}
		o.name = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	return nil
}

// agent takes part in one run.
func (p process) agent(ctx context.Context, o *agentOptions, url string) error {
	token := agents.UserOf(url)
	if given, ok := p.LookupEnv(tokenVariable); ok && given != "" {
		token = given
	}
	if token == "" {
		return fmt.Errorf("there is no token: it stands before the host in the URL that the coordinator has printed, or in "+
			"the variable %s", tokenVariable)
	}
	access, err := o.nats.access(url, token)
	if err != nil {
		return err
	}
	ctx, stop := p.Interruptible(ctx)
	defer stop()
	conn, err := agents.ConnectWithin(ctx, access, o.name, o.within)
	if err != nil {
		return p.ended(ctx, err)
	}
	defer conn.Close()
	a := agents.Agent{
		Conn: conn, Token: token, Name: o.name, Version: p.Name + " " + program.Version(), Within: o.within, Log: p.Logf,
		Load: func(ctx context.Context, task agents.Task) *load.Result { return p.agentLoad(ctx, o, task) },
	}
	report, err := a.Serve(ctx)
	if report != nil {
		_, words := report.Outcome()
		p.Logf("segment %s: %s", report.Plan.Segment, words)
	}
	return p.ended(ctx, err)
}

// ended returns the exit code of an agent, and logs what went wrong.
func (p process) ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil {
		p.Logf("%v", err)
	}
	switch {
	case ctx.Err() != nil:
		return program.Exit(reports.ExitInterrupted)
	case err == nil:
		return nil
	case errors.Is(err, agents.ErrSilent), errors.Is(err, agents.ErrNotRun):
		return program.Exit(reports.ExitInconclusive)
	}
	return program.Exit(reports.ExitUnreachable)
}

// agentLoad puts a segment of a load on its target, and returns the result. A plan that cannot be carried out is one
// that did not begin.
func (p process) agentLoad(ctx context.Context, o *agentOptions, task agents.Task) *load.Result {
	began := time.Now()
	plan, config, err := p.segmentOf(o, task)
	password, _ := p.LookupEnv(passwordVariable)
	if err == nil && plan.Locked && password == "" {
		err = errors.New("the target asks for a password: set " + passwordVariable + " for this agent")
	}
	if err != nil {
		l := &results.Load{
			Version: config.Version, Run: task.Run, Started: began, Took: time.Since(began),
			Plan: results.LoadPlan{Segment: task.Segment.String()}, NotStarted: err.Error(),
		}
		judge.Evaluate(l)
		return &load.Result{Report: l}
	}
	flags := plan.flags(o)
	at, err := plan.endpoint(password)
	if err == nil {
		err = cmp.Or(flags.batches(&at, &config.Workload), flags.prepareMachine(&config.Workload, local(at)))
	}
	if err != nil {
		return &load.Result{Report: notReached(ctx, &config, began, err)}
	}
	prepared := flags.config(p, config.Workload)
	prepared.Run, prepared.Segment, prepared.Seed = task.Run, config.Segment, plan.Seed
	prepared.Pace /= float64(task.Segment.Parts())
	prepared.Start, prepared.Crossing = task.Start, task.Crossing
	watch, end, err := o.metrics.serve(p, task.Watch)
	if err != nil {
		return &load.Result{Report: notReached(ctx, &prepared, began, &program.InternalError{Cause: err})}
	}
	defer end()
	prepared.Watch = watch
	result, err := flags.on(ctx, at, prepared, 0, func(c *load.Config) {
		p.Logf("loading %s: segment %s", c.Target.URL, load.PlanOf(*c).Segment)
	})
	if err != nil {
		return &load.Result{Report: notReached(ctx, &prepared, began, err)}
	}
	return result
}

// segmentOf reads the plan, and returns it with the workload of the segment. It is an error if that is beyond the
// limits of this agent.
func (p process) segmentOf(o *agentOptions, task agents.Task) (plan agentLoad, config load.Config, err error) {
	config = load.Config{
		Run: task.Run, Segment: task.Segment, Version: p.Name + " " + program.Version(),
	}
	if err := json.Unmarshal(task.Plan.Load, &plan); err != nil {
		return plan, config, fmt.Errorf("the plan cannot be read: %w", err)
	}
	whole, err := workload.Parse("plan", []byte(plan.Workload))
	if err != nil {
		return plan, config, fmt.Errorf("the plan cannot be read: %w", err)
	}
	if config.Workload, config.Segment, err = shareOf(&whole, task.Segment, task.Plan.Crosses, plan.Pushing); err != nil {
		return plan, config, err
	}
	if n := load.Connections(&config.Workload); o.connections > 0 && n > o.connections {
		return plan, config, fmt.Errorf("its segment has %d connections, and --max-connections allows %d", n, o.connections)
	}
	if o.mostRate > 0 && config.Workload.Producers+config.Workload.Connections > 0 {
		return plan, config, o.checkRate(whole.Plan(plan.Seed), config.Segment)
	}
	return plan, config, nil
}

// shareOf returns the workload of an agent, and its segment.
func shareOf(
	whole *workload.Workload, s workload.Segment, crosses bool, pushing int,
) (workload.Workload, workload.Segment, error) {
	if crosses {
		return workload.Crossing{Pushing: pushing}.Segment(whole, s)
	}
	part, err := whole.Segment(s)
	return part, s, err
}

// checkRate returns an error if the segment of a plan has a higher rate than this agent allows.
func (o *agentOptions) checkRate(plan *arrivals.Plan, s workload.Segment) error {
	if plan == nil {
		return fmt.Errorf("a closed loop has no rate, and --max-rate allows %v", o.mostRate)
	}
	for _, stage := range plan.Stages {
		if rate := workload.Rate(max(stage.From, stage.To) / float64(s.Parts())); rate > o.mostRate {
			return fmt.Errorf("its segment has %v, and --max-rate allows %v", rate, o.mostRate)
		}
	}
	return nil
}

// flags returns the flags that the plan stands for.
func (l *agentLoad) flags(o *agentOptions) *loadFlags {
	flags := newLoadFlags()
	_ = flags.overload.Set(l.Overload) // a word that is not known is of another version, which was refused
	_ = flags.engine.Set(l.Engine)
	flags.pace, flags.timeout, flags.requests, flags.processors = l.Pace, l.Timeout, l.Requests, o.processors
	return &flags
}

// endpoint returns the target of the plan, which has a password where the plan says so.
func (l *agentLoad) endpoint(password string) (program.Endpoint, error) {
	flags := program.TargetFlags{TLS: l.TLS}
	at, err := flags.At(l.URL)
	if at.Choice.How = "from the plan"; l.Locked {
		at.Password, at.Secrets = password, target.NewSecrets(password)
	}
	return at, err
}
