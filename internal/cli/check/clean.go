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
		Short: "Remove jobs that fwpcheck and fwpbench left on a server",
		Args: func(_ *cobra.Command, args []string) error {
			return errorIf(len(args) > 1, fmt.Sprintf("clean takes one run, got %q", args))
		},
		RunE: func(cmd *cobra.Command, args []string) error { return p.clean(cmd.Context(), o, runName(args)) },
	}
	f := o.bindFlags(cmd)
	o.targetFlags.IsHarmless = true
	o.targetFlags.Declare(f, "clean")
	f.DurationVar(&o.timeout, "timeout", 10*time.Second, "the longest wait for a reply")
	return cmd
}

// runName returns the run that the arguments name, by itself or by one of its queues; empty if they name none.
func runName(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return cmp.Or(fwpscript.RunOf(args[0]+"-"), args[0])
}

// clean cleans a server, from the flags to the exit code.
func (p process) clean(ctx context.Context, o *testOptions, run string) error {
	o.targetFlags.Command = "fwpcheck clean"
	at, err := o.targetFlags.Endpoint(o.flags, p.LookupEnv, nil)
	if err = cmp.Or(err,
		errorIf(at.IsPrivate(), "name the server to clean with --url or FAKTORY_URL"),
		errorIf(o.timeout <= 0, "--timeout must be longer than 0")); err != nil {
		return err
	}
	p.Secrets = at.Secrets
	p.Logf("cleaning %s", at)
	ctx, stop := p.AnnounceInterrupt(ctx)
	defer stop()
	if _, err := at.Identify(ctx, o.timeout); err != nil {
		return p.cleanError(ctx, at, err)
	}
	nc, err := at.Server.Dial(ctx)
	if err != nil {
		return p.cleanError(ctx, at, err)
	}
	cleaning, err := fwpscript.Clean(ctx, nc, at.Password, run, o.timeout)
	if printErr := p.PrintPage(cleanPage(cleaning, run)); printErr != nil {
		return printErr
	}
	switch {
	case err != nil:
		return p.cleanError(ctx, at, err)
	case len(cleaning.Remaining) > 0 || !cleaning.HasQueues:
		return shared.Exit(reports.ExitInconclusive)
	}
	return nil
}

// cleanError reports why a server could not be cleaned to the end.
func (p process) cleanError(ctx context.Context, at shared.Endpoint, err error) error {
	if ctx.Err() != nil {
		return shared.Exit(reports.ExitInterrupted)
	}
	if _, ok := errors.AsType[*shared.InternalError](err); ok {
		return err
	}
	p.Logf("%s: %v", at, err)
	return shared.Exit(reports.ExitUnreachable)
}

// cleanPage returns what was removed and what is left.
func cleanPage(cleaning fwpscript.Cleaning, run string) reports.Page {
	var page reports.Page
	lines := func(format string, args ...any) {
		page.Blocks = append(page.Blocks, reports.Prose{Lines: []reports.Text{reports.PlainText(fmt.Sprintf(format,
			args...))}})
	}
	total := 0
	queues := reports.Table{Columns: []reports.Column{{Title: "queue"}, {Title: "removed", AlignRight: true},
		{Title: "left", AlignRight: true}}}
	all := slices.Collect(maps.Keys(cleaning.Removals))
	all = slices.AppendSeq(all, maps.Keys(cleaning.Remaining))
	slices.Sort(all)
	for _, queue := range slices.Compact(all) {
		queues.Rows = append(queues.Rows, reports.Cells(queue, text.GroupDigits(cleaning.Removals[queue]),
			text.GroupDigits(cleaning.Remaining[queue])))
		total += cleaning.Removals[queue]
	}
	owner := "runs of fwpcheck and fwpbench"
	if run != "" {
		owner = "the run " + run
	}
	switch {
	case !cleaning.HasQueues:
		lines("The INFO of the server lists no queues, so the queues of %s could not be found. Nothing was removed.", owner)
	case len(queues.Rows) == 0:
		lines("No queue of %s has jobs.", owner)
	default:
		lines("%s of %s removed.", text.Count(total, "job"), owner)
		page.Blocks = append(page.Blocks, queues)
	}
	if len(cleaning.Sets) > 0 {
		sets := reports.Fields{}
		for _, set := range slices.Sorted(maps.Keys(cleaning.Sets)) {
			sets.Fields = append(sets.Fields, reports.Field{Label: set,
				Lines: reports.LinesOf(text.GroupDigits(cleaning.Sets[set]))})
		}
		lines("The server has more jobs, of this suite or of others, that no command can fetch. Scheduled, retried and " +
			"reserved jobs come back to their queues later: then run clean again.")
		page.Blocks = append(page.Blocks, sets)
	}
	return page
}
