package bench

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/base/input"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/search"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/html"
)

// maxResultSize is how many bytes a saved result has at most, and maxResults how many of them a side has.
const (
	maxResultSize = 64 << 20
	maxResults    = 1000
)

// compareSaved compares saved results.
func (p process) compareSaved(o *compareOptions, args []string) error {
	c := &results.LoadComparison{
		Head:   reports.Head{Version: p.Name + " " + shared.Version(), StartTime: time.Now()},
		Margin: o.marginShare, MarginTime: o.marginTime,
		A: results.ComparedLoad{Name: args[0]}, B: results.ComparedLoad{Name: args[1]},
	}
	found := resultSet{runs: map[string]string{}, primary: o.primary}
	for i, side := range []string{search.A, search.B} {
		if err := found.add(side, args[i]); err != nil {
			return err
		}
	}
	first := found.first
	c.Differences = search.Differences(found.loads[0], found.loads[1])
	c.A.Plan, c.B.Plan = found.plan(search.A), found.plan(search.B)
	c.A.Subject, c.B.Subject = found.subjects[0], found.subjects[len(found.subjects)-1]
	c.Machine, c.Seed, c.Pairs = first.Machine, first.Seed, len(found.blocks)/2
	c.Blocks, c.NoVerdict = search.PairBlocks(found.blocks)
	for _, side := range []string{search.A, search.B} {
		if found.plan(side) == "" {
			c.NoVerdict = "the results of " + side + " are of different loads"
		}
	}
	if reason := c.Unequal(); reason != "" && !o.allowsDifference {
		c.NoVerdict = reason + " (--different-loads compares them all the same)"
	}
	primary := o.primary
	if len(primary) == 0 {
		primary = search.Primary(first.Plan.IsOpenLoop, first.Rate.Op, false)
	}
	search.Judge(c, primary)
	return p.deliverComparison(o, c)
}

// resultSet are saved results.
type resultSet struct {
	first  *results.Load
	loads  [2][]*results.Load // of A and B
	blocks []results.LoadBlock
	plans  []string          // of the blocks
	runs   map[string]string // the file of each run

	primary []string // metrics that decide

	subjects []reports.Subject // of the blocks
}

// add reads the results of a side.
func (s *resultSet) add(side, name string) error {
	names, err := resultFiles(name)
	if err != nil {
		return err
	}
	for _, name := range names {
		l, err := readLoad(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if other, isDuplicate := s.runs[l.Run]; isDuplicate {
			return fmt.Errorf("%s and %s are reports of the same run, %s", other, name, l.Run)
		}
		s.runs[l.Run] = name
		s.first = cmp.Or(s.first, l)
		at := slices.Index([]string{search.A, search.B}, side)
		s.loads[at] = append(s.loads[at], search.IdentityReport(l))
		if err := load.AddPercentiles(l, results.ExtraPercentiles(s.primary...)...); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		b := results.BlockOf(l, side, 0)
		b.File = name
		s.blocks, s.plans = append(s.blocks, b), append(s.plans, l.Plan.Words)
		s.subjects = append(s.subjects, l.Target.Subject)
	}
	return nil
}

// plan returns the load of a side, empty if its results have several.
func (s *resultSet) plan(side string) (plan string) {
	for i, b := range s.blocks {
		switch {
		case b.Side != side:
		case plan == "":
			plan = s.plans[i]
		case plan != s.plans[i]:
			return ""
		}
	}
	return plan
}

// resultFiles returns the files that an argument names: itself, or the reports in a folder.
func resultFiles(name string) ([]string, error) {
	info, err := os.Stat(name)
	if err != nil {
		if kind, _ := target.NameOf(name); kind != target.NamesNothing {
			return nil, fmt.Errorf("%s is no saved result: use --run to measure it", target.Redact(name))
		}
		return nil, err
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	var names []string
	for _, pattern := range []string{"*.json", "*.html"} {
		found, err := filepath.Glob(filepath.Join(name, pattern))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	if len(names) == 0 || len(names) > maxResults {
		return nil, fmt.Errorf("%s has %d reports (*.json, *.html): from 1 to %d are needed", name, len(names), maxResults)
	}
	return names, nil
}

// readLoad returns the result of a run of fwpbench that a file holds.
func readLoad(name string) (*results.Load, error) {
	data, err := readResult(name)
	if err != nil {
		return nil, err
	}
	return results.ReadLoad(data)
}

// readResult returns the JSON of a saved result, which may be in an HTML report.
func readResult(name string) ([]byte, error) {
	data, err := input.Read(name, maxResultSize)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("<")) {
		return html.Data(data)
	}
	return data, nil
}
