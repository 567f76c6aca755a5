package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/fwpsuite"
)

// What explain points at must be there.
func TestEveryAmbiguityIsListed(t *testing.T) {
	t.Parallel()
	listed, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(ambiguities)))
	require.NoError(t, err)
	for _, c := range fwpsuite.Clauses() {
		for code := range strings.SplitSeq(c.Ambiguity, ", ") {
			if code != "" {
				assert.Contains(t, string(listed), "\n## "+code+": ", c.ID)
			}
		}
	}
}
