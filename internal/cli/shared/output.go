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
	stdoutFormat, files := "", []string{}
	for _, at := range places {
		at.file = o.file(at)
		switch {
		case !isFile(at.file):
			stdoutFormat = at.format
		case p.save(&o, at):
			files = append(files, at.file)
		case stdoutFormat == "":
			stdoutFormat = o.Flags.Format.String()
		}
	}
	trouble := &o.Report.Common().Trouble
	if trouble.Unreachable != "" && stdoutFormat != "" && stdoutFormat != "text" { // the report is for programs
		p.Logf("%s", trouble.Unreachable)
	}
	if stdoutFormat != "" {
		options := p.textOptions(p.Out)
		options.Color = p.wantsColor(o.Flags.Color.String())
		if err := formats.Write(p.Out, stdoutFormat, p.completeOutput(&o, formats.Output{Text: options})); err != nil {
			p.Logf("%v", err)
			trouble.Internal = text.OfError(err)
		}
	}
	p.annotate(&o, slices.ContainsFunc(places, func(at place) bool { return at.format == "github" }))
	code, words := o.Report.Outcome(o.Exit).Values()
	switch {
	case len(files) > 0 && stdoutFormat == "":
		p.Logf("%s; the report is in %s", words, strings.Join(files, ", "))
	case len(files) > 0:
		p.Logf("the report is also in %s", strings.Join(files, ", "))
	}
	return ExitError(code)
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
	output := p.completeOutput(o, formats.Output{Text: page.TextOptions{Color: o.Flags.Color.String() == "always"}})
	if info, err := os.Stat(at.file); err != nil || info.Mode().IsRegular() { // beside a device or a pipe is no place
		output.Scripts = strings.TrimSuffix(at.file, filepath.Ext(at.file)) + ".scripts"
	}
	err := saveScripts(output.Scripts, formats.Scripts(at.format, output))
	if err == nil {
		err = ReplaceFile(at.file, func(w io.Writer) error { return formats.Write(w, at.format, output) })
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
		if err := ReplaceFile(file, WriteBytes([]byte(text))); err != nil {
			return err
		}
	}
	return nil
}

// completeOutput completes how a report is written: with the report, and with where the call is in the user's
// repository.
func (p Process) completeOutput(o *Output, output formats.Output) formats.Output {
	output.Result, output.Exit, output.Verbose = o.Report, o.Exit, o.Flags.IsVerbose
	output.AllDetails = o.Flags.Details.String() == "all"
	output.Folder, _ = os.Getwd() // without it names stay as they are
	output.Repository = cmp.Or(p.env("GITHUB_WORKSPACE"), output.Folder)
	if name := workflowFile(p.env("GITHUB_WORKFLOW_REF")); name != "" {
		output.FallbackFile = filepath.Join(output.Repository, name)
	}
	return output
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

// ExitError returns the error that ends a command with this exit code, nil if all is well.
func ExitError(code int) error {
	if code == reports.ExitWell {
		return nil
	}
	return Exit(code)
}

// resultFlags are the flags that name files for results. (--trace is one of `fwpcheck record`; elsewhere it is read.)
var resultFlags = []string{"output", "history", "hlog", "csv", "benchfmt", "trace", "tls-ca-out"}

// refuseOverwrite returns an error if a file for results is that of another flag, or one that is read.
func refuseOverwrite(cmd *cobra.Command, args []string) (err error) {
	type named struct{ source, file string }
	var results, others []named
	for _, name := range args {
		others = append(others, named{"an argument", name})
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		files := []string{f.Value.String()}
		if slice, ok := f.Value.(pflag.SliceValue); ok {
			files = slice.GetSlice()
		}
		for _, file := range files {
			if _, name, ok := strings.Cut(file, "="); ok && f.Name == "output" {
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
			if result.source != other.source && isFile(result.file) && !isFolder(result.file) &&
				isSameFile(result.file, other.file) {
				return fmt.Errorf("%s and %s have the same file, %s: one would overwrite the other", other.source, result.source,
					result.file)
			}
		}
	}
	return nil
}

// isSameFile reports whether two names are those of one file that holds what was written last. A device or a pipe,
// which may take several results, is none.
func isSameFile(a, b string) bool {
	info, err := os.Stat(a)
	other, errOther := os.Stat(b)
	switch {
	case err == nil && errOther == nil:
		return os.SameFile(info, other) && (info.Mode().IsRegular() || info.IsDir())
	case err == nil || errOther == nil:
		return false
	}
	return filepath.Clean(a) == filepath.Clean(b)
}

// isFile reports whether --output names a file, and not standard output.
func isFile(name string) bool { return name != "" && name != "-" }

// CheckWritable returns an error if the FILE of a flag cannot be written. It is called before the work whose result
// goes there, and leaves an existing file as it is.
func CheckWritable(flag, name string) error {
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
