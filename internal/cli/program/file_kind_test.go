package program

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

// A file of a kind that is known is refused where another one is wanted, and what reads it is named.
func TestKinds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, begins := range map[string]string{
		"run.json": `{"schema": "fwpcheck/3"}`, "load.json": "{\n  \"schema\": \"fwpbench/2\"}", "other.json": `{"schema":"x/1"}`,
		"a.history": `{"fwp_history":1}`, "a.hlog": "#[Histogram log", "a.html": "<!DOCTYPE html>\n<p>", "a.fwp": "connect as raw",
		"utf16": "\xff\xfeh\x00", "elf": "\x7fELF\x00", "empty": " \n",
	} {
		write(t, at(name), begins)
	}
	require.NoError(t, os.Mkdir(at("folder"), 0o700))
	for _, c := range []struct {
		program, command, file, refused string
		flags                           []string
	}{
		{"fwpcheck", "run", "run.json", "this is the report of a run of fwpcheck; expected a script; what reads this file: " +
			"fwpcheck recheck, compare and site", nil},
		{"fwpcheck", "run", "a.fwp", "", nil},
		{"fwpcheck", "run", "folder", "", nil},
		{"fwpcheck", "run", "missing", "", nil},
		{"fwpcheck", "recheck", "run.json", "", nil},
		{"fwpcheck", "recheck", "a.history", "", nil},
		{"fwpcheck", "recheck", "load.json", "this is the report of fwpbench run; expected a report or a history", nil},
		{"fwpcheck", "recheck", "load.json", "", []string{"--job", "x"}},
		{"fwpcheck", "site", "other.json", `this is a report of another kind ("x/1"); expected`, nil},
		{"fwpcheck", "site", "a.html", "this is a page in HTML without a result of fwp", nil},
		{"fwpcheck", "lint", "utf16", "this is text in UTF-16 (save it as UTF-8)", nil},
		{"fwpcheck", "coverage", "empty", "this is an empty file", nil},
		{"fwpcheck", "version", "elf", "", nil},
		{"fwpcheck", "run", "a.fwp", "--expect " + at("elf") + ": this is a binary file; expected a file of known findings",
			[]string{"--expect", at("elf")}},
		{"fwpbench", "run", "folder", "this is a folder; expected a workload", nil},
		{"fwpbench", "run", "empty", "", nil},
		{"fwpbench", "merge", "a.hlog", "", nil},
	} {
		err := refuseKinds(commandOf(t, c.program, c.command, c.flags...), []string{at(c.file)})
		if c.refused == "" {
			assert.NoError(t, err, "%s %s %s", c.program, c.command, c.file)
			continue
		}
		assert.ErrorContains(t, err, c.refused, "%s %s %s", c.program, c.command, c.file)
	}
}

// No result takes the place of another one, or of a file that is read. A device may take several.
func TestReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, link := filepath.Join(dir, "one"), filepath.Join(dir, "link")
	write(t, one, "x")
	require.NoError(t, os.Symlink(one, link))
	for _, c := range []struct {
		flags, args []string
		refused     string
	}{
		{[]string{"--output", one, "--history", link}, nil, "--history and --output name the same file, " + one},
		{[]string{"--output", "json=" + one}, []string{link}, "an argument and --output name the same file"},
		{[]string{"--output", "new", "--history", "./new"}, nil, "name the same file"},
		{[]string{"--history", one, "--expect", one}, nil, "--expect and --history name the same file"},
		{[]string{"--output", os.DevNull, "--history", os.DevNull}, nil, ""},
		{[]string{"--output", "-", "--history", one}, []string{"-"}, ""},
		{[]string{"--output", one}, []string{filepath.Join(dir, "other")}, ""},
	} {
		err := refuseReplaced(commandOf(t, "fwpcheck", "run", c.flags...), c.args)
		if c.refused == "" {
			assert.NoError(t, err, "%v", c.flags)
			continue
		}
		assert.ErrorContains(t, err, c.refused, "%v", c.flags)
	}
}
