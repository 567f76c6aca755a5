package results_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// The first numbers of a page with pictures, each with its style where that is not plain.
func TestTiles(t *testing.T) {
	t.Parallel()
	sound, invalid, lossy, undrained := soundLoad(), soundLoad(), soundLoad(), soundLoad()
	invalid.Validity.IsValid = false
	sound.Validity.IsValid, lossy.Validity.IsValid, undrained.Validity.IsValid = true, true, true
	lossy.Jobs.LostJobs, lossy.Jobs.Duplicated = 3, 1
	undrained.Jobs.IsDrained, undrained.Jobs.Missing = false, 7
	none := sampleCapacity()
	none.Rate, none.Steps = 0, none.Steps[2:3]
	unsure := sampleCapacity()
	unsure.IsConfirmed = false
	noise, unpaired := comparedLoads(), comparedLoads()
	noise.AA, unpaired.NoVerdict = true, "they were measured apart"
	for i := range noise.Ratios {
		noise.Ratios[i].Floor = 0.021
	}
	for name, test := range map[string]struct {
		result interface {
			Page(reports.PageOptions) reports.Page
		}
		want []string
	}{
		"a run": {sound, []string{"valid run good", "4,998 /s of 5,000 /s good", "120 us p50 of push", "600 us p99 of push",
			"325,011 jobs pushed", "0 lost good", "0 delivered twice good"}},
		"INVALID": {
			invalid, []string{"INVALID run caution", "325,011 jobs pushed", "0 lost good", "0 delivered twice good"},
		},
		"with losses": {lossy, []string{"3 lost bad", "1 delivered twice bad"}},
		"not drained": {undrained, []string{"7 unaccounted for unclear"}},
		"a search": {
			sampleCapacity(), []string{"4,000 /s passed good", "8,000 /s failed bad", "400 us p50 of push", "2 ms p99 of push",
				"7 tried"},
		},
		"nothing held":        {none, []string{"no rate passed caution", "8,000 /s failed bad", "1 tried"}},
		"held once":           {unsure, []string{"4,000 /s passed caution"}},
		"a comparison":        {comparedLoads(), []string{"1 rate, B to A good", "6 of 7 pairs count"}},
		"a machine's noise":   {noise, []string{"2.1 % rate, noise floor"}},
		"without a verdict":   {unpaired, []string{"1 rate, B to A", "6 of 7 pairs count"}},
		"nothing was pushed":  {&results.Load{Ops: []results.LoadOp{{Op: "beat"}}}, []string{"INVALID run caution"}},
		"without any figures": {&results.LoadComparison{}, []string{"0 of 0 pairs count caution"}},
	} {
		assert.Subset(t, tilesOf(test.result.Page(reports.PageOptions{Figures: true})), test.want, name)
		assert.Empty(t, tilesOf(test.result.Page(reports.PageOptions{})), name)
	}
}

func tilesOf(p reports.Page) (all []string) {
	styles := map[reports.Style]string{reports.Good: " good", reports.Bad: " bad", reports.Caution: " caution",
		reports.Unclear: " unclear"}
	for _, b := range p.Blocks {
		if t, ok := b.(reports.Tiles); ok {
			for _, tile := range t.Tiles {
				all = append(all, fmt.Sprintf("%s %s%s", tile.Value, tile.Word, styles[tile.Style]))
			}
		}
	}
	return all
}
