package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/fwpsuite/fwp/reports"
)

// deliver writes the report where the user wants it, and ends the command with
// its exit code. A report that cannot be written to its file goes to standard
// output: results that took minutes are not thrown away.
func (p Process) deliver(r *reports.Report, o *runOptions) error {
	toFile := o.output != "" && o.output != "-"
	if r.Unreachable != "" && (toFile || o.format.value != "text") { // nobody may be reading the report
		p.say("%s", r.Unreachable)
	}
	if toFile {
		err := writeFile(o.output, r, o)
		if err == nil {
			code, words := r.Outcome(o.exit())
			p.say("%s; the report is in %s", words, o.output)
			return ended(code)
		}
		p.say("%v\nThe report goes to standard output instead.", err)
		r.Internal = err.Error()
	}
	if err := writeReport(p.Out, r, o, p.wantsColor(o.color.value)); err != nil {
		p.say("%v", err)
		r.Internal = err.Error()
	}
	return ended(r.ExitCode(o.exit()))
}

// ended is the end of a command with this code.
func ended(code int) error {
	if code == reports.ExitWell {
		return nil
	}
	return exit(code)
}

func writeReport(w io.Writer, r *reports.Report, o *runOptions, color bool) error {
	if o.format.value == "json" {
		return reports.WriteJSON(w, r)
	}
	return reports.WriteText(w, r, reports.TextOptions{Color: color, Verbose: o.verbose, Exit: o.exit()})
}

// writeFile writes the report to a file, in colour only if that was asked for.
func writeFile(name string, r *reports.Report, o *runOptions) error {
	var text bytes.Buffer
	if err := writeReport(&text, r, o, o.color.value == "always"); err != nil {
		return err
	}
	if err := os.WriteFile(name, text.Bytes(), 0o644); err != nil { //nolint:gosec // a report is no secret
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
