package formats

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/reports"
)

// A result of SARIF is in the file of the user's that says most about it.
func TestPlacesInSARIF(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		c    reports.Case
		file string
		line int
	}{
		"reproducer":      {reports.Case{Reproducer: "found/a b.fwp", Known: "x.expect:3"}, "found/a b.fwp", 1},
		"known":           {reports.Case{Known: "dir/x.expect:3"}, "dir/x.expect", 3},
		"a user's script": {reports.Case{Check: "bug.fwp", File: "bug.fwp", Line: 7}, "bug.fwp", 7},
		"the suite's": {
			reports.Case{Check: "push/accepted", File: "push/accepted", Line: 7}, ".github/workflows/ci.yml", 1,
		},
	} {
		s := reports.Suite{Place: ".github/workflows/ci.yml"}
		file, line := placeOf(&s, &test.c)
		assert.Equal(t, test.file, file, name)
		assert.Equal(t, test.line, line, name)
	}
}
