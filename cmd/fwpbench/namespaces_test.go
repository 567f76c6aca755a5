package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// serverAt serves at an address until the process is ended, and prints a line when it does.
func serverAt(address string) {
	fakes.NewServer(fakes.Config{Listen: func() (net.Listener, error) {
		return net.Listen("tcp", address) //nolint:noctx // it ends with the process
	}})
	fmt.Println("ready")
	select {}
}

// TestNamespaces has ten segments put on a server, each from addresses and ports of its own: they stand for the pods of
// docs/segments.md.
func TestNamespaces(t *testing.T) {
	golden.OnlySlow(t)
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("network namespaces are Linux's")
	}
	if out, err := exec.CommandContext(t.Context(), "unshare", "--net", "ip", "link", "add", "br0", "type",
		"bridge").CombinedOutput(); err != nil {
		t.Skipf("this process may not make network namespaces and bridges: %v: %s", err, out)
	}
	self, err := os.Executable()
	require.NoError(t, err)
	folder := t.TempDir()
	for _, name := range []string{"fwpbench", "fwpserver"} { // which command TestMain runs depends on its name
		require.NoError(t, os.Symlink(self, filepath.Join(folder, name)))
	}
	cmd := exec.CommandContext(t.Context(), "unshare", "--net", "sh", "testdata/namespaces.sh",
		filepath.Join(folder, "fwpbench"), filepath.Join(folder, "fwpserver")+" 10.77.0.1:7419", "10", folder,
		"--rate", "200/s", "--jobs", "600", "--producers", "50", "--consumers", "50", "--seed", "7")
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &printed
	if exit, ok := errors.AsType[*exec.ExitError](cmd.Run()); ok { // how busy this machine is decides about INVALID
		require.Equal(t, reports.ExitInconclusive, exit.ExitCode(), printed.String())
	}
	data, err := os.ReadFile(filepath.Join(folder, "whole.json"))
	require.NoError(t, err, printed.String())
	var l results.Load
	require.NoError(t, json.Unmarshal(data, &l))
	assert.Len(t, l.Parts, 10)
	for i := range l.Parts {
		assert.Equal(t, 10, l.Parts[i].Connections.Opened)
	}
	assert.Equal(t, int64(600), l.Jobs.Pushed)
	assert.Equal(t, int64(600), l.Jobs.Acked)
	assert.Empty(t, l.Findings)
}
