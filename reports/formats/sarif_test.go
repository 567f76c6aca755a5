package formats

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/reports"
)

// A result of SARIF is in the file that says most about it.
func TestPlacesInSARIF(t *testing.T) {
	t.Parallel()
	script := reports.ScriptPlace{Name: "push/accepted", Text: "C: PUSH\nS: +OK\n", Line: 2, Col: 4, Width: 3}
	scriptPlace := reports.ScriptPlace{Name: "explore/waits - FWP-ACK-02 (2)", Text: "C: BEAT\n", Line: 1}
	for name, test := range map[string]struct {
		c       reports.Case
		scripts string
		want    location
	}{
		"known":             {reports.Case{Script: script, KnownPlace: "dir/x.expect:3"}, "r.scripts", location{"dir/x.expect", 3, 0, 0}},
		"no longer so":      {reports.Case{Check: "x.expect", File: "x.expect", Line: 9, Kind: "stale"}, "", location{"x.expect", 9, 0, 0}},
		"the suite's":       {reports.Case{Script: script, Reproducer: "a.fwp"}, "r.scripts", location{"r.scripts/push/accepted.fwp", 2, 4, 3}},
		"made for it":       {reports.Case{Script: scriptPlace}, "r.scripts", location{"r.scripts/explore/waits-FWP-ACK-02-2.fwp", 1, 0, 0}},
		"no folder, saved":  {reports.Case{Script: script, Reproducer: "found/a b.fwp"}, "", location{"found/a b.fwp", 0, 0, 0}},
		"no folder":         {reports.Case{Script: script, File: "push/accepted", Line: 7}, "", location{".github/workflows/ci.yml", 0, 0, 0}},
		"text is not known": {reports.Case{Script: reports.ScriptPlace{Name: "x", Line: 7}}, "r", location{".github/workflows/ci.yml", 0, 0, 0}},
		"a user's script": {
			reports.Case{Check: "bug.fwp", File: "bug.fwp", Line: 7, Script: reports.ScriptPlace{Name: "bug.fwp", Line: 7, Col: 2, Width: 1}},
			"r.scripts", location{"bug.fwp", 7, 2, 1},
		},
	} {
		s := reports.Suite{FallbackFile: ".github/workflows/ci.yml", Scripts: test.scripts}
		assert.Equal(t, test.want, locate(&s, &test.c), name)
	}
}

// A file is named from the root of the repository, and outside of it by its whole name.
func TestNamesOfFilesInSARIF(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"x.expect": "sub/x.expect", "../a b.fwp": "a%20b.fwp", "/repo/sub/y.fwp": "sub/y.fwp", "../../z.fwp": "file:///z.fwp",
		"/tmp/r.scripts/ack/is-final.fwp": "file:///tmp/r.scripts/ack/is-final.fwp",
	} {
		assert.Equal(t, want, uri(&reports.Suite{Repository: "/repo", Folder: "/repo/sub"}, file))
	}
	assert.Equal(t, "x.expect", uri(&reports.Suite{}, "x.expect"))
}
