package shared

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/formats"
	"github.com/fwpsuite/fwp/reports/page"
)

// Output is a report, and where and how it is written.
type Output struct {
	Flags  *ReportFlags
	Exit   reports.ExitOptions
	Report reports.Result
}

// Deliver writes a report to its files and to standard output, and ends the command with the exit code. If a report
// cannot be written to its file, that of --format goes to standard output: results that took minutes are not lost.
// In a step of GitHub Actions it also makes annotations and a summary of the step.
func (p Process) Deliver(o Output) error {
	places, err := o.Flags.places()
	if err != nil {
		return err
	}
	shown, written := "", []string{}
	for _, at := range places {
		at.file = o.file(at)
		switch {
		case !isFile(at.file):
			shown = at.format
		case p.save(&o, at):
			written = append(written, at.file)
		case shown == "":
			shown = o.Flags.Format.String()
		}
	}
	trouble := &o.Report.Common().Trouble
	if trouble.Unreachable != "" && shown != "" && shown != "text" { // the report is for programs
		p.Logf("%s", trouble.Unreachable)
	}
	if shown != "" {
		here := p.fit(p.Out)
		here.Color = p.wantsColor(o.Flags.Color.String())
		if err := formats.Write(p.Out, shown, p.about(&o, formats.Output{Text: here})); err != nil {
			p.Logf("%v", err)
			trouble.Internal = text.OfError(err)
		}
	}
	p.annotate(&o, slices.ContainsFunc(places, func(at place) bool { return at.format == "github" }))
	code, words := o.Report.Outcome(o.Exit).Values()
	switch {
	case len(written) > 0 && shown == "":
		p.Logf("%s; the report is in %s", words, strings.Join(written, ", "))
	case len(written) > 0:
		p.Logf("the report is also in %s", strings.Join(written, ", "))
	}
	return Ended(code)
}

// file returns the name of the file of a place: in a folder it is that which the result suggests.
func (o *Output) file(at place) string {
	if !isFolder(at.file) {
		return at.file
	}
	suite := o.Report.Suite(o.Exit)
	return filepath.Join(at.file, suite.FileName()+formats.ExtensionOf(at.format))
}

// isFolder reports whether --output names a folder: it ends with a slash.
func isFolder(name string) bool { return name != "" && os.IsPathSeparator(name[len(name)-1]) }

// save writes a report to a file, with the scripts that it points to in a folder beside it, and reports whether it
// could.
func (p Process) save(o *Output, at place) bool {
	how := p.about(o, formats.Output{Text: page.TextOptions{Color: o.Flags.Color.String() == "always"}})
	if info, err := os.Stat(at.file); err != nil || info.Mode().IsRegular() { // beside a device or a pipe is no place
		how.Scripts = strings.TrimSuffix(at.file, filepath.Ext(at.file)) + ".scripts"
	}
	err := saveScripts(how.Scripts, formats.Scripts(at.format, how))
	if err == nil {
		err = ReplaceFile(at.file, func(w io.Writer) error { return formats.Write(w, at.format, how) })
	}
	if err == nil {
		return true
	}
	p.Logf("the report cannot be written to %s, so it goes to standard output: %v", at.file,
		cmp.Or(errors.Unwrap(err), err))
	o.Report.Common().Internal = "the report could not be written to the file"
	return false
}

// saveScripts writes scripts into a folder, which is made if there are any.
func saveScripts(folder string, texts map[string]string) error {
	for name, text := range texts {
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // scripts are no secret
			return err
		}
		if err := ReplaceFile(file, Bytes([]byte(text))); err != nil {
			return err
		}
	}
	return nil
}

// about completes how a report is written: with the report, and with where the call is in the user's repository.
func (p Process) about(o *Output, how formats.Output) formats.Output {
	how.Result, how.Exit, how.Verbose = o.Report, o.Exit, o.Flags.Verbose
	how.Folder, _ = os.Getwd() // without it names stay as they are
	how.Repository = cmp.Or(p.env("GITHUB_WORKSPACE"), how.Folder)
	if name := workflowFile(p.env("GITHUB_WORKFLOW_REF")); name != "" {
		how.Place = filepath.Join(how.Repository, name)
	}
	return how
}

// workflowFile returns the file in a reference to a workflow, "owner/name/.github/workflows/ci.yml@refs/heads/main" for
// example; empty if that is none.
func workflowFile(ref string) string {
	path, _, _ := strings.Cut(ref, "@")
	if parts := strings.SplitN(path, "/", 3); len(parts) == 3 {
		return parts[2]
	}
	return ""
}

// Ended returns the error that ends a command with this exit code, nil if all is well.
func Ended(code int) error {
	if code == reports.ExitWell {
		return nil
	}
	return Exit(code)
}

// resultFlags are the flags that name files for results. (--trace is one of `fwpcheck record`; elsewhere it is read.)
var resultFlags = []string{"output", "history", "hlog", "csv", "benchfmt", "trace", "tls-ca-out"}

// refuseReplaced returns an error if a file for results is that of another flag, or one that is read.
func refuseReplaced(cmd *cobra.Command, args []string) (err error) {
	type named struct{ by, file string }
	var results, others []named
	for _, name := range args {
		others = append(others, named{"an argument", name})
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		files := []string{f.Value.String()}
		if several, ok := f.Value.(pflag.SliceValue); ok {
			files = several.GetSlice()
		}
		for _, file := range files {
			if _, name, given := strings.Cut(file, "="); given && f.Name == "output" {
				file = name
			}
			if slices.Contains(resultFlags, f.Name) {
				results = append(results, named{"--" + f.Name, file})
			} else {
				others = append(others, named{"--" + f.Name, file})
			}
		}
	})
	for i, result := range results {
		for _, other := range append(results[:i:i], others...) {
			if result.by != other.by && isFile(result.file) && !isFolder(result.file) && sameFile(result.file, other.file) {
				return fmt.Errorf("%s and %s have the same file, %s: one would overwrite the other", other.by, result.by,
					result.file)
			}
		}
	}
	return nil
}

// sameFile reports whether two names are those of one file that holds what was written last. A device or a pipe, which
// may take several results, is none.
func sameFile(a, b string) bool {
	one, errOne := os.Stat(a)
	other, errOther := os.Stat(b)
	switch {
	case errOne == nil && errOther == nil:
		return os.SameFile(one, other) && (one.Mode().IsRegular() || one.IsDir())
	case errOne == nil || errOther == nil:
		return false
	}
	return filepath.Clean(a) == filepath.Clean(b)
}

// isFile reports whether --output names a file, and not standard output.
func isFile(name string) bool { return name != "" && name != "-" }

// Writable returns an error if the FILE of a flag cannot be written. It is called before the work whose result goes
// there, and leaves an existing file as it is.
func Writable(flag, name string) error {
	if !isFile(name) {
		return nil
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil // closing a pipe would end it for its reader
	}
	if os.IsPathSeparator(name[len(name)-1]) {
		return fmt.Errorf("%s %s: this is a folder; give a file", flag, name)
	}
	f, err := OpenFile(name)
	switch {
	case errors.Is(err, syscall.EISDIR):
		return fmt.Errorf("%s %s: this is a folder; give a file", flag, name)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w: make the folder %s first", flag, err, filepath.Dir(name))
	case err != nil:
		return fmt.Errorf("%s: %w", flag, err)
	}
	f.Discard()
	return nil
}
