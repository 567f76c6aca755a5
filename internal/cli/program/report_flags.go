package program

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ReportFlags are the flags for the format and the place of a report.
type ReportFlags struct {
	Format, Color       OneOf
	File                string // empty or "-": standard output
	Verbose, NoProgress bool
}

// NewReportFlags returns the flags with their defaults.
func NewReportFlags() ReportFlags {
	return ReportFlags{Format: Formats(), Color: NewOneOf("auto", "always", "never")}
}

// Formats returns the flag --format.
func Formats() OneOf { return NewOneOf("text", "json") }

// Declare adds the flags to a command; verbose is the usage of --verbose.
func (r *ReportFlags) Declare(cmd *cobra.Command, verbose string) {
	f := cmd.Flags()
	f.Var(&r.Format, "format", "format of the report")
	f.StringVarP(&r.File, "output", "o", "", "write the report to `FILE` instead of standard output")
	f.BoolVarP(&r.Verbose, "verbose", "v", false, verbose)
	f.Var(&r.Color, "color", "colour in the report")
	f.BoolVar(&r.NoProgress, "no-progress", false, "show no progress")
	CompleteFlags(cmd, map[string]func() []string{"format": r.Format.Words, "color": r.Color.Words})
}

// Validate returns an error if the report cannot be written.
func (r *ReportFlags) Validate(given *pflag.FlagSet) error {
	if given.Changed("output") && r.File == "" {
		return errors.New("--output is empty: it names a file")
	}
	return writable(r.File)
}

// CompleteFlags completes the values of flags with words.
func CompleteFlags(cmd *cobra.Command, words map[string]func() []string) {
	for flag, of := range words {
		if err := cmd.RegisterFlagCompletionFunc(flag, Complete(of)); err != nil {
			panic(err) // no such flag
		}
	}
}
