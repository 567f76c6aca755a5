package formats

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/reports"
)

// An annotation has a place only if that is a file of the user's, in the repository: a script of the suite has the name of
// its check, and what --save writes is not there when others look.
func TestPlacesOfAnnotations(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"push/rejected": "", "my-bug.fwp": "file=sub/my-bug.fwp,line=3,", "../up.fwp": "file=up.fwp,line=3,",
		"/tmp/other.fwp": "", "../../outside.fwp": "", "": "",
	} {
		s := reports.Suite{
			Repository: "/repo", Folder: "/repo/sub",
			Cases: []reports.Case{{
				Name: "x", Check: file, File: file, Line: 3, State: reports.CaseFailed, Reproducer: "found/x.fwp",
			}},
		}
		out, err := GitHub(&s)
		require.NoError(t, err)
		assert.Equal(t, "::error "+want+"title=::x: \n", string(out), file)
	}
}
