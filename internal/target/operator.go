package target

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/input"
)

// Action is something that the operator of a server does to it or to one of its workers.
type Action string

// The actions. Quiet and Terminate are about a worker: its next BEAT is answered with that
// state. Restart is orderly. Kill stops the server without warning and starts it again.
const (
	Quiet     Action = "quiet"
	Terminate Action = "terminate"
	Restart   Action = "restart"
	Kill      Action = "kill"
)

// Operator does what no client can do. Its methods may be called by many goroutines at once.
type Operator interface {
	// Can reports whether the operator knows how to do an action.
	Can(action Action) bool
	// Do does an action and blocks until it is done. wid is the worker id that Quiet and
	// Terminate are about.
	Do(ctx context.Context, action Action, wid string) error
}

// Can reports whether the server's operator knows how to do an action.
func (s *Server) Can(action Action) bool { return s.Operator != nil && s.Operator.Can(action) }

// Restart restarts the server. It blocks until that is done.
func (s *Server) Restart(ctx context.Context) error { return s.do(ctx, Restart, "") }

// Kill kills the server and starts it again. It blocks until that is done.
func (s *Server) Kill(ctx context.Context) error { return s.do(ctx, Kill, "") }

// Signal quiets or terminates a worker: state is "quiet" or "terminate". It blocks until
// that is done.
func (s *Server) Signal(ctx context.Context, wid, state string) error {
	return s.do(ctx, Action(state), wid)
}

func (s *Server) do(ctx context.Context, action Action, wid string) error {
	if !s.Can(action) {
		return fmt.Errorf("%s: no command for it was given", action)
	}
	return s.Operator.Do(ctx, action, wid)
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
	shownOutput    = 2000 // bytes of a failed command's output, its end
)

// Can reports whether there is a command for an action.
func (c Commands) Can(action Action) bool { return c.ByAction[action] != "" }

// Do runs the command of an action. It blocks until the command is over.
func (c Commands) Do(ctx context.Context, action Action, wid string) error {
	command, err := expand(c.ByAction[action], action, wid)
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
	run.Env = append(os.Environ(), "FWP_ACTION="+string(action), "FWP_WID="+wid)
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
	return fmt.Errorf("%s command: %w%s", action, err, printed(output))
}

// plain matches worker ids that mean nothing to a shell.
var plain = regexp.MustCompile(`^[A-Za-z0-9_.:@%+=,-]*$`)

// expand puts the action and the worker id into a command.
func expand(command string, action Action, wid string) (string, error) {
	if strings.Contains(command, "{wid}") && !plain.MatchString(wid) {
		return "", fmt.Errorf("%s command: the worker id %q means something to a shell: use $FWP_WID for {wid}", action, wid)
	}
	return strings.NewReplacer("{action}", string(action), "{wid}", wid).Replace(command), nil
}

// printed returns the end of what a failed command printed.
func printed(output *os.File) string {
	size, err := output.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return ", and it printed nothing"
	}
	from := max(0, size-shownOutput)
	text, err := input.All(io.NewSectionReader(output, from, size-from), "the output", shownOutput)
	if err != nil {
		return ""
	}
	return ", and it printed " + strconv.Quote(strings.TrimSpace(string(text)))
}
