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

// RunningProgram is a program that runs below a supervisor: a process of its own which ends the program and everything
// that it started when it is asked to, or when this process has ended for any reason. Its methods may be called by many
// goroutines at once.
type RunningProgram struct {
	pid       int
	orders    io.WriteCloser
	output    *lastLines
	done      chan struct{} // closed when all have ended
	err       error         // of the program; to be read when it is over
	startTime time.Time
	endTime   time.Time // to be read when it is over
	leftovers []int     // to be read when it is over
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
func supervise(program []string, command string, environment []string, output *lastLines) (*RunningProgram, error) {
	if len(program) == 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("%w: %w: /proc must be mounted, because this program needs its own file there",
				ErrNoSupervisor, err)
		}
		program = []string{self, "supervise"}
	}
	cmd := exec.Command(program[0], append(slices.Clip(program[1:]), command)...) //nolint:noctx // it ends by an order
	cmd.Env = changeEnvironment(os.Environ(), environment)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.WaitDelay = time.Second // for what the supervisor could not end
	detach(cmd)
	orders, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoSupervisor, err)
	}
	pipe, pipeEnd, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoSupervisor, err)
	}
	if canStart {
		cmd.ExtraFiles = []*os.File{pipeEnd}
	}
	err = cmd.Start()
	_ = pipeEnd.Close() // it is the supervisor's
	if err != nil {
		_ = pipe.Close()
		return nil, fmt.Errorf("%w: %w", ErrNoSupervisor, err)
	}
	r := &RunningProgram{
		pid: cmd.Process.Pid, orders: orders, output: output, done: make(chan struct{}), startTime: time.Now(),
	}
	go func() {
		r.hear(pipe)
		r.err = cmd.Wait()
		r.endTime = time.Now()
		close(r.done)
	}()
	return r, nil
}

// leftWord begins the line in which a supervisor names the processes that still ran when the command had ended.
const leftWord = "left"

// hear reads what the supervisor tells until it has ended.
func (r *RunningProgram) hear(pipe *os.File) {
	defer pipe.Close() //nolint:errcheck // it was read to its end
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || words[0] != leftWord {
			continue
		}
		for _, word := range words[1:] {
			if pid, err := strconv.Atoi(word); err == nil {
				r.leftovers = append(r.leftovers, pid)
			}
		}
	}
}

// Leftovers returns the processes that still ran when the program had ended by itself, and were killed: those that it
// had started. It may be called when it is over; on other systems than Linux it returns nothing.
func (r *RunningProgram) Leftovers() []int { return r.leftovers }

// Descendants returns the processes that run now: the program, and what it has started. On other systems than Linux it
// returns nothing.
func (r *RunningProgram) Descendants() []int { return descendants(r.pid) }

// changeEnvironment returns an environment with changes: "NAME=VALUE" sets a variable, and "NAME" removes it.
func changeEnvironment(environment, changes []string) []string {
	changed := slices.Clone(environment)
	for _, change := range changes {
		if strings.Contains(change, "=") {
			changed = append(changed, change)
			continue
		}
		changed = slices.DeleteFunc(changed, func(word string) bool { return strings.HasPrefix(word, change+"=") })
	}
	return changed
}

// end ends the command, without warning if kill is true, and blocks until all that it
// started has ended.
func (r *RunningProgram) end(kill bool) {
	if kill {
		r.order(killOrder)
	}
	_ = r.orders.Close()
	<-r.done
}

// order gives the supervisor an order.
func (r *RunningProgram) order(line string) { _, _ = io.WriteString(r.orders, line) } // an error means that it is over

// Done returns a channel that is closed when the program has ended, and everything that it had started.
func (r *RunningProgram) Done() <-chan struct{} { return r.done }

