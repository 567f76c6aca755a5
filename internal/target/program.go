package target

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/internal/text"
)

// Program is a command that is run below a supervisor, so that nothing of it is left when it has to end. Args must be
// set.
type Program struct {
	// Args are the program and its arguments. They are not read by a shell.
	Args []string
	// Environment is added to that of this process; a name without "=" removes a variable from it.
	Environment []string
	// Input is its standard input; nil means that there is none. It is read until its end or until the program is over,
	// and a Read that blocks by then keeps one goroutine.
	Input io.Reader
	// Line is called for each line that the program prints, on either output, without its end and cut to 400 bytes; it may
	// be nil. It is called by one goroutine at a time.
	Line func(line string)
	// Supervisor is the program that runs commands, see [Supervise]; the present program with the argument "supervise"
	// if empty.
	Supervisor []string
}

// Running is a program that was started. Its methods may be called by many goroutines at once.
type Running struct {
	s      *supervised
	output *lastLines
	mu     sync.Mutex // of the orders
}

// ErrNoPrograms reports that this system cannot run programs below a supervisor.
var ErrNoPrograms = errors.New("programs can be started on Unix only")

// Start starts the program. It does not wait for it.
func (p Program) Start() (*Running, error) {
	if !canStart {
		return nil, ErrNoPrograms
	}
	input, feed, err := p.pipe()
	if err != nil {
		return nil, err
	}
	words := make([]string, len(p.Args))
	for i, arg := range p.Args {
		words[i] = text.ShellQuote(arg)
	}
	command := "exec " + strings.Join(words, " ") + " <" + text.ShellQuote(input)
	output := &lastLines{each: p.Line}
	s, err := supervise(p.Supervisor, command, p.Environment, output)
	if err != nil {
		feed.discard()
		return nil, err
	}
	go feed.copy(p.Input, s.over)
	return &Running{s: s, output: output}, nil
}

// pipe makes the named pipe by which the program gets its input, and returns its path.
func (p Program) pipe() (path string, feed *namedPipe, err error) {
	if p.Input == nil {
		return "/dev/null", nil, nil
	}
	if feed, err = newNamedPipe(); err != nil {
		return "", nil, fmt.Errorf("make a pipe for the input of a program: %w", err)
	}
	return feed.path, feed, nil
}

// Over returns a channel that is closed when the program has ended, and everything that it had started.
func (r *Running) Over() <-chan struct{} { return r.s.over }

// How returns how the program ended, as in "exit status 2". It may be called when it is over.
func (r *Running) How() string { return r.s.how() }

// Code returns the exit code of the program, 128 and the number of the signal that ended it, or 127 if there is no such
// program. It may be called when it is over.
func (r *Running) Code() int {
	var exit interface{ ExitCode() int }
	if errors.As(r.s.err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// Output returns the last lines that the program printed.
func (r *Running) Output() []string { return r.output.lines() }

// Signal sends the program itself, and nothing that it has started, a signal by its name: "TERM", "INT", "TSTP". It
// does nothing when the program is over.
func (r *Running) Signal(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = io.WriteString(r.s.orders, signalOrder+name+"\n") // an error means that it is over
}

// Kill ends the program, and everything that it has started, without warning. It blocks until all have ended.
func (r *Running) Kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.s.end(true)
}
