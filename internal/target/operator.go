package target

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/input"
)

// Action is something that is done to a server or to one of its workers, by its operator or as a disruption. Its value
// is the word of scripts, files and flags.
type Action string

// The actions. Quiet and Terminate are about a worker: its next BEAT is answered with that
// state. Stop and Restart are orderly. Kill stops the server without warning, with all that it started; what KillServer
// leaves may end by itself within ten seconds.
const (
	Quiet      Action = "quiet"
	Terminate  Action = "terminate"
	Restart    Action = "restart" // a stop and a start, by one command
	Stop       Action = "stop"
	Kill       Action = "kill"
	KillServer Action = "kill-server"
	Start      Action = "start"
	Pause      Action = "pause" // until Resume
	Resume     Action = "resume"
)

// The actions on the network before a server, and the one on its disk. No [Operator] has them.
const (
	Partition Action = "partition" // no bytes pass; afterwards those that were held back do
	Slow      Action = "slow"      // bytes pass late, at a low rate or in small segments
	Reset     Action = "reset"     // all connections are reset
	Fill      Action = "fill"      // its disk is full, and has room again
)

// OnWorker reports whether the action is one on a worker: it needs the worker's id.
func (a Action) OnWorker() bool { return a == Quiet || a == Terminate }

// Stops reports whether the server is stopped, so that its memory is gone, and started again.
func (a Action) Stops() bool { return a == Kill || a == KillServer || a == Restart }

// Kills reports whether the server is stopped without warning.
func (a Action) Kills() bool { return a == Kill || a == KillServer }

// OnProcess reports whether the action is one on the processes of the server.
func (a Action) OnProcess() bool { return a.Stops() || a == Pause }

// OnNetwork reports whether the action is one on the network before the server.
func (a Action) OnNetwork() bool { return a == Partition || a == Slow || a == Reset }

// Operator does what no client can do. Its methods may be called by many goroutines at once.
type Operator interface {
	// Can reports whether the operator knows how to do an action.
	Can(action Action) bool
	// Do does an action and blocks until it is done. wid is the worker id that Quiet and
	// Terminate are about. It need not see to it that the action had its effect: a [Server] does.
	Do(ctx context.Context, action Action, wid string) error
}

// Commands is an [Operator] whose actions are commands of the shell of the system
// (sh -c, cmd /c). {action} and {wid} in a command stand for the action and the worker
// id; both are in its environment as FWP_ACTION and FWP_WID, too.
//
// What a command leaves running in the background may go on, and keeps the
// standard output that it was given; redirect it if it prints much.
type Commands struct {
	ByAction map[Action]string // an action without a command cannot be done
	Timeout  time.Duration     // of one command; 60 s if zero
}

const (
	commandTimeout = 60 * time.Second
	maxOutput      = 2000 // bytes of a failed command's output, its end
)

// NeedShell returns an error if there is no shell of the system here, as in a container with a program and nothing
// else. purpose is what needs it.
func NeedShell(purpose string) error {
	if _, err := exec.LookPath(shellName); err != nil {
		return fmt.Errorf("%s was not found, and %s needs it: use a machine or an image with a shell", shellName, purpose)
	}
	return nil
}

// Can reports whether there is a command for an action.
func (c Commands) Can(action Action) bool { return c.ByAction[action] != "" }

// Do runs the command of an action. It blocks until the command is over. Where the command for a Resume fails it is run
// again with the word of docker and podman for it, which is unpause.
func (c Commands) Do(ctx context.Context, action Action, wid string) error {
	err := c.run(ctx, action, action, wid)
	if err != nil && action == Resume && ctx.Err() == nil && c.run(ctx, action, "unpause", wid) == nil {
		return nil
	}
	return err
}

// run runs the command of an action, with a word for that.
func (c Commands) run(ctx context.Context, action, word Action, wid string) error {
	command, err := expand(c.ByAction[action], word, wid)
	if err != nil {
		return err
	}
	timeout := c.Timeout
	if timeout <= 0 {
		timeout = commandTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("it took longer than %v", timeout))
	defer cancel()
	// A file and not a pipe: processes in the background inherit it, and Run
	// does not wait for them.
	output, err := os.CreateTemp("", "fwp-command-*")
	if err != nil {
		return fmt.Errorf("%s command: %w", action, err)
	}
	defer os.Remove(output.Name()) //nolint:errcheck // the system cleans up too
	defer output.Close()           //nolint:errcheck // nothing was written by this process
	run := shell(ctx, command)
	run.Env = append(os.Environ(), "FWP_ACTION="+string(word), "FWP_WID="+wid)
	if action == Quiet || action == Terminate {
		run.Env = append(run.Env, "FWP_SIGNAL="+string(action)) // the older name
	}
	run.Stdout, run.Stderr = output, output
	if err = run.Run(); err == nil {
		return nil
	}
	if ctx.Err() != nil { // that ended it
		err = context.Cause(ctx)
	}
	return fmt.Errorf("%s command: %w%s", action, err, outputEnd(output))
}

// plainID matches worker ids that mean nothing to a shell.
var plainID = regexp.MustCompile(`^[A-Za-z0-9_.:@%+=,-]*$`)

// expand puts the action and the worker id into a command.
func expand(command string, action Action, wid string) (string, error) {
	if strings.Contains(command, "{wid}") && !plainID.MatchString(wid) {
		return "", fmt.Errorf("%s command: the worker id %q has special characters of the shell: use $FWP_WID instead "+
			"of {wid}", action, wid)
	}
	return strings.NewReplacer("{action}", string(action), "{wid}", wid).Replace(command), nil
}

// outputEnd returns the end of what a failed command printed.
func outputEnd(output *os.File) string {
	size, err := output.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return ", and it printed nothing"
	}
	from := max(0, size-maxOutput)
	text, err := input.All(io.NewSectionReader(output, from, size-from), "the output", maxOutput)
	if err != nil {
		return ""
	}
	return ", and it printed " + strconv.Quote(strings.TrimSpace(string(text)))
}
