package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/internal/selftest"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

// How long the quick part waits for servers that may never answer. The embedded server answers much sooner.
const (
	quickTimeout  = 3 * time.Second
	quickPatience = 10 * time.Second
)

// oneOf is of how many faults, and variations, one is played where not all are asked for.
const oneOf = 5

// selftestOptions are the flags of `fwpcheck selftest`.
type selftestOptions struct {
	protocol   string
	faults     []string
	all, full  bool
	parallel   int
	noProgress bool
}

// newSelftest builds `fwpcheck selftest`.
func newSelftest(p process) *cobra.Command {
	o := &selftestOptions{}
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "Test the suite itself: all faults are detected, without false alarms",
		Args:  program.NoArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return p.selftest(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.protocol, "protocol", "",
		"test the suite of the `PROTOCOL`: "+strings.Join(peer.Names(), " or ")+" (default: "+peer.Default().Name+")")
	f.StringArrayVar(&o.faults, "fault", nil,
		"only the faults that match `GLOB` (see fwpcheck list --faults), and no variations; may be repeated")
	f.BoolVar(&o.all, "all", false, "play each fault and each variation, not every fifth")
	f.BoolVar(&o.full, "full", false,
		"play all checks on all faults and variations, those too that wait for more than "+
			conformance.QuickWait.String())
	f.IntVar(&o.parallel, "parallel", 64,
		"play at most `N` checks on faults at once, which mostly wait, and a quarter as many variations")
	f.BoolVar(&o.noProgress, "no-progress", false, "show no progress bar")
	return cmd
}

// selftest runs one self-test, from the flags to the exit code.
func (p process) selftest(ctx context.Context, o *selftestOptions) error {
	proof, err := o.proof()
	if err != nil {
		return err
	}
	bar := p.NewBar(!o.noProgress)
	ctx, stop := p.Interruptible(ctx)
	defer stop()
	plays := &progress{begun: time.Now(), total: proof.Size()}
	p.Logf("testing the suite itself in %s", text.Count(plays.total, "play"))
	proof.Progress = plays.over
	bar.Begin(plays.state)
	out := proof.Run(ctx)
	bar.End()
	return p.conclude(proof, out, time.Since(plays.begun))
}

// proof returns the self-test that the flags ask for.
func (o *selftestOptions) proof() (*selftest.Proof, error) {
	if o.parallel < 1 {
		return nil, errors.New("--parallel must be 1 or more")
	}
	of, err := program.PeerNamed(o.protocol)
	if err != nil {
		return nil, err
	}
	if err := of.Refusal("fwpcheck selftest"); err != nil {
		return nil, err
	}
	proof := &selftest.Proof{Parallel: o.parallel, Sample: !o.full && len(o.faults) == 0}
	if !o.full {
		proof.Timeout, proof.Patience = quickTimeout, quickPatience
	}
	for _, f := range selftest.Fixtures(of) {
		part, err := o.part(f)
		if err != nil {
			return nil, &program.InternalError{Cause: err}
		}
		proof.Parts = append(proof.Parts, part)
	}
	if err := o.pick(proof.Parts); err != nil {
		return nil, err
	}
	if proof.Sample && !o.all {
		proof.Thin(oneOf)
	}
	return proof, nil
}

// part returns the checks, faults and variations of a part of the self-test.
func (o *selftestOptions) part(f selftest.Fixture) (part selftest.Part, err error) {
	all, err := f.Checks()
	if err != nil {
		return part, err
	}
	var explorations []conformance.Check
	if f.Client == nil && f.Peer.Properties != nil {
		explorations = f.Peer.Properties()
	}
	if o.full {
		all, explorations = append(all, explorations...), nil
	}
	checks, skipped, err := conformance.Selection{Protocol: f.Peer.Protocol, Quick: !o.full}.Apply(all)
	if err != nil {
		return part, err
	}
	part = selftest.Part{Fixture: f, Checks: checks, Skipped: explorations, Faults: f.Faults()}
	for _, s := range skipped {
		part.Skipped = append(part.Skipped, s.Check)
	}
	if len(o.faults) == 0 {
		part.Variations = f.Variations()
	}
	return part, nil
}

