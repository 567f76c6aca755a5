package shared

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// commandOf returns a command of a program with flags for files, and with values.
func commandOf(t *testing.T, program, name string, values ...string) *cobra.Command {
	t.Helper()
	root, cmd := &cobra.Command{Use: program}, &cobra.Command{Use: name}
	root.AddCommand(cmd)
	cmd.Flags().StringArray("output", nil, "")
	for _, flag := range []string{"history", "expect", "job"} {
		cmd.Flags().String(flag, "", "")
	}
	require.NoError(t, cmd.ParseFlags(values))
	return cmd
}

// No result takes the place of another one, or of a file that is read. A device may take several.
func TestReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link := filepath.Join(dir, "one"), filepath.Join(dir, "link")
	write(t, file, "x")
	require.NoError(t, os.Symlink(file, link))
	for _, c := range []struct {
		flags, args []string
		want        string
	}{
		{[]string{"--output", file, "--history", link}, nil, "--history and --output have the same file, " + file},
		{[]string{"--output", "json=" + file}, []string{link}, "an argument and --output have the same file"},
		{[]string{"--output", "new", "--history", "./new"}, nil, "have the same file"},
		{[]string{"--history", file, "--expect", file}, nil, "--expect and --history have the same file"},
		{[]string{"--output", os.DevNull, "--history", os.DevNull}, nil, ""},
		{[]string{"--output", "-", "--history", file}, []string{"-"}, ""},
		{[]string{"--output", file}, []string{filepath.Join(dir, "other")}, ""},
	} {
		err := refuseOverwrite(commandOf(t, "fwpcheck", "run", c.flags...), c.args)
		if c.want == "" {
			assert.NoError(t, err, "%v", c.flags)
			continue
		}
		assert.ErrorContains(t, err, c.want, "%v", c.flags)
	}
}
