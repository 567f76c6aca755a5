package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

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
	toFile := isFile(d.file)
	if d.unreachable != "" && (toFile || d.format != "text") { // nobody may be reading the report
		p.say("%s", d.unreachable)
	}
	if toFile {
		err := replaceFile(d.file, func(w io.Writer) error { return d.write(w, d.color == "always") })
		if err == nil {
			code, words := d.outcome()
			p.say("%s; the report is in %s", words, d.file)
			return ended(code)
		}
		err = fmt.Errorf("write report: %w", err)
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

// isFile says whether --output names a file, and not standard output.
func isFile(name string) bool { return name != "" && name != "-" }

// writable looks whether --output can be written, before the work whose report it is to
// hold. It leaves what is there as it is.
func writable(name string) error {
	if !isFile(name) {
		return nil
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil // whoever reads a pipe would take this for the end
	}
	f, err := openOut(name)
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	f.discard()
	return nil
}

// replaceFile writes a file whole, or leaves what is there as it is.
func replaceFile(name string, write func(io.Writer) error) error {
	f, err := openOut(name)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.discard()
		return err
	}
	return f.commit()
}

// outFile is a file that results go to. It is written beside the one that is there,
// whose place it takes when it is whole. What is no plain file, or lies where no other
// may be made, is written itself, and loses what it holds with the first byte.
type outFile struct {
	file    *os.File
	name    string // whose place it takes; empty: it is the file itself
	emptied bool
}

// openOut makes sure that name can be written.
func openOut(name string) (*outFile, error) {
	if end, err := filepath.EvalSymlinks(name); err == nil {
		name = end
	}
	there, err := os.OpenFile(name, os.O_WRONLY, 0)
	mode := fs.FileMode(0o644)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		there = nil
	case err != nil:
		return nil, err
	default:
		info, err := there.Stat()
		if err != nil || !info.Mode().IsRegular() {
			return &outFile{file: there}, err
		}
		mode = info.Mode().Perm()
	}
	beside, err := os.OpenFile(name+"."+rand.Text()[:6]+".partial", os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err == nil {
		if there != nil {
			_ = there.Close() // nothing was written
		}
		return &outFile{file: beside, name: name}, nil
	}
	if there != nil {
		return &outFile{file: there}, nil
	}
	if wrong, ok := errors.AsType[*fs.PathError](err); ok {
		wrong.Path = name
	}
	return nil, err
}

// Write implements io.Writer.
func (f *outFile) Write(b []byte) (int, error) {
	if f.name == "" && !f.emptied {
		f.emptied = true
		if err := f.file.Truncate(0); err != nil && !errors.Is(err, syscall.EINVAL) { // a device has no length
			return 0, err
		}
	}
	return f.file.Write(b)
}

// commit puts the file in its place.
func (f *outFile) commit() error {
	err := f.file.Close()
	if f.name == "" {
		return err
	}
	if err == nil {
		err = os.Rename(f.file.Name(), f.name)
	}
	if err != nil {
		_ = os.Remove(f.file.Name()) // of two errors the first is told
	}
	return err
}

// discard leaves what was there as it was.
func (f *outFile) discard() {
	_ = f.file.Close()
	if f.name != "" {
		_ = os.Remove(f.file.Name())
	}
}
