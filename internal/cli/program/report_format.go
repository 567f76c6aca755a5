package program

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/html"
)

// Result is what a run ends with.
type Result interface {
	Page(o reports.PageOptions) reports.Page   // for people
	Suite(o reports.ExitOptions) reports.Suite // as cases, for CI systems
}

// format writes an output in one format.
type format struct {
	name  string
	write func(o *Output, w io.Writer, text reports.TextOptions) error
}

// formats returns the formats of reports, in the order in which help lists them.
func formats() []format {
	return []format{
		{"text", func(o *Output, w io.Writer, text reports.TextOptions) error { return o.page(false).WriteText(w, text) }},
		{"json", func(o *Output, w io.Writer, _ reports.TextOptions) error { return o.JSON(w) }},
		{"junit", ofCases((*reports.Suite).WriteJUnit)},
		{"tap", ofCases((*reports.Suite).WriteTAP)},
		{"github", ofCases((*reports.Suite).WriteGitHub)},
		{"markdown", func(o *Output, w io.Writer, _ reports.TextOptions) error {
			return o.page(false).WriteMarkdown(w, reports.MarkdownOptions{})
		}},
		{"sarif", func(o *Output, w io.Writer, _ reports.TextOptions) error {
			suite := o.Report.Suite(o.Exit)
			suite.Place = cmp.Or(suite.Place, workflowFile(os.Getenv("GITHUB_WORKFLOW_REF")))
			return suite.WriteSARIF(w)
		}},
		{"html", func(o *Output, w io.Writer, _ reports.TextOptions) error { return o.writeHTML(w) }},
	}
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

// ofCases returns a writer of the cases of an output.
func ofCases(write func(*reports.Suite, io.Writer) error) func(*Output, io.Writer, reports.TextOptions) error {
	return func(o *Output, w io.Writer, _ reports.TextOptions) error {
		suite := o.Report.Suite(o.Exit)
		return write(&suite, w)
	}
}

// formatNames returns the names of the formats.
func formatNames() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// page returns the report for people, with pictures for the formats that have them.
func (o *Output) page(figures bool) reports.Page {
	return o.Report.Page(reports.PageOptions{Verbose: o.Flags.Verbose, Figures: figures, Exit: o.Exit})
}

// writeHTML writes the report as one HTML file, with the JSON in it.
func (o *Output) writeHTML(w io.Writer) error {
	var data bytes.Buffer
	if err := o.JSON(&data); err != nil {
		return err
	}
	suite := o.Report.Suite(o.Exit)
	return html.Write(w, html.Document{
		Title: suite.Name, Subject: suite.Target, Page: o.page(true), Data: data.Bytes(),
	})
}

// write writes the report in a format.
func (o *Output) write(name string, w io.Writer, text reports.TextOptions) error {
	for _, f := range formats() {
		if f.name == name {
			return f.write(o, w, text)
		}
	}
	return &InternalError{fmt.Errorf("no format %q", name)}
}

// place is a value of --output: a file, or standard output.
type place struct {
	format string // empty: that of --format
	file   string // "-": standard output
}

// parsePlace reads a value of --output. A name that only resembles a format is refused: a file of that name is
// written as ./NAME.
func parsePlace(value string) (place, error) {
	name, file, given := strings.Cut(value, "=")
	switch {
	case value == "":
		return place{}, errors.New("--output is empty: it names a file")
	case !given:
		return place{file: value}, nil
	case !slices.Contains(formatNames(), name):
		if near := text.Nearest(name, formatNames(), 2); near != "" {
			return place{}, fmt.Errorf("--output: unknown format %q; %s (for a file of that name: ./%s)", name,
				text.DidYouMean(near), value)
		}
		return place{file: value}, nil
	case file == "":
		return place{}, fmt.Errorf("--output %s names no file: write %s=FILE", value, name)
	}
	return place{name, file}, nil
}

// places returns where the report goes, each with its format. Without a file for the report of --format that is
// standard output, unless another format goes there.
func (r *ReportFlags) places() ([]place, error) {
	var all []place
	main, stdout := true, false
	for _, value := range r.Outputs {
		at, err := parsePlace(value)
		if err != nil {
			return nil, err
		}
		main, stdout = main && at.format != "", stdout || at.file == "-"
		if at.format == "" {
			at.format = r.Format.String()
		}
		same := func(other place) bool { return filepath.Clean(other.file) == filepath.Clean(at.file) }
		if slices.ContainsFunc(all, same) {
			return nil, fmt.Errorf("--output names %s twice: one report would replace the other", at.file)
		}
		all = append(all, at)
	}
	if main && !stdout {
		all = append(all, place{r.Format.String(), "-"})
	}
	return all, nil
}

// Files returns the files of --output.
func (r *ReportFlags) Files() []string {
	var names []string
	for _, value := range r.Outputs {
		if at, err := parsePlace(value); err == nil && isFile(at.file) {
			names = append(names, at.file)
		}
	}
	return names
}

// completePlace completes the value of --output: the names of formats, and files.
func completePlace(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	if strings.ContainsAny(begun, "=/.") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var words []string
	for _, name := range formatNames() {
		if strings.HasPrefix(name, begun) {
			words = append(words, name+"=")
		}
	}
	return words, cobra.ShellCompDirectiveNoSpace
}
