package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// newRun builds `fwpcheck run`.
func newRun(p Process) *cobra.Command {
	o := &runOptions{format: newOneOf("text", "json"), color: newOneOf("auto", "always", "never")}
	cmd := &cobra.Command{
		Use:   "run [FILE...|-]",
		Short: "Judge a server with the suite's checks, or with scripts of your own",
		Long: "run judges the server of --url, else the one in the variable that FAKTORY_PROVIDER names, else\n" +
			"the one of FAKTORY_URL, else an embedded server. Without files it plays the checks of the suite;\n" +
			"with files, folders or - for standard input it plays those scripts only.\n\n" +
			"Exit codes: 0 all well, 1 findings, 2 usage, 3 something is undecided, 4 no FWP server there,\n" +
			"5 a fault of fwpcheck, 130 interrupted.",
		Example: "  fwpcheck run --url tcp://localhost:7419\n" +
			"  fwpcheck run --quick --url tcp://localhost:7419\n" +
			"  fwpcheck run --check 'fetch/*' --level MUST --url tcp+tls://:PASSWORD@faktory.example\n" +
			"  fwpcheck run my-bug.fwp -v --url tcp://localhost",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"fwp"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.given = cmd.Flags()
			return p.run(cmd.Context(), o, args)
		},
	}
	o.declare(cmd)
	return cmd
}

// run is one run, from the flags to the exit code.
func (p Process) run(ctx context.Context, o *runOptions, args []string) error {
	if err := o.settle(); err != nil {
		return err
	}
	if err := writable(o.output); err != nil { // rather now than after minutes
		return err
	}
	chosen, err := p.pick(o, args)
	if err != nil {
		return err
	}
	j, err := o.judged(p.LookupEnv)
	if err != nil {
		return err
	}
	showBar := !o.noProgress && !o.verbose && p.wantsProgress()
	terminal := p.Err
	p.Err = &shared{w: p.Err}
	p.say("judging %s, seed %d", j, o.seed)
	ctx, stop := p.interruptible(ctx)
	defer stop()
	started := time.Now()
	on, err := j.open(ctx, o.timeout)
	if err != nil {
		return p.deliver(o.delivery(unjudged(ctx, o, j, started, err)))
	}
	defer on.end()
	if wait := chosen.wait(); wait > conformance.QuickWait {
		p.say("%s must wait, the longest for %v; --quick leaves them out",
			text.Count(chosen.waiting(), "check"), wait.Round(time.Second))
	}
	watch := watcher{}
	if showBar {
		watch.bar = newBar(terminal, len(chosen.in)*o.repeat)
	}
	if o.verbose {
		watch.out, watch.named = p.Err, len(chosen.in) > 1
	}
	return p.deliver(o.delivery(judge(ctx, o, j, on, chosen, watch)))
}

// interruptible is ctx until the first SIGINT or SIGTERM. The second one finds
// nobody who waits for it and ends the process.
func (p Process) interruptible(ctx context.Context) (context.Context, func()) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	tell := sync.OnceFunc(func() {
		stop()
		p.say("interrupted: the report follows; interrupt again to end at once")
	})
	forget := context.AfterFunc(ctx, tell)
	return ctx, func() {
		if !forget() || ctx.Err() != nil {
			tell()
		}
		stop()
	}
}

// unjudged says in a report why nothing could be judged.
func unjudged(ctx context.Context, o *runOptions, j judged, started time.Time, err error) *reports.Report {
	r := &reports.Report{
		Started: started, Took: time.Since(started), Seed: o.seed, Version: "fwpcheck " + version(), Target: j.target(""),
	}
	blame(ctx, r, err)
	return r
}

// judge runs the chosen checks on a server.
func judge(ctx context.Context, o *runOptions, j judged, on stand, chosen picked, watch watcher) *reports.Report {
	runner := &conformance.Runner{
		Servers: on.servers, Scripts: chosen.in, Left: chosen.out, Properties: conformance.Properties(),
		Prepare: on.prepare, Provide: provide(j), Reproduce: o.reproducer(j, chosen.own),
		Timeout: o.timeout, Patience: o.patience, Parallel: o.parallel, Seed: o.seed,
		Repeat: o.repeat, FailFast: o.failFast, Quick: o.selection.Quick,
		Watch: watch.lines(), Progress: watch.progress(),
	}
	r := runner.Run(ctx)
	watch.end()
	r.Version, r.Target = "fwpcheck "+version(), j.target(on.hi)
	if j.Embedded { // the servers are gone, and what was left on them too
		for i := range r.Checks {
			r.Checks[i].Left = nil
		}
	}
	if chosen.own { // a report on somebody's script is none on the catalogue
		r.Clauses = slices.DeleteFunc(r.Clauses, func(c reports.Clause) bool { return len(c.Checks) == 0 })
	}
	return r
}

// blame says in a report why nothing could be judged.
func blame(ctx context.Context, r *reports.Report, err error) {
	there, unreachable := errors.AsType[*unreachableError](err)
	switch {
	case ctx.Err() != nil:
		r.Interrupted = true
	case unreachable:
		r.Unreachable = there.Error()
	default:
		r.Internal = err.Error()
	}
}

// picked is what is played.
type picked struct {
	in  []*scenarios.Script
	out []conformance.Left
	own bool // scripts of the user's, not the suite's
}

// wait is how long the run must take at least, because of what can only be seen
// by waiting.
func (c picked) wait() time.Duration {
	var longest time.Duration
	for _, s := range c.in {
		longest = max(longest, s.Wait())
	}
	return longest
}

// waiting counts the checks that a quick run leaves out.
func (c picked) waiting() int {
	n := 0
	for _, s := range c.in {
		if s.Wait() > conformance.QuickWait {
			n++
		}
	}
	return n
}

// pick reads the scripts and selects from them.
func (p Process) pick(o *runOptions, args []string) (picked, error) {
	all, err := p.load(args)
	if err != nil {
		return picked{}, err
	}
	in, out, err := o.selection.Apply(all)
	if err != nil {
		return picked{}, badSelection(err, all)
	}
	return picked{in, out, len(args) > 0}, nil
}

// load reads the user's scripts, or the suite's if there are none. What is
// wrong in a script is told here, all of it.
func (p Process) load(args []string) ([]*scenarios.Script, error) {
	if len(args) == 0 {
		return checks()
	}
	files, err := p.read(args)
	if err != nil {
		return nil, err
	}
	scripts, found := examine(files)
	if wrong := mistakes(found); len(wrong) > 0 {
		p.say("%s in %s: nothing was played\n%s", text.Count(len(wrong), "mistake"), text.Count(len(files), "script"), wrong)
		return nil, exit(reports.ExitUsage)
	}
	return scripts, nil
}
