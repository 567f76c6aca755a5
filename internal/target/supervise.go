package target

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
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
	left   []int         // to be read when it is over
}

// stopGrace is how long a command may take to stop in order.
const stopGrace = 10 * time.Second

// killOrder asks a supervisor to kill. The end of its standard input asks it to stop in order.
const killOrder = "kill\n"

// killServerOrder asks it to kill the command alone, and to let end in order what that has started.
const killServerOrder = "kill-server\n"

// servesOrder tells it that the server serves.
const servesOrder = "serves\n"

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
			return nil, fmt.Errorf("%w: %w: /proc must be mounted, because this program needs its own file there",
				ErrNoSupervisor, err)
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
		return nil, fmt.Errorf("%w: %w", ErrNoSupervisor, err)
	}
	told, tells, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoSupervisor, err)
	}
	if canStart {
		cmd.ExtraFiles = []*os.File{tells}
	}
	err = cmd.Start()
	_ = tells.Close() // it is the supervisor's
	if err != nil {
		_ = told.Close()
		return nil, fmt.Errorf("%w: %w", ErrNoSupervisor, err)
	}
	r := &Running{pid: cmd.Process.Pid, orders: orders, output: output, over: make(chan struct{})}
	go func() {
		r.hear(told)
		r.err = cmd.Wait()
		close(r.over)
	}()
	return r, nil
}

// leftWord begins the line in which a supervisor names the processes that still ran when the command had ended.
const leftWord = "left"

// hear reads what the supervisor tells until it has ended.
func (r *Running) hear(told *os.File) {
	defer told.Close() //nolint:errcheck // it was read to its end
	for lines := bufio.NewScanner(told); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || words[0] != leftWord {
			continue
		}
		for _, word := range words[1:] {
			if pid, err := strconv.Atoi(word); err == nil {
				r.left = append(r.left, pid)
			}
		}
	}
}

// Left returns the processes that still ran when the program had ended by itself, and were killed: those that it had
// started. It may be called when it is over; on other systems than Linux it returns nothing.
func (r *Running) Left() []int { return r.left }

// Below returns the processes that run now: the program, and what it has started. On other systems than Linux it
// returns nothing.
func (r *Running) Below() []int { return descendants(r.pid) }

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

// PID returns the process id of the supervisor, which is above the program and all that it has started.
func (r *Running) PID() int { return r.pid }

// Output returns the last lines that the program printed.
func (r *Running) Output() []string { return r.output.lines() }

// Signal sends the program itself, and nothing that it has started, a signal by its name: "TERM", "INT", "TSTP". It
// does nothing when the program is over.
func (r *Running) Signal(name string) { r.order(signalOrder + name + "\n") }

// Kill ends the program, and everything that it has started, without warning. It blocks until all have ended.
func (r *Running) Kill() { r.end(true) }

// The limits of lastLines.
const (
	mostLines  = 20
	mostBytes  = 400 // of a line
	mostPlace  = 8   // of the reason and its place: a Go panic has its function and file in the first seven
	mostKept   = 400 // lines, so that those of one moment are found a while later
	mostBeside = 5   // lines that give no reason
)

// traceback is how one of Python begins. Its reason is its last line, and the place stands before that.
const traceback = "Traceback (most recent call last):"

// reasons are how the lines begin that say why a process ends: more than is kept may follow.
var reasons = [...]string{"panic: ", "fatal error: ", "Exception in thread ", traceback}

// lastLines is a writer that keeps the last lines written to it, each cut to 400 bytes.
// Its methods may be called by many goroutines at once.
type lastLines struct {
	each func(line string) // called for each line that has its end; it may be nil
	all  io.Writer         // gets all that is written; it may be nil

	mu     sync.Mutex
	kept   []printedLine
	open   []byte   // the line that has no end yet
	reason []string // the latest line that says why a process ends, and some with the place
	since  int      // lines after it
}

// printedLine is a line with the time of its end.
type printedLine struct {
	at   time.Time
	text string
}

