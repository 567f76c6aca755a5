package archtest

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const maxFiles = 40 // Go files of a package, its tests included

func TestFoldersAreSmall(t *testing.T) {
	t.Parallel()
	for _, p := range modulePackages(t) {
		files, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		require.NoError(t, err)
		assert.LessOrEqual(t, len(files), maxFiles, "%s has more Go files than a reader can survey", p.Name)
	}
}
