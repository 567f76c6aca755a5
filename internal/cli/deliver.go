package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/fwpsuite/fwp/reports"
)

// delivery is a report on its way to the user.
type delivery struct {
	file, format, color string // --output, --format and --color

	unreachable string                                // of the report: why there was nothing to judge
	write       func(w io.Writer, colored bool) error // the report, in its format
	outcome     func() (code int, words string)       // of the report
	fail        func(why string)                      // takes note in the report of a fault of ours
}

// deliver writes a report where the user wants it, and ends the command with its exit
// code. A report that cannot be written to its file goes to standard output: results
// that took minutes are not thrown away.
func (p Process) deliver(d delivery) error {
	toFile := d.file != "" && d.file != "-"
	if d.unreachable != "" && (toFile || d.format != "text") { // nobody may be reading the report
		p.say("%s", d.unreachable)
	}
	if toFile {
		err := d.save()
		if err == nil {
			code, words := d.outcome()
			p.say("%s; the report is in %s", words, d.file)
			return ended(code)
		}
		p.say("%v\nThe report goes to standard output instead.", err)
		d.fail(err.Error())
	}
	if err := d.write(p.Out, p.wantsColor(d.color)); err != nil {
		p.say("%v", err)
		d.fail(err.Error())
	}
	code, _ := d.outcome()
	return ended(code)
}

// save writes the report to its file, in colour only if that was asked for.
func (d delivery) save() error {
	var text bytes.Buffer
	if err := d.write(&text, d.color == "always"); err != nil {
		return err
	}
	if err := os.WriteFile(d.file, text.Bytes(), 0o644); err != nil { //nolint:gosec // a report is no secret
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// ended is the end of a command with this code.
func ended(code int) error {
	if code == reports.ExitWell {
		return nil
	}
	return exit(code)
}

// delivery is a report of `run`.
func (o *runOptions) delivery(r *reports.Report) delivery {
	return delivery{
		file: o.output, format: o.format.value, color: o.color.value, unreachable: r.Unreachable,
		write: func(w io.Writer, colored bool) error {
			if o.format.value == "json" {
				return reports.WriteJSON(w, r)
			}
			return reports.WriteText(w, r, reports.TextOptions{Color: colored, Verbose: o.verbose, Exit: o.exit()})
		},
		outcome: func() (int, string) { return r.Outcome(o.exit()) },
		fail:    func(why string) { r.Internal = why },
	}
}
