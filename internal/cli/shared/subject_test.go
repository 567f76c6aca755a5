package shared

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/reports"
)

// The files that a command names are hashed: its program, and words that are files. Passwords are left out.
func TestStartedNamesTheFilesOfACommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"server", "server.py"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("abc"), 0o700))
	}
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	server, script := reports.SubjectFile{Name: "server", Size: 3, SHA256: abc}, reports.SubjectFile{
		Name: "server.py", Size: 3, SHA256: abc,
	}
	for command, want := range map[string]reports.Subject{
		"exec env HOME={dir} 'DIR/server' --port {port} --password {password}": {
			Command: "exec env HOME={dir} 'DIR/server' --port {port} --password {password}", Files: []reports.SubjectFile{server}},
		"DIR/server DIR/server.py --password hunter2":  {Command: "DIR/server DIR/server.py --password ***", Files: []reports.SubjectFile{server, script}},
		"SECRET_TOKEN=abc DIR/server":                  {Command: "SECRET_TOKEN=*** DIR/server", Files: []reports.SubjectFile{server}},
		"DIR/server --redis tcp://:hunter2@localhost/": {Command: "DIR/server --redis tcp://***@localhost/", Files: []reports.SubjectFile{server}},
		"DIR/none DIR": {Command: "DIR/none DIR"},
		"":             {},
	} {
		command = strings.ReplaceAll(command, "DIR", dir)
		want.Command = strings.ReplaceAll(want.Command, "DIR", dir)
		assert.Equal(t, want, CommandSubject(command, strings.Fields(command)), command)
	}
}

func TestAFileInAFolderIsNamedAfterTheResult(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := Output{Report: &reports.Report{Target: reports.Target{Subject: reports.Subject{Name: "Faktory", Version: "1.9.3"}}}}
	for at, want := range map[place]string{
		{"json", dir + "/"}:                 filepath.Join(dir, "fwpcheck-run-faktory-1.9.3.json"),
		{"html", filepath.Join(dir, "new")}: filepath.Join(dir, "new"),
		{"html", dir + "/new/"}:             filepath.Join(dir, "new", "fwpcheck-run-faktory-1.9.3.html"),
		{"json", "-"}:                       "-",
	} {
		assert.Equal(t, want, o.file(at))
	}
	var flags ReportFlags
	flags.Declare(&cobra.Command{}, "")
	flags.Outputs = []string{"json=" + dir + "/a/", "html=" + dir + "/a/"}
	require.NoError(t, flags.Validate())
	assert.DirExists(t, dir+"/a")
	assert.Empty(t, flags.Files())
	flags.Outputs = []string{"text=" + dir + "/a/", "github=" + dir + "/a/"}
	require.ErrorContains(t, flags.Validate(), "twice")
}

// TestATargetThatWasReachedBefore: where a connection was opened before, that nothing listens is no question of the
// port. What has no advice ends with its cause.
func TestATargetThatWasReachedBefore(t *testing.T) {
	t.Parallel()
	s := fakes.NewServer(fakes.Config{})
	defer s.Close()
	var f TargetFlags
	url := s.URL()
	at, err := f.EndpointAt(url)
	require.NoError(t, err)
	_, err = at.Identify(t.Context(), time.Second)
	require.NoError(t, err)
	s.Close()
	_, err = at.Identify(t.Context(), time.Second)
	require.ErrorContains(t, err, "it accepted connections before; then the server ended, or a forwarder")
	other, err := f.EndpointAt(url)
	require.NoError(t, err)
	_, err = other.Identify(t.Context(), time.Second)
	require.ErrorContains(t, err, "nothing listens there")
	assert.Equal(t, "B: lost", (&UnreachableError{Cause: errors.New("B: lost")}).Error())
}
