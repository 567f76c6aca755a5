//go:build npm

package npm_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
)

// patience is how long one run of work.mjs may take; it takes seconds.
const patience = 2 * time.Minute

func TestFaktoryWorker(t *testing.T) {
	t.Parallel()
	serverTLS, caFile := certificate(t)
	tests := map[string]fakes.Config{
		"open":                   {},
		"protected":              {Password: "p@ss:wörd/ %2F"},
		"TLS":                    {TLS: serverTLS, Password: "secret"},
		"state as simple string": {StateAsSimple: true},
		"END without OK":         {EndWithoutOK: true},
	}
	for name, config := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config.RetryDelay = shortRetry
			server := fakes.NewServer(config)
			t.Cleanup(server.Close)
			out, err := work(t, server, server.URL(), "NODE_EXTRA_CA_CERTS="+caFile)
			require.NoError(t, err, out)
			assert.Contains(t, out, "all well: 200 jobs\n")
			assert.Contains(t, out, "signal terminate ")
		})
	}
}

// TestWorkFindsBugs makes sure that work.mjs reports what is wrong.
func TestWorkFindsBugs(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		config fakes.Config
		spoil  func(url string) string
		want   string
	}{
		"wrong password": {
			config: fakes.Config{Password: "secret"},
			spoil:  func(url string) string { return strings.Replace(url, "secret", "guess", 1) },
			want:   "not well: ResourceRequest timed out",
		},
		"a job runs twice": {
			config: fakes.Config{Hook: changeFirst(fakes.Acked, func(e *fakes.Event) { e.Requeue = true })},
			want:   "not well: outcomes of ",
		},
		"a job is lost": {
			config: fakes.Config{Hook: changeFirst(fakes.Enqueued, func(e *fakes.Event) { e.Skip = true })},
			want:   "not well: waited ",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.config.RetryDelay = shortRetry
			server := fakes.NewServer(test.config)
			t.Cleanup(server.Close)
			url := server.URL()
			if test.spoil != nil {
				url = test.spoil(url)
			}
			out, err := work(t, server, url, "PATIENCE_SECONDS=10")
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit, out)
			assert.Equal(t, 1, exit.ExitCode())
			assert.Contains(t, out, test.want)
		})
	}
}

// work runs work.mjs against url and is its operator: it sends the signals that
// work.mjs asks for. It returns what was printed, and the error of the exit.
func work(t *testing.T, server *fakes.Server, url string, env ...string) (string, error) {
	t.Helper()
	require.DirExists(t, "node_modules", "run it by: make client-npm")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	node := exec.CommandContext(ctx, "node", "work.mjs", "--signals")
	// FAKTORY_PROVIDER would name another variable than FAKTORY_URL.
	node.Env = append(os.Environ(), append(env, "FAKTORY_URL="+url, "FAKTORY_PROVIDER=")...)
	var complaints bytes.Buffer
	node.Stderr = &complaints
	stdout, err := node.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, node.Start())

	var out strings.Builder
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		out.WriteString(lines.Text() + "\n")
		if words := strings.Fields(lines.Text()); len(words) == 3 && words[0] == "signal" {
			assert.NoError(t, server.Signal(words[2], words[1]))
		}
	}
	err = node.Wait()
	return out.String() + complaints.String(), err
}

// shortRetry is the shortest retry delay that the server grants.
func shortRetry(int) time.Duration { return time.Second }

// changeFirst is a hook that changes only the first event at point.
func changeFirst(point fakes.Point, change func(*fakes.Event)) func(*fakes.Event) {
	var isDone atomic.Bool
	return func(e *fakes.Event) {
		if e.Point == point && isDone.CompareAndSwap(false, true) {
			change(e)
		}
	}
}

// certificate returns a configuration for a server on loopback, and the file of the
// certificate that a client has to trust.
func certificate(t *testing.T) (config *tls.Config, caFile string) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	caFile = filepath.Join(t.TempDir(), "ca.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}
	require.NoError(t, os.WriteFile(caFile, pem.EncodeToMemory(block), 0o600))
	return &tls.Config{Certificates: server.TLS.Certificates}, caFile
}