// ExitStatus returns how the program ended, as in "exit status 2". It may be called when it is over.
func (r *RunningProgram) ExitStatus() string {
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
func (r *RunningProgram) Code() int {
	if exit, ok := errors.AsType[*exec.ExitError](r.err); ok {
		return exit.ExitCode()
	}
	return 0
}

// PID returns the process id of the supervisor, which is above the program and all that it has started.
func (r *RunningProgram) PID() int { return r.pid }

// Output returns the last lines that the program printed.
func (r *RunningProgram) Output() []string { return r.output.lines() }

// Signal sends the program itself, and nothing that it has started, a signal by its name: "TERM", "INT", "TSTP". It
// does nothing when the program is over.
func (r *RunningProgram) Signal(name string) { r.order(signalOrder + name + "\n") }

// Kill ends the program, and everything that it has started, without warning. It blocks until all have ended.
func (r *RunningProgram) Kill() { r.end(true) }

// The limits of lastLines.
const (
	maxLines      = 20
	maxBytes      = 400 // of a line
	maxPlace      = 8   // of the reason and its place: a Go panic has its function and file in the first seven
	maxKept       = 400 // lines, so that those of one moment are found a while later
	maxOtherLines = 5   // lines that give no reason
)

// traceback is how one of Python begins. Its reason is its last line, and the place stands before that.
const traceback = "Traceback (most recent call last):"

// reasons are how the lines begin that say why a process ends: more than is kept may follow.
var reasons = [...]string{"panic: ", "fatal error: ", "Exception in thread ", traceback}

// lastLines is a writer that keeps the last lines written to it, each cut to 400 bytes.
// Its methods may be called by many goroutines at once.
type lastLines struct {
	onLine func(line string) // called for each line that has its end; it may be nil
	all    io.Writer         // gets all that is written; it may be nil

	mu           sync.Mutex
	printedLines []printedLine
	rest         []byte   // the line that has no end yet
	reason       []string // the latest line that says why a process ends, and some with the place
	linesSince   int      // lines after it
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
		l.rest = append(l.rest, line[:min(len(line), maxBytes-len(l.rest))]...)
		if !ended {
			return n, nil
		}
		if l.onLine != nil {
			l.onLine(strings.TrimSuffix(string(l.rest), "\r"))
		}
		l.keep(string(l.rest))
		l.rest, text = l.rest[:0], rest
	}
}

// keep keeps a line. The lock is held.
func (l *lastLines) keep(line string) {
	l.printedLines = append(l.printedLines, printedLine{time.Now(), line})
	l.printedLines = l.printedLines[max(0, len(l.printedLines)-maxKept):]
	if l.linesSince++; len(l.reason) > 0 && l.linesSince < maxPlace {
		l.reason = append(l.reason, line)
	}
	if givesReason(line) {
		l.reason, l.linesSince = []string{line}, 0
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
	if unseen := l.linesSince + 1 - maxLines; len(l.reason) > 0 && unseen > 0 {
		first = l.reason[:min(unseen, len(l.reason))]
		if unseen > len(l.reason) {
			first = append(slices.Clip(first), "...")
		}
	}
	for _, line := range l.printedLines[max(0, len(l.printedLines)-maxLines):] {
		last = append(last, line.text)
	}
	return displayLines(slices.Concat(first, last, []string{string(l.rest)}))
}

// finish ends a line that has no end when nothing follows it.
func (l *lastLines) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all != nil && len(l.rest) > 0 {
		_, _ = l.all.Write([]byte("\n"))
	}
}

// linesBetween returns what was printed from one time to another, in few lines: the first reason, if one was given,
// else the last lines.
func (l *lastLines) linesBetween(from, to time.Time) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []string
	for _, line := range l.printedLines {
		if !line.at.Before(from) && !line.at.After(to) {
			lines = append(lines, line.text)
		}
	}
	return excerpt(displayLines(lines))
}

// displayLines returns lines as they are shown, without empty ones.
func displayLines(all []string) (display []string) {
	for _, line := range all {
		if line = strings.TrimRight(strings.ToValidUTF8(line, "?"), " \r\t"); line != "" {
			display = append(display, strings.ReplaceAll(line, "\t", "    "))
		}
	}
	return display
}

// excerpt returns those of many lines that say most: the beginning of the first reason with its place, of a traceback
// the end with the place, else the last ones.
func excerpt(lines []string) []string {
	at := slices.IndexFunc(lines, givesReason)
	if at < 0 {
		return lines[max(0, len(lines)-maxOtherLines):]
	}
	if python := slices.Index(lines, traceback); python == at || python == at+1 {
		return excerptOfTraceback(lines[python+1:])
	}
	return lines[at:min(at+maxPlace, len(lines))]
}

// Excerpt returns those of the last lines of a program that say most of why it has ended: see [RunningProgram.Output].
func Excerpt(lines []string) []string { return excerpt(lines) }

// frame matches a line of a traceback with a place, library a place in Python's own library, exceptionLine the line at
// its end with the exception, and underline a line that underlines a part of the one before it.
var (
	frame         = regexp.MustCompile(`^  File "(.*)", line \d+`)
	library       = regexp.MustCompile(`/lib/python[\d.]*/|^<`)
	exceptionLine = regexp.MustCompile(`^[A-Za-z_][\w.]*(: |$)`)
	underline     = regexp.MustCompile(`^[ ~^]+$`)
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
				if i+1 < len(lines) && strings.HasPrefix(lines[i+1], "    ") && !underline.MatchString(lines[i+1]) {
					place = append(place, lines[i+1])
				}
			}
		case exceptionLine.MatchString(line) && line != traceback:
			last = line
		}
		if last != "" {
			break
		}
	}
	result := append([]string{traceback}, place...)
	if len(place) > 0 && at != place[0] {
		result = append(result, "  ...")
	}
	if last != "" {
		result = append(result, last)
	}
	return result
}
