package target

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
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
func (p Program) Start() (*RunningProgram, error) {
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
	r, err := supervise(p.Supervisor, command, p.Environment, &lastLines{onLine: p.Line})
	if err != nil {
		feed.discard()
		return nil, err
	}
	go feed.copy(p.Input, r.done)
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

// Log is a file with everything that started programs print, each line with its time and the port of its server, or the
// name of its program. Its
// methods may be called by many goroutines at once.
type Log struct {
	mu         sync.Mutex
	to         io.Writer
	err        error // the first one of writing
	isReported bool
}

// NewLog returns a log that is written to a file.
func NewLog(to io.Writer) *Log { return &Log{to: to} }

// tell tells once that it could not be written.
func (l *Log) tell(tell func(format string, args ...any)) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil && !l.isReported {
		l.isReported = true
		tell("--server-log: %v: later output of the servers is missing from the file", l.err)
	}
}

// noteStart notes that a server starts by a command; the nil log notes nothing.
func (l *Log) noteStart(port int, command string) {
	if l != nil {
		l.Line(serverAt(port), "-- started by: "+command)
	}
}

// writer returns what a server prints to; nothing for the nil log.
func (l *Log) writer(port int) io.Writer {
	if l == nil {
		return nil
	}
	return &logWriter{log: l, port: port}
}

// serverAt names a server in a log.
func serverAt(port int) string { return fmt.Sprintf(":%d", port) }

// Line writes a line of one of several programs, whose name stands before it.
func (l *Log) Line(name, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.to, "%s %s %s\n", time.Now().Format("15:04:05.000"), name, line)
	}
}

// Err returns why lines are missing from it; nil if none are.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// maxLogLine is how many bytes of a line without an end are kept before they are written as one.
const maxLogLine = 64 << 10

// logWriter is a writer to a log for one server, which is used by one goroutine at a time.
type logWriter struct {
	log  *Log
	port int
	rest []byte
}

func (w *logWriter) Write(text []byte) (int, error) {
	w.rest = append(w.rest, text...)
	for {
		line, rest, ended := bytes.Cut(w.rest, []byte("\n"))
		if !ended && len(w.rest) < maxLogLine {
			return len(text), nil
		}
		w.log.Line(serverAt(w.port), string(bytes.TrimSuffix(line, []byte("\r"))))
		w.rest = append(w.rest[:0], rest...)
	}
}
