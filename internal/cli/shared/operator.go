package shared

import (
	"cmp"
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/internal/target"
)

// OperatorFlags are the flags with the commands of the target's operator: the values of operatorFlags.
type OperatorFlags [4]string

// operatorFlags are these flags, and the actions of each. The first one replaced the others, which are hidden; where
// they are given, they count.
var operatorFlags = [len(OperatorFlags{})]struct {
	name, usage string
	actions     []target.Action
}{
	{"control", "the shell `COMMAND` that operates the server. {action} is quiet, terminate, restart, kill, stop, " +
		"start, pause or resume, and {wid} is the worker; so are $FWP_ACTION and $FWP_WID", []target.Action{
		target.Quiet, target.Terminate, target.Restart, target.Kill, target.Stop, target.Start, target.Pause, target.Resume,
	}},
	{"restart-cmd", "the shell `COMMAND` that restarts the server", []target.Action{target.Restart}},
	{"kill-cmd", "the shell `COMMAND` that kills the server and starts it again", []target.Action{target.Kill}},
	{"signal-cmd", "the shell `COMMAND` that quiets or terminates a worker: $FWP_SIGNAL is quiet or terminate, " +
		"$FWP_WID the worker", []target.Action{target.Quiet, target.Terminate}},
}

// Declare adds the flags to f.
func (o *OperatorFlags) Declare(f *pflag.FlagSet) {
	o.DeclareControl(f)
	for i, flag := range operatorFlags[1:] {
		f.StringVar(&o[i+1], flag.name, "", flag.usage)
		f.Lookup(flag.name).Hidden = true
	}
}

// DeclareControl adds only --control.
func (o *OperatorFlags) DeclareControl(f *pflag.FlagSet) {
	f.StringVar(&o[0], operatorFlags[0].name, "", operatorFlags[0].usage)
}

// Names returns the names of the flags.
func (o *OperatorFlags) Names() (names []string) {
	for _, flag := range operatorFlags {
		names = append(names, flag.name)
	}
	return names
}

// Apply makes the commands the operator of the endpoint's server, or of the servers that its starter starts.
func (o *OperatorFlags) Apply(e *Endpoint) error {
	control := o[0]
	if control != "" && !strings.Contains(control, "{action}") && !strings.Contains(control, "FWP_ACTION") {
		return errors.New("--control: the command has no {action}: write {action} into it; it is replaced by quiet, " +
			"terminate, restart, kill, stop, start, pause or resume")
	}
	commands := target.Commands{ByAction: map[target.Action]string{}}
	for i, command := range o {
		if err := target.NeedShell("--" + operatorFlags[i].name); command != "" && err != nil {
			return err
		}
		for _, action := range operatorFlags[i].actions {
			commands.ByAction[action] = cmp.Or(command, commands.ByAction[action])
		}
	}
	switch {
	case e.Starter != nil:
		e.Starter.Control(commands)
	case e.Server != nil:
		e.Server.Operator = commands
	}
	return nil
}
