package suite

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// specifications are the source documents: in the folder that FWP_SPECS names, else beside the checkout.
func specifications(t *testing.T) fs.FS {
	t.Helper()
	folder, isSet := os.LookupEnv("FWP_SPECS")
	if !isSet {
		folder = filepath.Join("..", "..", "..", "..", "shared", "specs")
	}
	if _, err := os.Stat(folder); err != nil && !isSet {
		t.Skipf("the documents are NOT compared: %s is not there, and FWP_SPECS names no folder with the specifications",
			filepath.Join(folder, "fwp.md"))
	}
	return os.DirFS(folder)
}

func TestSourceDocuments(t *testing.T) {
	t.Parallel()
	specs := specifications(t)
	for _, d := range documents {
		if d.SHA256 == "" {
			continue
		}
		text, err := fs.ReadFile(specs, d.Name)
		require.NoError(t, err)
		assert.Equal(t, d.SHA256, fmt.Sprintf("%x", sha256.Sum256(text)),
			"%s has changed: what do the clauses that cite it say now?", d.Name)
	}
}
