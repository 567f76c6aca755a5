package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/reports"
)

// newClean builds `fwpcheck clean`.
func newClean(p process) *cobra.Command {
	o := &testOptions{}
	cmd := &cobra.Command{
		Use:   "clean [RUN]",
		Short: "Remove the jobs that runs of fwpcheck and fwpbench left on a server",
		Args: func(_ *cobra.Command, args []string) error {
			return refuse(len(args) > 1, fmt.Sprintf("clean takes one run, got %q", args))
		},
		RunE: func(cmd *cobra.Command, args []string) error { return p.clean(cmd.Context(), o, runNamed(args)) },
	}
	f := o.flags(cmd)
	o.targetFlags.Harmless = true
	o.targetFlags.Declare(f, "clean")
	f.DurationVar(&o.timeout, "timeout", 10*time.Second, "the longest wait for a reply")
	return cmd
}

// runNamed returns the run that the arguments name, by itself or by one of its queues; empty if they name none.
func runNamed(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return cmp.Or(fwpscript.RunOf(args[0]+"-"), args[0])
}

// clean cleans a server, from the flags to the exit code.
func (p process) clean(ctx context.Context, o *testOptions, run string) error {
	o.targetFlags.Command = "fwpcheck clean"
	at, err := o.targetFlags.Endpoint(o.given, p.LookupEnv, nil)
	if err = cmp.Or(err,
		refuse(at.Ours(), "name the server to clean with --url or FAKTORY_URL"),
		refuse(o.timeout <= 0, "--timeout must be longer than 0")); err != nil {
		return err
	}
	p.Secrets = at.Secrets
	p.Logf("cleaning %s", at)
	ctx, stop := p.Interruptible(ctx)
	defer stop()
	if _, err := at.Identify(ctx, o.timeout); err != nil {
		return p.notCleaned(ctx, at, err)
	}
	nc, err := at.Server.Dial(ctx)
	if err != nil {
		return p.notCleaned(ctx, at, err)
	}
	done, err := fwpscript.Clean(ctx, nc, at.Password, run, o.timeout)
	if printed := p.PrintPage(cleaned(done, run)); printed != nil {
		return printed
	}
	switch {
	case err != nil:
		return p.notCleaned(ctx, at, err)
	case len(done.Left) > 0 || !done.Shown:
		return shared.Exit(reports.ExitInconclusive)
	}
	return nil
}

// notCleaned reports why a server could not be cleaned to the end.
func (p process) notCleaned(ctx context.Context, at shared.Endpoint, err error) error {
	if ctx.Err() != nil {
		return shared.Exit(reports.ExitInterrupted)
	}
	if _, internal := errors.AsType[*shared.InternalError](err); internal {
		return err
	}
	p.Logf("%s: %v", at, err)
	return shared.Exit(reports.ExitUnreachable)
}

// cleaned returns what was removed and what is left.
func cleaned(done fwpscript.Cleaning, run string) reports.Page {
	var page reports.Page
	lines := func(format string, args ...any) {
		page.Blocks = append(page.Blocks, reports.Prose{Lines: []reports.Text{reports.Words(fmt.Sprintf(format, args...))}})
	}
	removed := 0
	queues := reports.Table{Columns: []reports.Column{{Title: "queue"}, {Title: "removed", Right: true},
		{Title: "left", Right: true}}}
	all := slices.Collect(maps.Keys(done.Removed))
	all = slices.AppendSeq(all, maps.Keys(done.Left))
	slices.Sort(all)
	for _, queue := range slices.Compact(all) {
		queues.Rows = append(queues.Rows, reports.Cells(queue, text.Grouped(done.Removed[queue]),
			text.Grouped(done.Left[queue])))
		removed += done.Removed[queue]
	}
	of := "runs of fwpcheck and fwpbench"
	if run != "" {
		of = "the run " + run
	}
	switch {
	case !done.Shown:
		lines("The INFO of the server lists no queues, so the queues of %s could not be found. Nothing was removed.", of)
	case len(queues.Rows) == 0:
		lines("No queue of %s has jobs.", of)
	default:
		lines("%s of %s removed.", text.Count(removed, "job"), of)
		page.Blocks = append(page.Blocks, queues)
	}
	if len(done.Sets) > 0 {
		sets := reports.Fields{}
		for _, set := range slices.Sorted(maps.Keys(done.Sets)) {
			sets.Fields = append(sets.Fields, reports.Field{Label: set, Lines: reports.LinesOf(text.Grouped(done.Sets[set]))})
		}
		lines("The server has more jobs, of this suite or of others, that no command can fetch. Scheduled, retried and " +
			"reserved jobs come back to their queues later: then run clean again.")
		page.Blocks = append(page.Blocks, sets)
	}
	return page
}
