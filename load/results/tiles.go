package results

import (
	"fmt"
	"slices"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// tiles returns what a reader of a run sees first: whether it is valid, the rate, the times and the account of the
// jobs.
func (l *Load) tiles(o reports.PageOptions) (t reports.Tiles) {
	valid := reports.Tile{Value: "valid", Word: "run", Style: reports.Good}
	if !l.Validity.IsValid {
		valid = reports.Tile{Value: "INVALID", Word: "run", Style: reports.Caution}
	}
	t.Tiles = append(t.Tiles, valid)
	if r := l.Rate; (l.Validity.IsValid || o.ShowInvalid) && r.Done > 0 {
		rate := reports.Tile{Value: reports.Rate(r.Achieved), Word: "achieved"}
		if r.Target > 0 {
			rate.Word, rate.Style = "of "+reports.Rate(r.Target), reports.Good
		}
		if !r.IsAchieved() {
			rate.Style = reports.Caution
		}
		t.Tiles = append(t.Tiles, rate)
		if op := l.Op(r.Op); op != nil {
			t.Tiles = append(t.Tiles, op.Response.tile(r.Op, "p50"), op.Response.tile(r.Op, "p99"))
		}
	}
	return reports.Tiles{Tiles: append(t.Tiles, l.Jobs.tiles(l.Disruptions)...)}
}

// tiles returns the account: what is wrong with jobs is there even if it is nothing, once that is known.
func (j *LoadJobs) tiles(d *LoadDisruptions) []reports.Tile {
	if j.Pushed+j.Doubtful == 0 {
		return nil
	}
	wrong := func(n, excused int64, word string) reports.Tile {
		switch {
		case n > excused:
			return reports.Tile{Value: text.GroupDigits(n), Word: word, Style: reports.Bad}
		case n > 0:
			return reports.Tile{Value: text.GroupDigits(n), Word: word, Style: reports.Caution}
		}
		return reports.Tile{Value: "0", Word: word, Style: reports.Good}
	}
	all := []reports.Tile{{Value: text.GroupDigits(j.Pushed), Word: "jobs pushed"}}
	if j.IsDrained {
		all = append(all, wrong(j.LostJobs, d.excusedCount("lost"), "lost"))
	} else {
		missing := reports.Tile{Value: text.GroupDigits(j.Missing), Word: "unaccounted for", Style: reports.Unclear}
		if j.UncountedParts != "" {
			missing.Value = "not known"
		}
		all = append(all, missing)
	}
	return append(all, wrong(j.Duplicated, d.excusedCount("duplicated"), "delivered twice"))
}

// tile returns a percentile of the response times of a command, which may be a lower bound.
func (l *Latency) tile(op, stat string) reports.Tile {
	return reports.Tile{Value: l.words(stat), Word: stat + " of " + opWords(op)}
}

// words returns a percentile, which may be a lower bound.
func (l *Latency) words(stat string) string {
	words := reports.Time(l.Stat(stat))
	switch {
	case l.Count == 0:
		return ""
	case slices.Contains(l.AtLeast, stat):
		return ">= " + words
	}
	return words
}

// tiles returns the highest rate that held, the lowest that did not, and the times at the former.
func (c *LoadCapacity) tiles() (t reports.Tiles) {
	rate := reports.Tile{Value: "no rate", Word: "passed", Style: reports.Caution}
	if c.Rate > 0 {
		rate.Value = reports.Rate(c.Rate)
	}
	if c.Rate > 0 && c.IsConfirmed && !c.IsGeneratorLimited {
		rate.Style = reports.Good
	}
	t.Tiles = append(t.Tiles, rate)
	if c.FailedRate > 0 {
		t.Tiles = append(t.Tiles, reports.Tile{Value: reports.Rate(c.FailedRate), Word: "failed", Style: reports.Bad})
	}
	for _, s := range slices.Backward(c.Steps) {
		if s.Rate == c.Rate && s.Result == StepHeld {
			t.Tiles = append(t.Tiles, s.Response.tile(s.Op, "p50"), s.Response.tile(s.Op, "p99"))
			break
		}
	}
	return reports.Tiles{Tiles: append(t.Tiles, reports.Tile{Value: fmt.Sprint(len(c.Steps)), Word: "tried"})}
}

// tiles returns the ratios of the primary metrics, and how many pairs they are from.
func (c *LoadComparison) tiles() (t reports.Tiles) {
	for _, r := range c.selectRatios(isPrimary) {
		tile := reports.Tile{Value: reports.Trimmed(r.Ratio, 3), Word: r.Metric + ", B to A", Style: r.style()}
		switch {
		case c.AA:
			tile = reports.Tile{Value: reports.Percent(r.Floor), Word: r.Metric + ", noise floor"}
		case c.NoVerdict != "" || r.Verdict == "":
			tile.Style = reports.Plain
		}
		t.Tiles = append(t.Tiles, tile)
	}
	pairs := reports.Tile{Value: fmt.Sprintf("%d of %d", c.ValidPairs(), c.Pairs), Word: "pairs count"}
	if c.ValidPairs() < minPairs {
		pairs.Style = reports.Caution
	}
	return reports.Tiles{Tiles: append(t.Tiles, pairs)}
}
