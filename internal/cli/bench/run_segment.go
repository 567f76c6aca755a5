package bench

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
)

// segmentFlags are the flags of a run that is a part of a load.
type segmentFlags struct {
	segment string
	startAt string

	part plan.Segment
	at   time.Time // zero: as soon as the connections are open
}

// declare adds the flags.
func (s *segmentFlags) declare(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.segment, "segment", "",
		"put only the segment `I/N` of the load on the server, as in 2/4, or @1/4 counted from 0 (needs --seed; see merge)")
	f.StringVar(&s.startAt, "start-at", "",
		"begin the load at that `TIME`, as in 2026-01-31T15:04:05Z or 15:04:05 (today), with all connections open; "+
			"until then wait for the server to be ready")
}

// timeForms are how --start-at may be written.
var timeForms = [...]string{time.RFC3339, time.TimeOnly, "15:04"}

// validate reads the flags. now is the time of day.
func (s *segmentFlags) validate(now time.Time) (err error) {
	if s.segment != "" {
		if s.part, err = plan.ParseSegment(s.segment); err != nil {
			return fmt.Errorf("--segment: %w", err)
		}
	}
	if s.startAt == "" {
		return nil
	}
	s.at, err = parseStart(s.startAt, now)
	return err
}

// parseStart reads a moment; a time of day is one of today.
func parseStart(text string, now time.Time) (time.Time, error) {
	for _, form := range timeForms {
		at, err := time.ParseInLocation(form, text, now.Location())
		if err != nil {
			continue
		}
		if form != time.RFC3339 {
			year, month, day := now.Date()
			at = time.Date(year, month, day, at.Hour(), at.Minute(), at.Second(), 0, now.Location())
		}
		return at, nil
	}
	return time.Time{}, fmt.Errorf("--start-at %q is not a time: write it as in %s or %s", text,
		now.UTC().Truncate(time.Second).Add(time.Minute).Format(time.RFC3339), "15:04:05")
}

// workload returns the workload of the segment. It is an error for a seed that was not given, because segments that
// draw seeds of their own are not of the same load, for a server that only this process would load, and for
// disruptions.
func (s *segmentFlags) workload(w plan.Workload, at *shared.Endpoint, isSeeded, isDisrupted bool) (
	plan.Workload, error,
) {
	switch {
	case s.part.Count == 0:
		return w, nil
	case isDisrupted:
		return w, errors.New("--segment and --disrupt: what is done to the target has to be in the report of one run")
	case at.IsPrivate():
		return w, fmt.Errorf("--segment needs a server that all segments reach (--url), and the target is %s", at)
	case !isSeeded:
		return w, errors.New("--segment needs --seed, the same for all segments: what arrives when is drawn from it")
	}
	part, err := w.Segment(s.part)
	if err != nil {
		return w, fmt.Errorf("--segment %s: %w", s.segment, flagErrors(err))
	}
	return part, nil
}

// apply makes a configuration that of the segment, whose workload it has.
func (s *segmentFlags) apply(config *load.Config) {
	config.Segment = s.part
	config.Pace /= float64(s.part.Parts())
	config.StartAt = s.at
}

// part returns the part of a load that a file has.
func (p process) part(name string) load.Part {
	data, isReport, err := p.ReadReport(name, "fwpbench/")
	part := load.Part{Name: name}
	if _, statErr := os.Stat(name); statErr != nil {
		err = statErr
	}
	if err == nil && isReport {
		part.Report, err = results.ReadLoad(data)
	}
	switch {
	case err != nil:
		part.Report, part.Problem = nil, "it has no whole report: "+text.OfError(err)
	case !isReport:
		part.Problem = "it has no report: was its run killed?"
	}
	return part
}

// joinSegments returns the report of the whole load if some of the files are reports of segments, and nil if none is.
func (p process) joinSegments(names []string, limits []validity.Threshold) (*results.Load, error) {
	parts := make([]load.Part, len(names))
	hasSegments := false
	for i, name := range names {
		parts[i] = p.part(name)
		hasSegments = hasSegments || parts[i].Report != nil && parts[i].Report.Plan.Segment != ""
	}
	if !hasSegments {
		return nil, nil //nolint:nilnil // they are merged in another way
	}
	return load.Join(parts, limits...)
}
