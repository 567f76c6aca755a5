package cli

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Process is what a tool sees of the process that it runs in. All exported
// fields must be set.
type Process struct {
	Args      []string // without the name of the program
	In        io.Reader
	Out       io.Writer
	Err       io.Writer
	LookupEnv func(name string) (string, bool)

	program  string               // "fwpcheck" or "fwpbench"
	terminal func(io.Writer) bool // instead of asking the system, if set
}

// say writes a message to standard error, where nothing can be done about an
// error.
func (p Process) say(format string, args ...any) {
	_, _ = fmt.Fprintf(p.Err, p.program+": "+format+"\n", args...)
}

// print writes results to standard output.
func (p Process) print(text string) error {
	if _, err := io.WriteString(p.Out, text); err != nil {
		return &internalError{fmt.Errorf("write to standard output: %w", err)}
	}
	return nil
}

func (p Process) env(name string) string {
	value, _ := p.LookupEnv(name)
	return value
}

// seen tells whether somebody may be looking at what is written to w.
func (p Process) seen(w io.Writer) bool {
	if p.terminal != nil {
		return p.terminal(w)
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// wantsColor decides about colour on standard output. A flag says more than the
// environment (https://no-color.org).
func (p Process) wantsColor(flag string) bool {
	switch flag {
	case "always":
		return true
	case "never":
		return false
	}
	return p.env("NO_COLOR") == "" && p.env("TERM") != "dumb" && p.seen(p.Out)
}

// wantsProgress decides about a progress bar on standard error.
func (p Process) wantsProgress() bool {
	return p.env("CI") == "" && p.env("TERM") != "dumb" && p.seen(p.Err)
}
