package target

import (
	"errors"
	"fmt"
	"io"
	"strings"

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
	r, err := supervise(p.Supervisor, command, p.Environment, &lastLines{each: p.Line})
	if err != nil {
		feed.discard()
		return nil, err
	}
	go feed.copy(p.Input, r.over)
	return r, nil
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
