package formats

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/reports"
)

// An annotation has a place only if that is a file of the user's: a script of the suite has the name of its check.
func TestPlacesOfAnnotations(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]bool{"push/rejected": false, "my-bug.fwp": true, "": false} {
		s := reports.Suite{Cases: []reports.Case{{Name: "x", Check: file, File: file, Line: 3, State: reports.CaseFailed}}}
		out, err := GitHub(&s)
		require.NoError(t, err)
		assert.Equal(t, want, strings.Contains(string(out), "file="+file+",line=3,"), file)
	}
}
