package target

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// Hooks are the commands of the server's operator, run through the shell of the
// system (sh -c, cmd /c). An empty one is not available. Signal has
// FWP_SIGNAL (quiet or terminate) and FWP_WID (a worker id) in its environment.
//
// What a command leaves running in the background may go on, and keeps the
// standard output that it was given; redirect it if it prints much.
type Hooks struct {
	Restart string
	Kill    string
	Signal  string
	Timeout time.Duration // of one command; 60 s if zero
}

const (
	hookTimeout = 60 * time.Second
	shownOutput = 2000 // bytes of a failed command's output, its end
)

// run runs one command; environment is added to our own.
func (h Hooks) run(ctx context.Context, what, command string, environment ...string) error {
	if command == "" {
		return fmt.Errorf("%s: no command for it was given", what)
	}
	timeout := h.Timeout
	if timeout <= 0 {
		timeout = hookTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("it took longer than %v", timeout))
	defer cancel()
	// A file and not a pipe: processes in the background inherit it, and Run
	// does not wait for them.
	output, err := os.CreateTemp("", "fwp-hook-*")
	if err != nil {
		return fmt.Errorf("%s command: %w", what, err)
	}
	defer os.Remove(output.Name()) //nolint:errcheck // the system cleans up too
	defer output.Close()           //nolint:errcheck // nothing was written by this process
	c := shell(ctx, command)
	c.Env = append(os.Environ(), environment...)
	c.Stdout, c.Stderr = output, output
	if err = c.Run(); err == nil {
		return nil
	}
	if ctx.Err() != nil { // that ended it
		err = context.Cause(ctx)
	}
	return fmt.Errorf("%s command: %w%s", what, err, printed(output))
}

// printed returns the end of what a failed command printed.
func printed(output *os.File) string {
	size, err := output.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return ", and it printed nothing"
	}
	from := max(0, size-shownOutput)
	text, err := io.ReadAll(io.NewSectionReader(output, from, size-from))
	if err != nil {
		return ""
	}
	return ", and it printed " + strconv.Quote(strings.TrimSpace(string(text)))
}
