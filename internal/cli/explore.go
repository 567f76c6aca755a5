package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// exploreOptions are the flags of `fwpcheck explore`.
type exploreOptions struct {
	aim         aim
	fault       string
	allowShared bool

	time               time.Duration
	steps, connections int
	seed               uint64
	findings           int
	timeout, patience  time.Duration
	longest            time.Duration
	noShrink           bool
	folder             string

	format, color       oneOf
	output              string
	strict              bool
	verbose, noProgress bool
	given               *pflag.FlagSet
}

// newExplore builds `fwpcheck explore`.
func newExplore(p Process) *cobra.Command {
	o := &exploreOptions{format: newOneOf("text", "json"), color: newOneOf("auto", "always", "never")}
	cmd := &cobra.Command{
		Use:   "explore",
		Short: "Walk a server through states that nobody listed, and turn what is wrong into a script",
		Long: "explore makes up commands over several connections (legal ones, some that are illegal in their state,\n" +
			"malformed ones, disconnects), holds every reply and the history of every job against the model of the\n" +
			"specification, and makes what it finds small: a script that `fwpcheck run` plays.\n\n" +
			"It works on queues, jobs and workers of its own, and removes what it leaves.\n\n" +
			"Exit codes: 0 nothing found, 1 findings, 2 usage, 3 nothing was decided, 4 no FWP server there,\n" +
			"5 a fault of fwpcheck, 130 interrupted.",
		Example: "  fwpcheck explore --url tcp://localhost:7419\n" +
			"  fwpcheck explore --time 10m --seed 42 --url tcp://localhost:7419\n" +
			"  fwpcheck explore --fault reply-swapped        the embedded server, with a fault of the catalogue",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.given = cmd.Flags()
			return p.explore(cmd.Context(), o)
		},
	}
	o.declare(cmd)
	return cmd
}

func (o *exploreOptions) declare(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	o.aim.declare(f, "explore")
	f.StringVar(&o.fault, "fault", "", "give the embedded server the fault `NAME` of the catalogue, to see what is found")
	f.BoolVar(&o.allowShared, "allow-shared", false, "nobody else uses the server: try what touches other clients' jobs too, FLUSH among it")
	f.DurationVar(&o.time, "time", 0, "explore for so long (if neither this nor --steps is given: 20,000 commands)")
	f.IntVar(&o.steps, "steps", 0, "send `N` commands at most")
	f.IntVar(&o.connections, "connections", 6, "use `N` connections at a time, and two more that must never notice anything")
	f.Uint64Var(&o.seed, "seed", 0, "what the commands are drawn from (random if not given)")
	f.IntVar(&o.findings, "findings", 10, "stop after `N` findings")
	f.DurationVar(&o.timeout, "timeout", 5*time.Second, "the longest wait for a reply")
	f.DurationVar(&o.patience, "patience", 150*time.Second, "the longest wait for what happens eventually")
	f.DurationVar(&o.longest, "wait", 0, "let all clients wait together, for up to so long: reservations and retries show only then")
	f.BoolVar(&o.noShrink, "no-shrink", false, "do not make findings small")
	f.StringVar(&o.folder, "save", ".", "put scripts and whole runs of findings into `FOLDER`")
	f.BoolVar(&o.strict, "strict", false, "take what is recommended for required: a warn is a finding")
	f.Var(&o.format, "format", "how the report is written")
	f.StringVarP(&o.output, "output", "o", "", "write the report to `FILE` instead of standard output")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "list all outcomes that were seen")
	f.Var(&o.color, "color", "colour in the report")
	f.BoolVar(&o.noProgress, "no-progress", false, "show no progress")
	for flag, words := range map[string]func() []string{
		"fault":  faultNames,
		"format": func() []string { return o.format.words },
		"color":  func() []string { return o.color.words },
	} {
		if err := cmd.RegisterFlagCompletionFunc(flag, complete(words)); err != nil {
			panic(err) // no such flag
		}
	}
}

// settle checks the values that no flag checks by itself, and draws the seed.
func (o *exploreOptions) settle() error {
	switch {
	case o.time < 0 || o.longest < 0:
		return errors.New("--time and --wait cannot be less than 0")
	case o.given.Changed("steps") && o.steps < 1:
		return errors.New("--steps has to be 1 or more")
	case o.connections < 1 || o.findings < 1:
		return errors.New("--connections and --findings have to be 1 or more")
	case o.timeout <= 0 || o.patience <= 0:
		return errors.New("--timeout and --patience have to be longer than 0")
	case o.given.Changed("output") && o.output == "":
		return errors.New("--output is empty: it names a file")
	}
	if o.steps == 0 && o.time == 0 {
		o.steps = 20000
	}
	if !o.given.Changed("seed") {
		o.seed = rand.Uint64()
	}
	_, err := faultNamed(o.fault)
	return err
}

