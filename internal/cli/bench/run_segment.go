package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/workload"
)

// segmentFlags are the flags of a run that is a part of a load.
type segmentFlags struct {
	segment string
	startAt string

	part workload.Segment
	at   time.Time // zero: as soon as the connections are open
}

// declare adds the flags.
func (s *segmentFlags) declare(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.segment, "segment", "",
		"put only the segment `I/N` of the load on the server, as in 2/4; others do the rest (needs --seed; see merge)")
	f.StringVar(&s.startAt, "start-at", "",
		"begin the load at that `TIME`, as in 2026-01-31T15:04:05Z or 15:04:05 (today), when all connections are open")
}

// timeForms are how --start-at may be written.
var timeForms = [...]string{time.RFC3339, time.TimeOnly, "15:04"}

// validate reads the flags. now is the time of day.
func (s *segmentFlags) validate(now time.Time) (err error) {
	if s.segment != "" {
		if s.part, err = workload.ParseSegment(s.segment); err != nil {
			return fmt.Errorf("--segment: %w", err)
		}
	}
	if s.startAt == "" {
		return nil
	}
	if s.at, err = parseStart(s.startAt, now); err != nil {
		return err
	}
	if !s.at.After(now) {
		return fmt.Errorf("--start-at %s has passed: it is %s", s.startAt, now.Format(time.RFC3339))
	}
	return nil
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
func (s *segmentFlags) workload(w workload.Workload, at *program.Endpoint, seeded, disrupted bool) (
	workload.Workload, error,
) {
	switch {
	case s.part.Of == 0:
		return w, nil
	case disrupted:
		return w, errors.New("--segment and --disrupt: what is done to the target has to be in the report of one run")
	case at.Ours():
		return w, fmt.Errorf("--segment needs a server that all segments reach (--url), and the target is %s", at)
	case !seeded:
		return w, errors.New("--segment needs --seed, the same for all segments: what arrives when is drawn from it")
	}
	part, err := w.Segment(s.part)
	if err != nil {
		return w, fmt.Errorf("--segment %s: %w", s.segment, asFlags(err))
	}
	return part, nil
}

// apply makes a configuration that of the segment, whose workload it has.
func (s *segmentFlags) apply(config *load.Config) {
	config.Segment = s.part
	config.Pace /= float64(s.part.Parts())
	if !s.at.IsZero() {
		config.Start = load.StartAt(s.at)
	}
}

// segmentIn returns the report of a segment that a file has, nil if it has none: merging says why it cannot be read.
func (p process) segmentIn(name string) *results.Load {
	data, some, _ := p.ReadReport(name, "fwpbench/")
	l := new(results.Load)
	if !some || json.Unmarshal(data, l) != nil || l.Plan.Segment == "" {
		return nil
	}
	return l
}

// joinSegments returns the report of the whole load if the files are reports of segments, and nil if they are not.
func (p process) joinSegments(names []string) (*results.Load, error) {
	var all []*results.Load
	var parts []load.Part
	for _, name := range names {
		one := p.segmentIn(name)
		if one == nil {
			return nil, nil //nolint:nilnil // they are merged in another way
		}
		all = append(all, one)
		parts = append(parts, load.Part{Agent: results.LoadAgent{Name: name}, Report: one})
	}
	if err := load.CheckSegments(names, all); err != nil {
		return nil, err
	}
	result, err := load.Join(parts)
	if err != nil {
		return nil, err
	}
	return result.Report, nil
}
