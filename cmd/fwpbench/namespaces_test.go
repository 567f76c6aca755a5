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
	"github.com/fwpsuite/fwp/internal/slow"
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

// TestNamespaces has ten agents put a load on a server, each with addresses and ports of its own.
func TestNamespaces(t *testing.T) {
	slow.Only(t)
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
	file := filepath.Join(folder, "report.json")
	cmd := exec.CommandContext(t.Context(), "unshare", "--net", "sh", "testdata/namespaces.sh",
		filepath.Join(folder, "fwpbench"), filepath.Join(folder, "fwpserver")+" 10.77.0.1:7419", "10",
		"--rate", "200/s", "--jobs", "600", "--producers", "50", "--consumers", "50", "-o", "json="+file)
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &printed
	if exit, is := errors.AsType[*exec.ExitError](cmd.Run()); is { // how busy this machine is decides about INVALID
		require.Equal(t, reports.ExitInconclusive, exit.ExitCode(), printed.String())
	}
	data, err := os.ReadFile(file)
	require.NoError(t, err, printed.String())
	var l results.Load
	require.NoError(t, json.Unmarshal(data, &l))
	assert.Len(t, l.Agents, 10)
	for i := range l.Agents {
		assert.Empty(t, l.Agents[i].Lost)
		assert.Equal(t, 10, l.Agents[i].Connections.Opened)
	}
	assert.Equal(t, int64(600), l.Jobs.Pushed)
	assert.Equal(t, int64(600), l.Jobs.Acked)
	assert.Empty(t, l.Findings)
}