// explore is one exploration, from the flags to the exit code.
func (p Process) explore(ctx context.Context, o *exploreOptions) error {
	if err := o.settle(); err != nil {
		return err
	}
	at, err := o.aim.at(o.given, p.LookupEnv, "allow-shared")
	if err != nil {
		return err
	}
	if !at.Embedded && o.fault != "" {
		return errors.New("--fault goes with the embedded server: a server of yours has its own")
	}
	showBar := !o.noProgress && p.wantsProgress()
	terminal := p.Err
	p.Err = &shared{w: p.Err}
	p.say("exploring %s, seed %d", at, o.seed)
	ctx, stop := p.interruptible(ctx)
	defer stop()
	e := &reports.Exploration{Started: time.Now(), Seed: o.seed, Version: "fwpcheck " + version(), Target: reports.Target{Chosen: at.How}}
	if !at.Embedded {
		e.Target.URL = at.Address.String()
	}
	x, end, err := o.explorer(ctx, at, e)
	switch {
	case err != nil && ctx.Err() != nil:
		e.Interrupted = true
		return p.deliver(o.delivery(e))
	case err != nil:
		var there *unreachableError
		if errors.As(err, &there) {
			e.Unreachable = err.Error()
		} else {
			e.Internal = err.Error()
		}
		return p.deliver(o.delivery(e))
	}
	defer end()
	var watch watcher
	if showBar {
		watch.bar = newBar(terminal, o.steps)
		x.Progress = func(commands int, c *explore.Coverage) {
			watch.bar.show(commands, o.steps, fmt.Sprintf("%d commands, %d outcomes", commands, len(c.Outcomes)))
		}
	}
	keep := keeper{p: p, folder: o.folder}
	x.Found = keep.whole
	result := x.Run(ctx)
	watch.end()
	e.Interrupted = ctx.Err() != nil
	keep.fill(e, result)
	return p.deliver(o.delivery(e))
}

// explorer is what the flags ask for, on the server that is meant.
func (o *exploreOptions) explorer(ctx context.Context, at aimed, e *reports.Exploration) (x *explore.Explorer, end func(), err error) {
	x = &explore.Explorer{
		Password: at.password, Seed: o.seed, Steps: o.steps, Time: o.time, Connections: o.connections,
		Timeout: o.timeout, Patience: o.patience, Longest: o.longest, Alone: o.allowShared || at.Embedded,
		Findings: o.findings, Unshrunk: o.noShrink,
	}
	if !at.Embedded {
		id, err := at.identify(ctx, o.timeout)
		x.Target, e.Target.HI = at.server, id.Greeting
		return x, func() {}, err
	}
	start := func() (scenarios.Target, func(), error) {
		config := fakes.Config{}
		fault, err := faultNamed(o.fault)
		if err == nil && fault.Hook != nil {
			config.Hook = fault.Hook()
		}
		server, end, err := embed(config)
		return server.Target, end, err
	}
	x.Fresh = start
	x.Target, end, err = start()
	return x, end, err
}

// keeper saves what an exploration finds, at once.
type keeper struct {
	p      Process
	folder string
	runs   []string // files of whole runs, in the order of the findings
	wrong  error
}

// whole saves the exploration up to a finding before it is made small.
func (k *keeper) whole(f explore.Finding) {
	name := filepath.Join(k.folder, fmt.Sprintf("%s-%d.run.json", f.Clause, len(k.runs)+1))
	run, err := json.MarshalIndent(f.Whole, "", " ")
	if err != nil && k.wrong == nil {
		k.wrong = fmt.Errorf("save a finding: %w", err)
	}
	k.save(name, run)
	k.runs = append(k.runs, name)
	k.p.say("found %s after %d commands: %s; saved as %s", f.Clause, f.Commands, f.What, name)
}

func (k *keeper) save(name string, content []byte) {
	err := os.MkdirAll(k.folder, 0o755) //nolint:gosec // scripts are no secret
	if err == nil {
		err = os.WriteFile(name, content, 0o644) //nolint:gosec // nor are runs
	}
	if err != nil && k.wrong == nil {
		k.wrong = fmt.Errorf("save a finding: %w", err)
	}
}

// fill writes what was found into the report, and each script into its file.
func (k *keeper) fill(e *reports.Exploration, r *explore.Result) {
	e.Took, e.Commands, e.Left = r.Took, r.Commands, r.Left
	e.States, e.Transitions, e.Outcomes = maps.Clone(r.Coverage.States), maps.Clone(r.Coverage.Transitions), maps.Clone(r.Coverage.Outcomes)
	for i, f := range r.Findings {
		found := reports.Explored{
			Finding: reports.Finding{Clause: f.Clause, Verdict: reports.Fail, Check: "explore", Expected: f.Expected, Got: f.Got, Seen: f.What},
			After:   f.Commands, Script: f.Script, Shown: f.Shown, Tried: f.Tried,
		}
		if c, ok := conformance.ClauseByID(f.Clause); ok {
			found.Level, found.Statement, found.Verdict = c.Level, c.Statement, c.Breach()
		}
		if f.Crash {
			found.Verdict = reports.Crash
		}
		if i < len(k.runs) {
			found.Run = k.runs[i]
		}
		if f.Script != "" {
			found.Path = filepath.Join(k.folder, fmt.Sprintf("%s-%d.fwp", f.Clause, i+1))
			k.save(found.Path, []byte(f.Script))
			found.Reproduce = "fwpcheck run " + quoted(found.Path)
		}
		e.Findings = append(e.Findings, found)
	}
	if k.wrong != nil {
		e.Internal = k.wrong.Error()
	}
}

// delivery is a report of `explore`.
func (o *exploreOptions) delivery(e *reports.Exploration) delivery {
	exit := reports.ExitOptions{Strict: o.strict}
	return delivery{
		file: o.output, format: o.format.value, color: o.color.value, unreachable: e.Unreachable,
		write: func(w io.Writer, colored bool) error {
			if o.format.value == "json" {
				return reports.WriteExplorationJSON(w, e)
			}
			return reports.WriteExplorationText(w, e, reports.TextOptions{Color: colored, Verbose: o.verbose, Exit: exit})
		},
		outcome: func() (int, string) { return e.Outcome(exit) },
		fail:    func(why string) { e.Internal = why },
	}
}
