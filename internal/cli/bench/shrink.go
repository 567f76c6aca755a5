package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/minimize"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/disrupt"
	"github.com/fwpsuite/fwp/load/workload"
	"github.com/fwpsuite/fwp/reports"
)

// shrinkOptions are the flags of `fwpbench shrink`.
type shrinkOptions struct {
	loadFlags

	time time.Duration
}

// newShrink builds `fwpbench shrink`.
func newShrink(p process) *cobra.Command {
	o := &shrinkOptions{loadFlags: newLoadFlags()}
	cmd := &cobra.Command{
		Use:   "shrink REPORT",
		Short: "Find the fewest disruptions of a run that still lose a job",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("want the report of one run with disruptions, as in fwpbench shrink run.json: got %d files",
					len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.given = cmd.Flags()
			return p.shrink(cmd.Context(), o, args[0])
		},
	}
	o.declareTarget(cmd, "the embedded server with the fault `NAME`")
	cmd.Flags().DurationVar(&o.time, "time", 30*time.Minute, "take at most this long, but for the last run")
	return cmd
}

// shrink searches, from the report to the schedule.
func (p process) shrink(ctx context.Context, o *shrinkOptions, file string) error {
	w, schedule, err := disruptedRun(file)
	if err != nil {
		return err
	}
	at, err := o.targetFlags.Endpoint(o.given, p.LookupEnv, nil)
	if err == nil {
		o.timeout = greetTimeout
		err = cmp.Or(o.fits(&at, &w, o.fault), disruptable(at, schedule),
			o.commands(&at, &w, schedule), o.prepareMachine(&w, local(at)))
	}
	if err != nil {
		return err
	}
	p.Secrets = at.Secrets
	ctx, stop := p.Interruptible(ctx)
	defer stop()
	s := &shrinking{log: p.Logf, lost: func(ctx context.Context, part []disrupt.Disruption) (int64, error) {
		config := o.config(p, w)
		config.Run, config.Schedule = load.NewRun(), part
		return o.lost(ctx, at, config)
	}}
	found, err := s.search(ctx, schedule, o.time)
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return program.Exit(reports.ExitInterrupted)
	case found == "":
		p.Logf("no job was lost again in %s with all disruptions", text.Count(s.runs, "run"))
		return program.Exit(reports.ExitInconclusive)
	}
	if err := p.Print(found); err != nil {
		return err
	}
	return program.Exit(reports.ExitLoss)
}

// lost puts a load on the server, and counts the jobs that were lost.
func (o *shrinkOptions) lost(ctx context.Context, at program.Endpoint, config load.Config) (int64, error) {
	r, err := o.once(ctx, at, config, embedding{protocol: at.Peer.Name, fault: o.fault}, nil)
	switch {
	case err != nil:
		return 0, err
	case r.Report.Unreachable != "" && r.Report.Jobs.Pushed == 0:
		return 0, &program.UnreachableError{Cause: errors.New(r.Report.Unreachable)}
	}
	return r.Report.Jobs.Lost, nil
}

// disruptedRun reads the load and the schedule of a report.
func disruptedRun(file string) (w workload.Workload, schedule []disrupt.Disruption, err error) {
	l, err := savedLoad(file)
	if err != nil {
		return w, nil, fmt.Errorf("%s: %w", file, err)
	}
	var lines strings.Builder
	if l.Disruptions != nil {
		for _, d := range l.Disruptions.List {
			if d.Planned != "" {
				lines.WriteString("- " + d.Planned + "\n")
			}
		}
	}
	if lines.Len() == 0 {
		return w, nil, fmt.Errorf("%s has no schedule of disruptions: give the report of a run with --disrupt or "+
			"--disrupt-every", file)
	}
	if schedule, err = disrupt.Parse(file, []byte(lines.String())); err == nil {
		w, err = workload.Parse(file, l.Plan.Workload)
	}
	w.Seed = l.Seed
	return w, schedule, err
}

// mostAgain is how often the schedule that was found is run again at most, and the whole one that loses nothing.
const mostAgain = 5

// shrinking is a search for the fewest disruptions.
type shrinking struct {
	lost func(ctx context.Context, part []disrupt.Disruption) (int64, error) // runs the load, and counts lost jobs
	log  func(format string, args ...any)

	runs int
}

// loses runs the load, and reports whether a job was lost.
func (s *shrinking) loses(ctx context.Context, part []disrupt.Disruption) (bool, error) {
	s.runs++
	lost, err := s.lost(ctx, part)
	if err == nil && ctx.Err() == nil {
		s.log("run %d, with %s: %s lost", s.runs, text.Count(len(part), "disruption"), text.Count(int(lost), "job"))
	}
	return err == nil && lost > 0, err
}

// search returns the schedule with the fewest disruptions that it has seen lose a job, empty if no run has lost one. It
// blocks, about as long as that.
func (s *shrinking) search(ctx context.Context, all []disrupt.Disruption, limit time.Duration) (string, error) {
	begun := time.Now()
	limited, cancel := context.WithDeadline(ctx, begun.Add(limit))
	defer cancel()
	shown, failed := false, error(nil)
	for i := 0; !shown && failed == nil && i < mostAgain && limited.Err() == nil; i++ {
		shown, failed = s.loses(limited, all)
	}
	if !shown || failed != nil {
		return "", failed
	}
	few := minimize.List(limited, all, func(ctx context.Context, part []disrupt.Disruption) bool {
		still, err := s.loses(ctx, part)
		failed = cmp.Or(failed, err)
		return still && limited.Err() == nil
	})
	again, of := 0, 0
	for of < mostAgain && limited.Err() == nil && failed == nil {
		still, err := s.loses(limited, few)
		if failed = err; limited.Err() == nil {
			of++
			if still {
				again++
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# of %s these %d lose a job: again in %d of %s; %s in %v\n", text.Count(len(all), "disruption"),
		len(few), again, text.Count(of, "run"), text.Count(s.runs, "run"), time.Since(begun).Round(time.Second))
	for _, d := range few {
		b.WriteString("- " + d.YAML() + "\n")
	}
	return b.String(), failed
}
