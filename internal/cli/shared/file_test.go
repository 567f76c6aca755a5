package shared

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

// What could not be written, as on a full disk, does not replace what is there. A file whose contents
// the caller could not make does not either.
func TestAFailedWriteReplacesNothing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	name := filepath.Join(folder, "a")
	write(t, name, "old")
	file, err := OpenFile(name)
	require.NoError(t, err)
	require.NoError(t, file.file.Close()) // every write fails
	_, first := file.Write([]byte("new"))
	require.ErrorContains(t, first, "write "+name+": ")
	_, second := file.Write([]byte("more"))
	assert.Equal(t, first, second)
	assert.Equal(t, first, file.Finish(nil), "an error of Write that the caller ignored")

	partial, err := OpenFile(name)
	require.NoError(t, err)
	_, err = partial.Write([]byte("half of the ne"))
	require.NoError(t, err)
	assert.ErrorIs(t, partial.Finish(io.ErrShortBuffer), io.ErrShortBuffer)
	assert.Equal(t, "old", read(t, name))
	assert.Equal(t, []string{"a"}, files(t, folder))
}

func TestANewFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	name := filepath.Join(folder, "a")
	text := func(s string, err error) func(io.Writer) error {
		return func(w io.Writer) error { _, writeErr := io.WriteString(w, s); return errors.Join(writeErr, err) }
	}
	require.ErrorIs(t, NewFile(name, text("half", io.ErrShortWrite)), io.ErrShortWrite)
	assert.Empty(t, files(t, folder))
	require.NoError(t, NewFile(name, text("whole", nil)))
	require.ErrorIs(t, NewFile(name, text("other", nil)), os.ErrExist)
	assert.Equal(t, "whole", read(t, name))
	assert.Equal(t, []string{"a"}, files(t, folder))
}

func TestWhetherAReportCanBeWrittenIsSeenBefore(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	existing := filepath.Join(folder, "there")
	write(t, existing, "old")
	for _, name := range []string{"", "-", os.DevNull, existing, filepath.Join(folder, "new")} {
		require.NoError(t, CheckWritable("--output", name), name)
	}
	for _, name := range []string{folder, filepath.Join(folder, "nosuch", "a"), filepath.Join(existing, "a")} {
		err := CheckWritable("--output", name)
		require.ErrorContains(t, err, "--output")
		require.ErrorContains(t, err, name)
	}
	assert.Equal(t, "old", read(t, existing))
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
		return &File{file: f, name: name}
	}
	open().Discard()
	assert.Equal(t, "old and long", read(t, name))
	f := open()
	_, err := io.WriteString(f, "n")
	require.NoError(t, err)
	_, err = io.WriteString(f, "ew")
	require.NoError(t, err)
	require.NoError(t, f.Finish(nil))
	assert.Equal(t, "new", read(t, name))
}