// conclude prints what failed and the counts, and returns the error that ends the command.
func (p process) conclude(proof *selftest.Proof, out *selftest.Outcome, took time.Duration) error {
	table, sum := unproved(out)
	conclusion := reports.Conclusion{Facts: sum.words(proof, out, took), Words: reports.Styled(reports.Good,
		"The self-test passed.")}
	var end error
	switch {
	case out.Stopped:
		conclusion.Words, end = reports.Words("The self-test was interrupted."), program.Exit(reports.ExitInterrupted)
	case len(out.Errors) > 0:
		conclusion.Words, end = nil, &program.InternalError{Cause: errors.Join(out.Errors...)}
	case sum.wrong > 0:
		conclusion.Words, end = reports.Styled(reports.Bad, "The self-test failed."), program.Exit(reports.ExitFindings)
	}
	return cmp.Or(p.PrintPage(reports.Page{Blocks: append(table, conclusion)}), end)
}

// tally is the counts of a self-test.
type tally struct{ caught, later, wrong int }

// words returns the counts in one line.
func (t tally) words(proof *selftest.Proof, out *selftest.Outcome, took time.Duration) string {
	faults, variations, skipped := proof.Counts()
	whereto := "to --full"
	if out.Stopped || skipped == 0 {
		whereto = "open"
	}
	sample := ""
	if proof.OneOf > 0 {
		sample = fmt.Sprintf(" (one of %d, --all plays each)", proof.OneOf)
	}
	return fmt.Sprintf("%d of %s%s detected in %s, %d left %s; %d of %s played; %d tried again; %d wrong; %v",
		t.caught, text.Count(faults, "fault"), sample, text.Count(out.Plays, "play"), t.later, whereto,
		out.Varied, text.Count(variations, "variation"), out.Again, t.wrong, took.Round(100*time.Millisecond))
}

// unproved returns a table, unless it is empty, with a row for each fault that is not detected and for each false
// alarm, and the counts.
func unproved(out *selftest.Outcome) (table []reports.Block, sum tally) {
	var t reports.Table
	sum.wrong = len(out.FalseAlarms)
	for _, r := range out.Matrix.Rows() {
		before := len(t.Rows)
		if missing := r.Missing(); missing != "" && !out.Stopped { // not known after an interruption
			t.Rows = append(t.Rows, reports.Cells(r.Fault.Name, "not detected", missing))
		}
		for _, stray := range r.Unexpected {
			t.Rows = append(t.Rows, reports.Cells(r.Fault.Name, "false alarm", text.FirstLine(stray)))
		}
		wrong := len(t.Rows) > before
		switch {
		case r.Detected():
			sum.caught++
		case !wrong:
			sum.later++
		}
		if wrong {
			sum.wrong++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(out.FalseAlarms)) {
		for _, check := range slices.Sorted(maps.Keys(out.FalseAlarms[name])) {
			t.Rows = append(t.Rows, reports.Cells(name, "false alarm", text.FirstLine(out.FalseAlarms[name][check][0])))
		}
	}
	if len(t.Rows) == 0 {
		return nil, sum
	}
	return []reports.Block{t}, sum
}

// pick leaves the faults that match one of the patterns of the flags, all if there are none.
func (o *selftestOptions) pick(parts []selftest.Part) error {
	namesOf := func(f peer.Fault) []string { return append([]string{f.Name}, f.Aliases...) }
	var names []string
	for _, part := range parts {
		for _, f := range part.Faults {
			names = append(names, namesOf(f)...)
		}
	}
	for _, pattern := range o.faults {
		if bad := matchOne("fault", pattern, names); bad != nil {
			return badPattern(bad, "fault")
		}
	}
	for i := range parts {
		parts[i].Faults = slices.DeleteFunc(parts[i].Faults, func(f peer.Fault) bool {
			return len(o.faults) > 0 && !matches(o.faults, namesOf(f))
		})
	}
	return nil
}
