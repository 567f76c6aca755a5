package bench

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/internal/base/input"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load/disrupt"
	"github.com/fwpsuite/fwp/load/plan"
)

// What a disrupted run has unless the user says otherwise: a job that a lost connection has taken comes back after its
// reservation, and the drain waits for that.
const (
	disruptedReserve = plan.Duration(time.Minute)
	disruptedDrain   = plan.Duration(5 * time.Minute)
)

// diskSize is how large the disk of a server is that is to be filled, in bytes.
const diskSize = 64 << 20

// minInterval is the least --disrupt-every.
const minInterval = 100 * time.Millisecond

// disruptFlags are the flags about what is done to the target on purpose.
type disruptFlags struct {
	value    string
	interval time.Duration

	file    string // of a schedule, if value names one
	actions []target.Action
	control shared.OperatorFlags
}

func (o *disruptFlags) declare(cmd *cobra.Command) {
	f, words := cmd.Flags(), disrupt.Words(disrupt.Actions())
	f.StringVar(&o.value, "disrupt", "", "disrupt the target during the load: `WHAT` is "+
		strings.Join(words, ", ")+", or several of them separated by commas, at each --disrupt-every; or the file of a "+
		"schedule (YAML, see docs/durability.md)")
	f.DurationVar(&o.interval, "disrupt-every", 0, "disrupt the target about every `DURATION` (random, from the seed) "+
		"in one of the ways of --disrupt (default: "+defaultDisruptions+")")
	o.control.DeclareControl(f)
	complete := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveDefault // or a file
	}
	if err := cmd.RegisterFlagCompletionFunc("disrupt", complete); err != nil {
		panic(err) // the flag is declared above
	}
}

// defaultDisruptions are done where --disrupt does not say what.
const defaultDisruptions = "kill,pause,partition,slow"

// isSet reports whether the target is to be disrupted.
func (o *disruptFlags) isSet() bool { return o.value != "" || o.interval != 0 }

// validate checks the values that no flag checks by itself.
func (o *disruptFlags) validate(flags *pflag.FlagSet) (err error) {
	if disrupt.NamesFile(o.value) {
		o.file = o.value
	} else if o.actions, err = disrupt.ParseActions(cmp.Or(o.value, defaultDisruptions)); err != nil {
		return fmt.Errorf("--disrupt: %w", err)
	}
	switch {
	case o.file != "" && o.interval != 0:
		return errors.New("--disrupt FILE and --disrupt-every: a schedule is either in a file or drawn from the seed")
	case flags.Changed("disrupt-every") && o.interval < minInterval:
		return fmt.Errorf("--disrupt-every must be at least %v", minInterval)
	case o.file == "" && o.value != "" && o.interval == 0:
		return fmt.Errorf("--disrupt %s: say how often, with --disrupt-every 20s for example; or give the file of a schedule",
			o.value)
	}
	return nil
}

// prepare returns the schedule of a run, nil if there is none, and fits the workload and the target to it.
func (o *benchOptions) prepare(at *shared.Endpoint, w *plan.Workload) ([]disrupt.Disruption, error) {
	schedule, err := o.disruptions.schedule(w)
	if err != nil || len(schedule) == 0 {
		return nil, err
	}
	if err := checkDisruptions(*at, schedule); err != nil {
		return nil, err
	}
	w.ReserveFor = cmp.Or(w.ReserveFor, disruptedReserve)
	if w.Drain == 0 {
		w.Drain = disruptedDrain
	}
	if at.Starter != nil && hasAction(schedule, isFill) && target.CanMount() == nil {
		starter := *at.Starter
		starter.Disk = diskSize
		at.Starter = &starter
	}
	return schedule, nil
}

func (o *disruptFlags) schedule(w *plan.Workload) ([]disrupt.Disruption, error) {
	if o.file == "" {
		if o.interval == 0 {
			return nil, nil
		}
		_, end := w.Window()
		schedule := disrupt.Draw(o.interval, o.actions, end, w.Seed)
		if len(schedule) == 0 {
			return nil, fmt.Errorf("--disrupt-every %v: the load ends after %v, before the end of the first disruption",
				o.interval, end)
		}
		return schedule, nil
	}
	source, err := input.Read(o.file, plan.MaxSource)
	if err != nil {
		return nil, fmt.Errorf("--disrupt: %w", err)
	}
	return disrupt.Parse(filepath.ToSlash(o.file), source)
}

// hasAction reports whether a schedule has an action of a kind.
func hasAction(schedule []disrupt.Disruption, matches func(target.Action) bool) bool {
	return slices.ContainsFunc(schedule, func(d disrupt.Disruption) bool { return matches(d.Action) })
}

func isFill(a target.Action) bool { return a == target.Fill }

// checkDisruptions returns an error for what cannot be done to a target at all.
func checkDisruptions(at shared.Endpoint, schedule []disrupt.Disruption) error {
	if !at.Entry.CanDisrupt {
		return fmt.Errorf("disruptions work with FWP only, and the target is one of %s", at.Entry.Title)
	}
	for _, d := range schedule {
		switch {
		case d.Action.OnNetwork() || d.Action.OnProcess() && at.IsPrivate():
		case at.Choice.IsEmbedded: // fill
			return fmt.Errorf("%s: the embedded server keeps its jobs in memory: use --start COMMAND, whose server keeps "+
				"them in {dir}", d.Action)
		case at.Starter == nil && !shared.CanOperate(at.Server, d.Action):
			return fmt.Errorf("%s needs a server that fwpbench has started: use --start COMMAND in the place of --url, or "+
				"disrupt only its network (partition, slow, reset), or give --control COMMAND for kill, restart and pause",
				d.Action)
		}
	}
	return nil
}
