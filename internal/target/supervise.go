package target

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// Running is a program that runs below a supervisor: a process of its own which ends the program and everything that it
// started when it is asked to, or when this process has ended for any reason. Its methods may be called by many
// goroutines at once.
type Running struct {
	pid    int
	orders io.WriteCloser
	output *lastLines
	over   chan struct{} // closed when all have ended
	err    error         // of the program; to be read when it is over
}

// killOrder asks a supervisor to kill. The end of its standard input asks it to stop in order.
const killOrder = "kill\n"

// killServerOrder asks it to kill the command alone, and to let end in order what that has started.
const killServerOrder = "kill-server\n"

// signalOrder, with the name of a signal and the end of the line, asks it to send the command that signal, and
// groupOrder to send it to the whole process group.
const (
	signalOrder = "signal "
	groupOrder  = "group "
)

// supervise starts a command. What it prints goes to output. A word of the environment without "=" names a variable
// that the command does not get.
func supervise(program []string, command string, environment []string, output *lastLines) (*Running, error) {
	if len(program) == 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errNoSupervisor, err)
		}
		program = []string{self, "supervise"}
	}
	cmd := exec.Command(program[0], append(slices.Clip(program[1:]), command)...) //nolint:noctx // it ends by an order
	cmd.Env = with(os.Environ(), environment)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.WaitDelay = time.Second // for what the supervisor could not end
	apart(cmd)
	orders, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoSupervisor, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoSupervisor, err)
	}
	r := &Running{pid: cmd.Process.Pid, orders: orders, output: output, over: make(chan struct{})}
	go func() {
		r.err = cmd.Wait()
		close(r.over)
	}()
	return r, nil
}

// with returns an environment with changes: "NAME=VALUE" sets a variable, and "NAME" removes it.
func with(environment, changes []string) []string {
	changed := slices.Clone(environment)
	for _, change := range changes {
		if strings.Contains(change, "=") {
			changed = append(changed, change)
			continue
		}
		changed = slices.DeleteFunc(changed, func(have string) bool { return strings.HasPrefix(have, change+"=") })
	}
	return changed
}

// end ends the command, without warning if kill is true, and blocks until all that it
// started has ended.
func (r *Running) end(kill bool) {
	if kill {
		r.order(killOrder)
	}
	_ = r.orders.Close()
	<-r.over
}

// order gives the supervisor an order.
func (r *Running) order(line string) { _, _ = io.WriteString(r.orders, line) } // an error means that it is over

// Over returns a channel that is closed when the program has ended, and everything that it had started.
func (r *Running) Over() <-chan struct{} { return r.over }

// How returns how the program ended, as in "exit status 2". It may be called when it is over.
func (r *Running) How() string {
	if exit, ok := errors.AsType[*exec.ExitError](r.err); ok {
		return exit.String()
	}
	if r.err != nil {
		return r.err.Error()
	}
	return "exit status 0"
}

// Code returns the exit code of the program, 128 and the number of the signal that ended it, or 127 if there is no such
// program. It may be called when it is over.
func (r *Running) Code() int {
	if exit, ok := errors.AsType[*exec.ExitError](r.err); ok {
		return exit.ExitCode()
	}
	return 0
}

// Output returns the last lines that the program printed.
func (r *Running) Output() []string { return r.output.lines() }

// Signal sends the program itself, and nothing that it has started, a signal by its name: "TERM", "INT", "TSTP". It
// does nothing when the program is over.
func (r *Running) Signal(name string) { r.order(signalOrder + name + "\n") }

// Kill ends the program, and everything that it has started, without warning. It blocks until all have ended.
func (r *Running) Kill() { r.end(true) }

// The limits of lastLines.
const (
	mostLines = 20
	mostBytes = 400 // of a line
)

// lastLines is a writer that keeps the last lines written to it, each cut to 400 bytes.
// Its methods may be called by many goroutines at once.
type lastLines struct {
	each func(line string) // called for each line that has its end; it may be nil

	mu     sync.Mutex
	kept   []string
	open   []byte // the line that has no end yet
	reason string // the latest line that says why a process ends
	since  int    // lines after it
}

func (l *lastLines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(text)
	for {
		line, rest, ended := bytes.Cut(text, []byte("\n"))
		l.open = append(l.open, line[:min(len(line), mostBytes-len(l.open))]...)
		if !ended {
			return n, nil
		}
		if l.each != nil {
			l.each(strings.TrimSuffix(string(l.open), "\r"))
		}
		l.keep(string(l.open))
		l.open, text = l.open[:0], rest
	}
}

// keep keeps a line. The lock is held.
func (l *lastLines) keep(line string) {
	l.kept = append(l.kept, line)
	l.kept = l.kept[max(0, len(l.kept)-mostLines):]
	l.since++
	for _, begin := range [...]string{"panic: ", "fatal error: ", "Exception in thread "} { // more than is kept may follow
		if strings.HasPrefix(line, begin) {
			l.reason, l.since = strings.TrimRight(line, "\r"), 0
		}
	}
}

// lines returns the last lines, without empty ones. If the line with the reason of the end is older, it comes first.
func (l *lastLines) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []string
	if l.reason != "" && l.since >= mostLines {
		lines = append(lines, strings.ToValidUTF8(l.reason, "?"), "...")
	}
	for _, line := range append(slices.Clip(l.kept), string(l.open)) {
		if line = strings.TrimRight(strings.ToValidUTF8(line, "?"), " \r\t"); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