func (l *lastLines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all != nil {
		_, _ = l.all.Write(text) // it keeps its error
	}
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
	l.kept = append(l.kept, printedLine{time.Now(), line})
	l.kept = l.kept[max(0, len(l.kept)-mostKept):]
	if l.since++; len(l.reason) > 0 && l.since < mostPlace {
		l.reason = append(l.reason, line)
	}
	if givesReason(line) {
		l.reason, l.since = []string{line}, 0
	}
}

// givesReason reports whether a line is the first of those that say why a process, or a part of it, ends.
func givesReason(line string) bool {
	return slices.ContainsFunc(reasons[:], func(begin string) bool { return strings.HasPrefix(line, begin) })
}

// lines returns the last lines, without empty ones. If the lines with the reason of the end are older, they come first.
func (l *lastLines) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var first, last []string
	if unseen := l.since + 1 - mostLines; len(l.reason) > 0 && unseen > 0 {
		first = l.reason[:min(unseen, len(l.reason))]
		if unseen > len(l.reason) {
			first = append(slices.Clip(first), "...")
		}
	}
	for _, line := range l.kept[max(0, len(l.kept)-mostLines):] {
		last = append(last, line.text)
	}
	return shownLines(slices.Concat(first, last, []string{string(l.open)}))
}

// finish ends a line that has no end when nothing follows it.
func (l *lastLines) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all != nil && len(l.open) > 0 {
		_, _ = l.all.Write([]byte("\n"))
	}
}

// between returns what was printed from one time to another, in few lines: the first reason, if one was given, else the
// last lines.
func (l *lastLines) between(from, to time.Time) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []string
	for _, line := range l.kept {
		if !line.at.Before(from) && !line.at.After(to) {
			lines = append(lines, line.text)
		}
	}
	return excerpt(shownLines(lines))
}

// shownLines returns lines as they are shown, without empty ones.
func shownLines(all []string) (shown []string) {
	for _, line := range all {
		if line = strings.TrimRight(strings.ToValidUTF8(line, "?"), " \r\t"); line != "" {
			shown = append(shown, strings.ReplaceAll(line, "\t", "    "))
		}
	}
	return shown
}

// excerpt returns those of many lines that say most: the beginning of the first reason with its place, of a traceback
// the end with the place, else the last ones.
func excerpt(lines []string) []string {
	at := slices.IndexFunc(lines, givesReason)
	if at < 0 {
		return lines[max(0, len(lines)-mostBeside):]
	}
	if python := slices.Index(lines, traceback); python == at || python == at+1 {
		return excerptOfTraceback(lines[python+1:])
	}
	return lines[at:min(at+mostPlace, len(lines))]
}

// Excerpt returns those of the last lines of a program that say most of why it has ended: see [Running.Output].
func Excerpt(lines []string) []string { return excerpt(lines) }

// frame and raised match a line of a traceback with a place, and the one at its end, with the exception. Places in
// Python's own library are told apart. under matches a line that underlines a part of the one before it.
var (
	frame   = regexp.MustCompile(`^  File "(.*)", line \d+`)
	library = regexp.MustCompile(`/lib/python[\d.]*/|^<`)
	raised  = regexp.MustCompile(`^[A-Za-z_][\w.]*(: |$)`)
	under   = regexp.MustCompile(`^[ ~^]+$`)
)

// excerptOfTraceback returns the last place of a traceback that is the program's own, and the exception. Those of
// several threads may have been printed at a time.
func excerptOfTraceback(lines []string) []string {
	place, last, at := []string(nil), "", ""
	for i, line := range lines {
		switch found := frame.FindStringSubmatch(line); {
		case found != nil:
			if at = line; place == nil || !library.MatchString(found[1]) {
				place = []string{line}
				if i+1 < len(lines) && strings.HasPrefix(lines[i+1], "    ") && !under.MatchString(lines[i+1]) {
					place = append(place, lines[i+1])
				}
			}
		case raised.MatchString(line) && line != traceback:
			last = line
		}
		if last != "" {
			break
		}
	}
	shown := append([]string{traceback}, place...)
	if len(place) > 0 && at != place[0] {
		shown = append(shown, "  ...")
	}
	if last != "" {
		shown = append(shown, last)
	}
	return shown
}
