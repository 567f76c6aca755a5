package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/selftest"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

// How long the quick part waits for servers that may never answer. The embedded server
// is far sooner.
const (
	quickTimeout  = 3 * time.Second
	quickPatience = 10 * time.Second
)

// selftestOptions are the flags of `fwpcheck selftest`.
type selftestOptions struct {
	faults     []string
	full       bool
	parallel   int
	noProgress bool
}

// newSelftest builds `fwpcheck selftest`.
func newSelftest(p process) *cobra.Command {
	o := &selftestOptions{}
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "Prove that the checks catch what is wrong and leave alone what is right",
		Long: "selftest starts servers of its own on this machine: one for each fault of the catalogue, which the\n" +
			"checks that decide its clauses must catch without blaming anything else, and one for each variation\n" +
			"that the specification allows, where they must find nothing. It prints what is not so.\n\n" +
			"Exit codes: 0 the proof holds, 1 it does not, 2 usage, 5 a fault of fwpcheck, 130 interrupted.",
		Example: "  fwpcheck selftest\n" +
			"  fwpcheck selftest --full\n" +
			"  fwpcheck selftest --fault 'fetch-*'",
		Args: program.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.selftest(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.faults, "fault", nil, "only the faults that match `GLOB` (see fwpcheck list --faults), and no variations; may be repeated")
	f.BoolVar(&o.full, "full", false, "play the checks too that have to wait for more than "+conformance.QuickWait.String())
	f.IntVar(&o.parallel, "parallel", 64, "play at most `N` checks on faults at once, which mostly wait, and a quarter as many variations")
	f.BoolVar(&o.noProgress, "no-progress", false, "show no progress bar")
	if err := cmd.RegisterFlagCompletionFunc("fault", program.Complete(program.FaultNames)); err != nil {
		panic(err) // no such flag
	}
	return cmd
}

// selftest is one self-test, from the flags to the exit code.
func (p process) selftest(ctx context.Context, o *selftestOptions) error {
	proof, err := o.proof()
	if err != nil {
		return err
	}
	var watch watcher
	if !o.noProgress && p.WantsProgress() {
		watch.bar = newBar(p.Err, proof.Size())
	}
	proof.Progress = watch.progress()
	p.Err = &shared{w: p.Err}
	ctx, stop := p.Interruptible(ctx)
	defer stop()
	started := time.Now()
	out := proof.Run(ctx)
	watch.end()
	return p.tell(proof, out, time.Since(started))
}

// proof is what the flags ask for.
func (o *selftestOptions) proof() (*selftest.Proof, error) {
	if o.parallel < 1 {
		return nil, errors.New("--parallel has to be 1 or more")
	}
	all, err := suite()
	if err != nil {
		return nil, err
	}
	proof := &selftest.Proof{Parallel: o.parallel, NoCrowds: !o.full}
	checks, skipped, err := conformance.Selection{Quick: !o.full}.Apply(all)
	if err != nil {
		return nil, &program.InternalError{Cause: err}
	}
	proof.Checks = checks
	for _, s := range skipped {
		proof.Skipped = append(proof.Skipped, s.Check)
	}
	if !o.full {
		proof.Timeout, proof.Patience = quickTimeout, quickPatience
	}
	if proof.Faults, err = pickFaults(o.faults); err != nil {
		return nil, err
	}
	if len(o.faults) == 0 {
		proof.Variations = append(fakes.Variations(), fakes.Variation{Name: "conforming"})
	}
	return proof, nil
}

// tally counts what a self-test showed.
type tally struct{ caught, later, wrong int }

// tell prints what does not hold, and counts.
func (p process) tell(proof *selftest.Proof, out *selftest.Outcome, took time.Duration) error {
	sum, err := p.tellFaults(out)
	if err != nil {
		return err
	}
	whereto := "to --full"
	if out.Stopped || len(proof.Skipped) == 0 {
		whereto = "open"
	}
	err = p.Print(fmt.Sprintf("%d of %s caught in %s, %d left %s; %d of %s played; %d tried again; %d wrong; %v\n",
		sum.caught, text.Count(len(proof.Faults), "fault"), text.Count(out.Plays, "play"), sum.later, whereto,
		out.Varied, text.Count(len(proof.Variations), "variation"), out.Again, sum.wrong, took.Round(100*time.Millisecond)))
	switch {
	case err != nil:
		return err
	case out.Stopped:
		return errors.Join(p.Print("The self-test was interrupted.\n"), program.Exit(reports.ExitInterrupted))
	case len(out.Errors) > 0:
		return &program.InternalError{Cause: errors.Join(out.Errors...)}
	case sum.wrong > 0:
		return errors.Join(p.Print("The proof does not hold.\n"), program.Exit(reports.ExitFindings))
	}
	return p.Print("The proof holds.\n")
}

// tellFaults prints a line for each fault that is not caught, and for each check that
// blames what is right.
func (p process) tellFaults(out *selftest.Outcome) (sum tally, err error) {
	sum.wrong = len(out.Blamed)
	err = p.PrintTable(func(row func(cells ...string)) {
		for _, r := range out.Matrix.Rows() {
			lines := notProved(r, out.Stopped)
			for _, cells := range lines {
				row(cells...)
			}
			switch {
			case len(r.Caught) > 0:
				sum.caught++
			case len(lines) == 0:
				sum.later++
			}
			sum.wrong += min(len(lines), 1)
		}
		for _, name := range slices.Sorted(maps.Keys(out.Blamed)) {
			for _, check := range slices.Sorted(maps.Keys(out.Blamed[name])) {
				row(name, "blamed", text.FirstLine(out.Blamed[name][check][0]))
			}
		}
	})
	return sum, err
}

// notProved are the lines about a fault that is not caught, which nobody can say after
// an interruption, or that turns something else red.
func notProved(r *selftest.Row, stopped bool) (lines [][]string) {
	if missing := r.Missing(); missing != "" && !stopped {
		lines = append(lines, []string{r.Fault.Name, "not caught", missing})
	}
	for _, stray := range r.Stray {
		lines = append(lines, []string{r.Fault.Name, "stray", text.FirstLine(stray)})
	}
	return lines
}
