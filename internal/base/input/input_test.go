package input

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	name := filepath.Join(folder, "a")
	require.NoError(t, os.WriteFile(name, []byte("12345"), 0o600))
	text, err := Read(name, 5)
	require.NoError(t, err)
	assert.Equal(t, "12345", string(text))
	text, err = Read(name, 4)
	require.EqualError(t, err, name+" has more than 4 bytes, the limit")
	assert.Nil(t, text)
	_, err = Read(folder, 5)
	require.ErrorContains(t, err, folder+": it is a folder")
	_, err = Read(filepath.Join(folder, "b"), 5)
	require.ErrorIs(t, err, fs.ErrNotExist)
	if info, err := os.Stat("/dev/zero"); err == nil && info.Mode()&fs.ModeDevice != 0 {
		_, err = Read("/dev/zero", 1<<20)
		require.EqualError(t, err, "/dev/zero has more than 1 MiB, the limit")
	}
}

func TestAll(t *testing.T) {
	t.Parallel()
	_, err := All(strings.NewReader(strings.Repeat("x", 3<<10)), "standard input", 2<<10)
	require.EqualError(t, err, "standard input has more than 2 KiB, the limit")
	_, err = All(iotest.ErrReader(fs.ErrClosed), "standard input", 5)
	require.ErrorIs(t, err, fs.ErrClosed)
}
