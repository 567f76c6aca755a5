package fwpsuite

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
)

// specifications are the source documents: in the folder that FWP_SPECS names, else beside the checkout.
func specifications(t *testing.T) fs.FS {
	t.Helper()
	folder, given := os.LookupEnv("FWP_SPECS")
	if !given {
		folder = filepath.Join("..", "..", "..", "shared", "specs")
	}
	if _, err := os.Stat(folder); err != nil && !given {
		t.Skipf("the documents are NOT compared: %s is not there, and FWP_SPECS names no folder with the specifications",
			filepath.Join(folder, "fwp.md"))
	}
	return os.DirFS(folder)
}

func TestTheCatalogueIsOfTheseDocuments(t *testing.T) {
	t.Parallel()
	changes, err := Protocol().ChangedDocuments(specifications(t))
	require.NoError(t, err)
	assert.Empty(t, changes, "the specification has changed: what do the clauses say now?")
}

func TestChangedDocuments(t *testing.T) {
	t.Parallel()
	_, err := Protocol().ChangedDocuments(fstest.MapFS{"fwp.md": {}})
	require.ErrorIs(t, err, fs.ErrNotExist)
	empty := fstest.MapFS{}
	for _, d := range documents {
		empty[d.Name] = &fstest.MapFile{}
	}
	changes, err := Protocol().ChangedDocuments(empty)
	require.NoError(t, err)
	require.Len(t, changes, len(documents)-1, "all but RESP")
	const ofNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	assert.Equal(t, conformance.DocumentChange{
		Document: "fwp.md", SHA256: ofNothing, Expected: documents[0].SHA256, Clauses: changes[0].Clauses,
	}, changes[0])
	assert.Greater(t, changes[0].Clauses, 150)
}
