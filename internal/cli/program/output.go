package program

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/fwpsuite/fwp/reports"
)

// Output is a report, and where and how it is written.
type Output struct {
	Flags  *ReportFlags
	Exit   reports.ExitOptions
	Report interface { // for people
		Page(o reports.PageOptions) reports.Page
	}
	JSON        func(w io.Writer) error         // writes it for programs
	Outcome     func() (code int, words string) // the exit code and what it stands for
	Unreachable string                          // why there was nothing to test; empty if there was
	Internal    *string                         // the field of the report for an internal error
}

// write writes the report in its format.
func (o Output) write(w io.Writer, text reports.TextOptions) error {
	if o.Flags.Format.String() == "json" {
		return o.JSON(w)
	}
	page := o.Report.Page(reports.PageOptions{Verbose: o.Flags.Verbose, Exit: o.Exit})
	return page.WriteText(w, text)
}

// Deliver writes a report to its file or to standard output, and ends the command with
// the exit code. A report that cannot be written to its file goes to standard output:
// results that took minutes are not lost.
func (p Process) Deliver(o Output) error {
	toFile := isFile(o.Flags.File)
	if o.Unreachable != "" && (toFile || o.Flags.Format.String() != "text") { // the report may be read by programs only
		p.Logf("%s", o.Unreachable)
	}
	if toFile {
		plain := reports.TextOptions{Color: o.Flags.Color.String() == "always"}
		err := ReplaceFile(o.Flags.File, func(w io.Writer) error { return o.write(w, plain) })
		if err == nil {
			code, words := o.Outcome()
			p.Logf("%s; the report is in %s", words, o.Flags.File)
			return Ended(code)
		}
		p.Logf("the report cannot be written to %s, and goes to standard output: %v",
			o.Flags.File, cmp.Or(errors.Unwrap(err), err))
		*o.Internal = "the report could not be written to its file"
	}
	here := p.fit(p.Out)
	here.Color = p.wantsColor(o.Flags.Color.String())
	if err := o.write(p.Out, here); err != nil {
		p.Logf("%v", err)
		*o.Internal = err.Error()
	}
	code, _ := o.Outcome()
	return Ended(code)
}

// Ended returns the error that ends a command with this exit code, nil if all is well.
func Ended(code int) error {
	if code == reports.ExitWell {
		return nil
	}
	return Exit(code)
}

// isFile reports whether --output names a file, and not standard output.
func isFile(name string) bool { return name != "" && name != "-" }

// writable returns an error if --output cannot be written. It is called before the work
// that the report is about, and leaves an existing file as it is.
func writable(name string) error {
	if !isFile(name) {
		return nil
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil // closing a pipe would end it for its reader
	}
	f, err := OpenFile(name)
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	f.Discard()
	return nil
}
