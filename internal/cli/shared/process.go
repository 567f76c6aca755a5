package shared

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/page"
)

// Process is the arguments, streams and environment of a program. All exported fields must be set.
type Process struct {
	Args      []string // without the name of the program
	In        io.Reader
	Out       io.Writer
	Err       io.Writer
	LookupEnv func(name string) (string, bool)
	Name      string // of the program: "fwpcheck"
	// Secrets removes what messages must not have, once it is known; nil: nothing.
	Secrets *target.Secrets

	isTerminal func(io.Writer) bool // instead of asking the system, if set
}

// Logf writes a message to standard error, as Show returns it, in lines that fit; an error of that is ignored. Errors
// among the arguments are those for %v.
func (p Process) Logf(format string, args ...any) {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = text.OfError(err)
		}
	}
	message := p.Show(fmt.Sprintf(p.Name+": "+format, args...))
	if width := p.textOptions(p.Err).Width; width > 0 {
		message = breakLines(message, width)
	}
	_, _ = io.WriteString(p.Err, message+"\n")
}

// breakLines returns a message in lines of at most so many characters. What continues a line begins two characters
// below it.
func breakLines(message string, width int) string {
	var lines []string
	for line := range strings.SplitSeq(message, "\n") {
		at := len(line) - len(strings.TrimLeft(line, " "))
		for _, part := range text.Break(line, width, at+2) {
			lines = append(lines, text.Inert(part))
		}
	}
	return strings.Join(lines, "\n")
}

// Show returns lines that may quote a server or a file as they may be printed: without secrets, without what could move
// a terminal's cursor or hide text, and cut where they are very long.
func (p Process) Show(lines string) string { return text.Show(p.Secrets.Hide(lines)) }

// Print writes results to standard output.
func (p Process) Print(text string) error {
	if _, err := io.WriteString(p.Out, text); err != nil {
		return &InternalError{fmt.Errorf("write to standard output: %w", err)}
	}
	return nil
}

func (p Process) env(name string) string {
	value, _ := p.LookupEnv(name)
	return value
}

// onTerminal reports whether w is a terminal.
func (p Process) onTerminal(w io.Writer) bool {
	if p.isTerminal != nil {
		return p.isTerminal(w)
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// textOptions returns how text is written to w: as wide as COLUMNS says, or else the terminal that w is. Every line
// fits then.
func (p Process) textOptions(w io.Writer) page.TextOptions {
	width, err := strconv.Atoi(p.env("COLUMNS"))
	if err != nil {
		width = terminalWidth(w)
	}
	if width < 1 {
		return page.TextOptions{}
	}
	return page.TextOptions{Width: max(width, minWidth), Fit: true}
}

// minWidth is the narrowest that text is written, in characters.
const minWidth = 20

// wantsColor reports whether standard output is in colour. A flag comes before the
// environment (https://no-color.org).
func (p Process) wantsColor(flag string) bool {
	switch flag {
	case "always":
		return true
	case "never":
		return false
	}
	return p.env("NO_COLOR") == "" && p.env("TERM") != "dumb" && p.onTerminal(p.Out)
}

// memoryLimit is what the runtime tries to keep to where all memory is that of replies and conversations.
const memoryLimit = 224 << 20 // bytes

// LimitMemory sets, for every command of the process, when the runtime collects garbage: rarely while there is little,
// because what a start parses is kept, and in time where a hostile peer makes much, which is bounded, but several times
// that much garbage would not be. The variables GOGC and GOMEMLIMIT override it.
func (p Process) LimitMemory() {
	if _, ok := p.LookupEnv("GOGC"); !ok {
		debug.SetGCPercent(400)
	}
	if _, ok := p.LookupEnv("GOMEMLIMIT"); !ok {
		debug.SetMemoryLimit(memoryLimit)
	}
}

// PrintPage writes a page to standard output.
func (p Process) PrintPage(content reports.Page) error {
	if _, err := p.Out.Write(page.Text(content, p.textOptions(p.Out))); err != nil {
		return &InternalError{err}
	}
	return nil
}

// PrintJSON writes a value to standard output, as indented JSON.
func (p Process) PrintJSON(v any) error {
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return &InternalError{err}
	}
	return p.Print(string(text.EscapeJSON(out)) + "\n")
}
