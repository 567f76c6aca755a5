package program

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Process is the arguments, streams and environment of a program. All exported fields must be set.
type Process struct {
	Args      []string // without the name of the program
	In        io.Reader
	Out       io.Writer
	Err       io.Writer
	LookupEnv func(name string) (string, bool)
	Name      string // of the program: "fwpcheck"

	terminal func(io.Writer) bool // instead of asking the system, if set
}

// Logf writes a message to standard error; an error of that is ignored.
func (p Process) Logf(format string, args ...any) {
	_, _ = fmt.Fprintf(p.Err, p.Name+": "+format+"\n", args...)
}

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
	if p.terminal != nil {
		return p.terminal(w)
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

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

// WantsProgress reports whether there is a progress bar on standard error.
func (p Process) WantsProgress() bool {
	return p.env("CI") == "" && p.env("TERM") != "dumb" && p.onTerminal(p.Err)
}
