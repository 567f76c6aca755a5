package check

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/peer"
)

// The files of the repository are about checks and clauses that there are.
func TestTheExpectationsOfTheRepository(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../expectations/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	all, err := peer.Default().Checks()
	require.NoError(t, err)
	for _, file := range files {
		in := all
		if name := filepath.Base(file); strings.HasPrefix(name, "npm-") {
			in = (&clientOptions{producer: strings.Contains(name, "-client-")}).harness(nil).Checks()
		}
		known, err := (&expectFlags{name: file}).read(selection{in: in})
		require.NoError(t, err)
		assert.NotEmpty(t, known.file.Lines)
	}
}
