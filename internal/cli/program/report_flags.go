package program

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/reports/formats"
)

// ReportFlags are the flags for the format and the place of a report.
type ReportFlags struct {
	Format, Color       OneOf
	Outputs             []string // [FORMAT=]FILE; "-" is standard output
	Verbose, NoProgress bool
}

// NewReportFlags returns the flags with their defaults.
func NewReportFlags() ReportFlags {
	return ReportFlags{Format: NewOneOf(formats.Names()...), Color: NewOneOf("auto", "always", "never")}
}

// Formats returns the flag --format of commands whose result is text or JSON.
func Formats() OneOf { return NewOneOf("text", "json") }

// Declare adds the flags to a command, with their defaults; verbose is the usage of --verbose.
func (r *ReportFlags) Declare(cmd *cobra.Command, verbose string) {
	*r = NewReportFlags()
	f := cmd.Flags()
	f.Var(&r.Format, "format", "format of the report")
	f.StringArrayVarP(&r.Outputs, "output", "o", nil, "write the report to `[FORMAT=]FILE`: with FORMAT= ("+
		strings.Join(formats.Names(), ", ")+") in that format as well, without it that of --format instead of to "+
		"standard output; may be repeated")
	f.BoolVarP(&r.Verbose, "verbose", "v", false, verbose)
	f.Var(&r.Color, "color", "colour in the report")
	f.BoolVar(&r.NoProgress, "no-progress", false, "show no progress")
	if err := cmd.RegisterFlagCompletionFunc("output", completePlace); err != nil {
		panic(err) // the flag was declared above
	}
}

// Validate returns an error if the report cannot be written.
func (r *ReportFlags) Validate(*pflag.FlagSet) error {
	places, err := r.places()
	if err != nil {
		return err
	}
	for _, at := range places {
		if err := writable(at.file); err != nil {
			return err
		}
	}
	return nil
}
