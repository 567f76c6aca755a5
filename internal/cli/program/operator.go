package program

import (
	"errors"
	"maps"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/internal/text"
)

// OperatorFlags are the flags with the commands of the target's operator.
type OperatorFlags struct{ control, restart, kill, signal string }

// Declare adds the flags to f. Those that --control replaced are hidden.
func (o *OperatorFlags) Declare(f *pflag.FlagSet) {
	f.StringVar(&o.control, "control", "", "the shell `COMMAND` of the server's operator: {action} in it is quiet, "+
		"terminate, restart or kill (and start again), {wid} the worker; $FWP_ACTION and $FWP_WID as well")
	f.StringVar(&o.restart, "restart-cmd", "", "the shell `COMMAND` that restarts the server")
	f.StringVar(&o.kill, "kill-cmd", "", "the shell `COMMAND` that kills the server and starts it again")
	f.StringVar(&o.signal, "signal-cmd", "", "the shell `COMMAND` that quiets or terminates a worker: "+
		"$FWP_SIGNAL is quiet or terminate, $FWP_WID the worker")
	for _, name := range []string{"restart-cmd", "kill-cmd", "signal-cmd"} {
		if err := f.MarkHidden(name); err != nil {
			panic(err) // the flag was declared above
		}
	}
}

// Names returns the names of the flags.
func (o *OperatorFlags) Names() []string {
	return []string{"control", "restart-cmd", "kill-cmd", "signal-cmd"}
}

// Given returns the flags that were given, with their values, as words for a shell.
func (o *OperatorFlags) Given() []string {
	var words []string
	for i, value := range []string{o.control, o.restart, o.kill, o.signal} {
		if value != "" {
			words = append(words, "--"+o.Names()[i]+" "+text.ShellQuote(target.Redact(value)))
		}
	}
	return words
}

// apply makes the commands the operator of the endpoint's server, or of the servers that its starter starts: these
// restart without a command.
func (o *OperatorFlags) apply(e *Endpoint) error {
	if o.control != "" && !strings.Contains(o.control, "{action}") && !strings.Contains(o.control, "FWP_ACTION") {
		return errors.New("--control: the command is not told what to do: write {action} in it, which is " +
			"quiet, terminate, restart or kill")
	}
	commands := target.Commands{ByAction: o.commands()}
	switch {
	case e.Starter != nil:
		e.Starter.Control(commands)
	case e.Server != nil:
		e.Server.Operator = commands
	}
	return nil
}

// commands returns the command of each action.
func (o *OperatorFlags) commands() map[target.Action]string {
	commands := map[target.Action]string{}
	for _, action := range []target.Action{target.Quiet, target.Terminate, target.Restart, target.Kill} {
		commands[action] = o.control
	}
	older := map[target.Action]string{
		target.Quiet: o.signal, target.Terminate: o.signal, target.Restart: o.restart, target.Kill: o.kill,
	}
	maps.DeleteFunc(older, func(_ target.Action, command string) bool { return command == "" })
	maps.Copy(commands, older)
	return commands
}
