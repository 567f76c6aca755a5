package conformance

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var updateHashes = flag.Bool("update-hashes", false, "compute the hashes of the clauses' sources anew")

// specifications are the source documents: in the folder that FWP_SPECS names, else beside the checkout.
func specifications(t *testing.T) fs.FS {
	t.Helper()
	folder, given := os.LookupEnv("FWP_SPECS")
	if !given {
		folder = filepath.Join("..", "..", "shared", "specs")
	}
	if _, err := os.Stat(folder); err != nil && !given {
		t.Skipf("the hashes of the catalogue are NOT checked: %s is not there, and FWP_SPECS names no folder with the specifications",
			filepath.Join(folder, "fwp.md"))
	}
	return os.DirFS(folder)
}

func TestHashesAreThoseOfTheSpecification(t *testing.T) {
	t.Parallel()
	specs := specifications(t)
	if *updateHashes {
		rewriteHashes(t, specs)
		t.Skip("the hashes were written anew; run the test again without -update-hashes")
	}
	changes, err := ChangedSources(specs)
	require.NoError(t, err)
	for _, c := range changes {
		assert.Fail(t, "the specification has changed: what does the clause say now?", "%s", c)
	}
}

// rewriteHashes computes the hash of every source in the files of the catalogue.
func rewriteHashes(t *testing.T, specs fs.FS) {
	t.Helper()
	line := regexp.MustCompile(`(?m)^  source: .*#.*$`)
	files, err := filepath.Glob("clauses_*.txt")
	require.NoError(t, err)
	for _, file := range files {
		old, err := os.ReadFile(file)
		require.NoError(t, err)
		text := line.ReplaceAllStringFunc(string(old), func(line string) string {
			s, err := parseSource(strings.TrimPrefix(line, "  source: "))
			require.NoError(t, err)
			text, err := fs.ReadFile(specs, s.Document)
			require.NoError(t, err)
			units, err := cut(string(text)).units(s)
			require.NoError(t, err, s)
			s.Hash = hashOf(units)
			return "  source: " + s.String()
		})
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
}

func TestChangedSourcesWithoutDocuments(t *testing.T) {
	t.Parallel()
	_, err := ChangedSources(fstest.MapFS{"fwp.md": {}})
	require.ErrorIs(t, err, fs.ErrNotExist)
	empty := fstest.MapFS{}
	places := 0
	for name := range documents {
		empty[name] = &fstest.MapFile{}
	}
	for _, c := range Clauses() {
		for _, s := range c.Sources {
			if s.Document != external {
				places++
			}
		}
	}
	changes, err := ChangedSources(empty)
	require.NoError(t, err)
	require.Len(t, changes, places)
	assert.Equal(t, `gone: no heading "Link Level"`, changes[0].Now)
}

func TestSourceNow(t *testing.T) {
	t.Parallel()
	d := cut("# A\n\nOne. Two. Three.\n\n# B\n\nFour.\n")
	units, err := d.units(Source{Heading: "A", Units: "1.2-1.3"})
	require.NoError(t, err)
	hash := hashOf(units)
	tests := map[string]struct{ text, want string }{
		"as it was":           {"# A\n\nZero. Two.  Three.", ""},
		"another sentence":    {"# A\n\nOne. Two. Three!", "changed"},
		"one more before":     {"# A\n\nZero. One. Two. Three.", "moved to A 1.3-1.4"},
		"another heading":     {"# C\n\n## B\n\nTwo. Three.", "moved to C/B 1.1-1.2"},
		"no such heading":     {"# B\n\nTwo.", `gone: no heading "A"`},
		"not so many of them": {"# A\n\nOne. Two.", `gone: no units 1.2-1.3 below "A"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := Source{Document: "fwp.md", Heading: "A", Units: "1.2-1.3", Hash: hash}
			assert.Equal(t, test.want, s.now(cut(test.text)))
		})
	}
}
