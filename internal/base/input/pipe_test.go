//go:build unix

package input

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPipe(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	go func() { _ = os.WriteFile(name, []byte("12345"), 0o600) }()
	f, err := open(name, time.Hour)
	require.NoError(t, err)
	defer func() { assert.NoError(t, f.Close()) }()
	text, err := All(f, name, 5)
	require.NoError(t, err)
	assert.Equal(t, "12345", string(text))
}

// A pipe of its own: the open that is given up stays in the operating system, and would take the writer of another one.
func TestPipeWithoutAWriter(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	_, err := open(name, time.Millisecond)
	require.ErrorContains(t, err, name+": it is a pipe that no program opened for writing within 1ms")
}
