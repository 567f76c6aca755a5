package golden

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/input"
)

func init() { flag.Bool("update", false, "write the golden files and the generated documents anew") }

// IsUpdate reports whether -update asks for the files to be written.
func IsUpdate() bool { return flag.Lookup("update").Value.String() == "true" }

// File fails the test unless a file has a text, and shows the lines that differ; with -update it writes the file.
func File[T ~string | ~[]byte](t *testing.T, path string, text T) {
	t.Helper()
	if old := readOld(t, path, text); old != string(text) {
		failStale(t, path, "the test with -update writes it", old, string(text))
	}
}

// Document is [File] for a file that a command writes. Ends of lines do not matter.
func Document(t *testing.T, path, text, command string) {
	t.Helper()
	if old := strings.ReplaceAll(readOld(t, path, text), "\r\n", "\n"); old != text {
		failStale(t, path, command, old, text)
	}
}

// failStale fails the test, and shows the lines that only one of both texts has.
func failStale(t *testing.T, path, command, old, text string) {
	t.Helper()
	before, now := strings.Split(old, "\n"), strings.Split(text, "\n")
	oldOnly, newOnly := subtract(before, now), subtract(now, before)
	if len(oldOnly)+len(newOnly) == 0 {
		newOnly = []string{"the same lines in another order or number"}
	}
	t.Fatalf("%s is stale: %s\n%s", path, command, cmp.Diff(oldOnly, newOnly))
}

// subtract returns the lines that are not among the others.
func subtract(lines, others []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(others, line) })
}

// longest is how many bytes a file has at most.
const longest = 1 << 20

// readOld returns what a file has, after it was written with -update.
func readOld[T ~string | ~[]byte](t *testing.T, path string, text T) string {
	t.Helper()
	// A file that is right is left alone: tests of other packages may be reading it.
	if old, err := input.Read(path, longest); IsUpdate() && (err != nil || string(old) != string(text)) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return string(read(t, path))
}

// ReadGolden reads a file of JSON into a T.
func ReadGolden[T any](t *testing.T, path string) *T {
	t.Helper()
	result := new(T)
	require.NoError(t, json.Unmarshal(read(t, path), result))
	return result
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := input.Read(path, longest)
	require.NoError(t, err)
	return data
}
