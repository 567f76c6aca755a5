package shared

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/reports/formats"
)

// ReportFlags are the flags for the format and the place of a report.
type ReportFlags struct {
	Format, Color         OneOf
	Details               OneOf    // see DeclareDetails
	Outputs               []string // [FORMAT=]FILE; "-" is standard output
	IsVerbose, NoProgress bool
}

// Declare adds the flags to a command, with their defaults; verbose is the usage of --verbose.
func (r *ReportFlags) Declare(cmd *cobra.Command, verbose string) {
	r.Format, r.Color = NewOneOf(formats.Names()...), NewOneOf("auto", "always", "never")
	f := cmd.Flags()
	f.Var(&r.Format, "format", "format of the report")
	f.StringArrayVarP(&r.Outputs, "output", "o", nil, "write the report to `[FORMAT=]FILE`, in FORMAT or that of the "+
		"file's ending (.html), and to standard output too. Without either, the file replaces standard output and has "+
		"the format of --format. In a folder (reports/) the file is named after command and target. May be repeated")
	f.BoolVarP(&r.IsVerbose, "verbose", "v", false, verbose)
	f.Var(&r.Color, "color", "colour in the report")
	f.BoolVar(&r.NoProgress, "no-progress", false, "show no progress")
	if err := cmd.RegisterFlagCompletionFunc("output", completePlace); err != nil {
		panic(err) // the flag was declared above
	}
}

// DeclareDetails adds the flag for how much of many findings a terminal shows.
func (r *ReportFlags) DeclareDetails(cmd *cobra.Command) {
	r.Details = NewOneOf("first", "all")
	cmd.Flags().Var(&r.Details, "details", "details of the first ten findings, or of all, in the text report")
}

// Validate returns an error if the report cannot be written.
func (r *ReportFlags) Validate() error {
	places, err := r.places()
	if err != nil {
		return err
	}
	for _, at := range places {
		file := at.file
		if isFolder(file) { // the name of the file is known when the result is
			if err := os.MkdirAll(file, 0o755); err != nil { //nolint:gosec // results are no secret
				return fmt.Errorf("--output: %w", err)
			}
			file = filepath.Join(file, "report"+formats.ExtensionOf(at.format))
		}
		if err := CheckWritable("--output", file); err != nil {
			return err
		}
	}
	return nil
}

// place is a value of --output: a file, or standard output.
type place struct {
	format string // empty: that of --format
	file   string // "-": standard output
}

// place reads a value of --output. Without a format and without --format the end of the file's name says which format
// it has. A file whose name has an equals sign is written as ./NAME.
func (r *ReportFlags) place(value string) (place, error) {
	name, file, hasFormat := strings.Cut(value, "=")
	format, isKnown := formats.OfFile(value)
	all := strings.Join(formats.Names(), " or ")
	switch {
	case value == "":
		return place{}, errors.New("--output is empty: give a file")
	case hasFormat && slices.Contains(formats.Names(), name) && file != "":
		return place{name, file}, nil
	case hasFormat && slices.Contains(formats.Names(), name):
		return place{}, fmt.Errorf("--output %s has no file: write %s=FILE", value, name)
	case hasFormat && !strings.ContainsAny(name, "/."):
		return place{}, fmt.Errorf("--output: unknown format %q%s (for a file of that name: ./%s)", name,
			cmp.Or(Suggestion(name, formats.Names()), "; use "+all), value)
	case r.Format.isGiven || isKnown && format == r.Format.String():
		return place{file: value}, nil
	case isKnown:
		return place{format, value}, nil
	case filepath.Ext(value) != "" && filepath.Dir(value) != "/dev":
		return place{}, fmt.Errorf("--output %s: unknown ending of a file name; write FORMAT=%s, with %s",
			value, value, all)
	}
	return place{file: value}, nil
}

// places returns where the report goes, each with its format. Without a file for the report of --format that is
// standard output, unless another format goes there.
func (r *ReportFlags) places() ([]place, error) {
	var all []place
	needsMain, hasStdout := true, false
	for _, value := range r.Outputs {
		at, err := r.place(value)
		if err != nil {
			return nil, err
		}
		needsMain, hasStdout = needsMain && at.format != "", hasStdout || at.file == "-"
		if at.format == "" {
			at.format = r.Format.String()
		}
		isSame := func(other place) bool {
			return isSameFile(other.file, at.file) && (!isFolder(at.file) ||
				formats.ExtensionOf(other.format) == formats.ExtensionOf(at.format))
		}
		if slices.ContainsFunc(all, isSame) {
			return nil, fmt.Errorf("--output has %s twice: one report would overwrite the other", at.file)
		}
		all = append(all, at)
	}
	if needsMain && !hasStdout {
		all = append(all, place{r.Format.String(), "-"})
	}
	return all, nil
}

// Files returns the files of --output, without those in folders, whose names are not known yet.
func (r *ReportFlags) Files() []string {
	var names []string
	for _, value := range r.Outputs {
		if at, err := r.place(value); err == nil && isFile(at.file) && !isFolder(at.file) {
			names = append(names, at.file)
		}
	}
	return names
}

// completePlace completes the value of --output: the names of formats, and files.
func completePlace(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if strings.ContainsAny(prefix, "=/.") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var words []string
	for _, name := range formats.Names() {
		if strings.HasPrefix(name, prefix) {
			words = append(words, name+"=")
		}
	}
	return words, cobra.ShellCompDirectiveNoSpace
}
