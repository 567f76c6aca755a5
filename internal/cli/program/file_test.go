package program

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

// files are the names in a folder.
func files(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestAFileIsReplacedWhole(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there, and modes mean something else")
	}
	folder := t.TempDir()
	name, link := filepath.Join(folder, "a"), filepath.Join(folder, "link")
	write(t, name, "old")
	require.NoError(t, os.Symlink(name, link))
	errFull := errors.New("full")
	err := ReplaceFile(link, func(w io.Writer) error {
		_, err := io.WriteString(w, "half of the ne")
		assert.Equal(t, "old", read(t, name), "it holds until the new one is whole")
		return errors.Join(err, errFull)
	})
	require.ErrorIs(t, err, errFull)
	assert.Equal(t, "old", read(t, name))
	require.NoError(t, ReplaceFile(link, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }))
	assert.Equal(t, "new", read(t, name))
	info, err := os.Stat(name)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "it is as private as before")
	assert.Equal(t, []string{"a", "link"}, files(t, folder))
}

func TestWhetherAReportCanBeWrittenIsSeenBefore(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	there := filepath.Join(folder, "there")
	write(t, there, "old")
	for _, name := range []string{"", "-", os.DevNull, there, filepath.Join(folder, "new")} {
		require.NoError(t, writable(name), name)
	}
	for _, name := range []string{folder, filepath.Join(folder, "nosuch", "a"), filepath.Join(there, "a")} {
		err := writable(name)
		require.ErrorContains(t, err, "--output: open "+name+": ")
	}
	assert.Equal(t, "old", read(t, there))
	assert.Equal(t, []string{"there"}, files(t, folder))
}

// Where no other file may be made, the file itself is written, and not before.
func TestAFolderThatTakesNoOtherFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "a")
	write(t, name, "old and long")
	open := func() *File {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		require.NoError(t, err)
		return &File{file: f}
	}
	open().Discard()
	assert.Equal(t, "old and long", read(t, name))
	f := open()
	_, err := io.WriteString(f, "n")
	require.NoError(t, err)
	_, err = io.WriteString(f, "ew")
	require.NoError(t, err)
	require.NoError(t, f.Commit())
	assert.Equal(t, "new", read(t, name))
}
