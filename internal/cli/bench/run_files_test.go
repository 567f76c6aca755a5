package bench

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/results"
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

// A run that never began leaves what earlier ones have gained.
func TestARunThatDidNotBeginWritesNoFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	o := &benchOptions{hlog: path("hlog"), series: path("csv"), history: path("history"), hgrm: folder}
	for _, name := range []string{o.hlog, o.series, o.history} {
		write(t, name, "old")
	}
	outputs, err := o.open()
	require.NoError(t, err)
	require.NoError(t, outputs.close(&load.Result{}, strings.ToUpper))
	outputs.Discard()
	for _, name := range []string{o.hlog, o.series, o.history} {
		assert.Equal(t, "old", read(t, name))
	}
	assert.Equal(t, []string{"csv", "history", "hlog"}, files(t, folder))
	o.hlog = path("nosuch/hlog")
	_, err = o.open()
	require.ErrorContains(t, err, "--hlog: open ")
	assert.Equal(t, []string{"csv", "history", "hlog"}, files(t, folder))
}

// The text of a job may quote a secret; its jid tells it apart.
func TestAHistoryHasNoSecrets(t *testing.T) {
	t.Parallel()
	o := &benchOptions{history: filepath.Join(t.TempDir(), "history")}
	outputs, err := o.open()
	require.NoError(t, err)
	h := &history.History{Events: []history.Event{
		{Op: history.Fetch, Outcome: history.OK, JID: "a-secret", Body: "args: secret"},
	}}
	hide := func(s string) string { return strings.ReplaceAll(s, "secret", "(password)") }
	require.NoError(t, outputs.close(&load.Result{Total: new(measure.Set), History: h}, hide))
	assert.Contains(t, read(t, o.history), `"args: (password)"`)
	assert.Contains(t, read(t, o.history), `"a-secret"`)
}

// Before a run its plan is served, and behind it the final figures, for as long as that is asked for.
func TestMetricsOutliveTheRun(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	p := process{shared.Process{
		Name: "fwpbench", Err: &log, LookupEnv: func(string) (string, bool) { return "", false },
	}}
	o := metricsFlag{address: "127.0.0.1:0", linger: time.Hour}
	ctx, stop := context.WithCancel(t.Context())
	watch, end, err := o.serve(ctx, p, "abc", results.LoadPlan{Words: "two jobs"}, func(load.Progress) {})
	require.NoError(t, err)
	url := regexp.MustCompile(`http://\S+/metrics`).FindString(log.String())
	get := func() string {
		response, err := http.Get(url) //nolint:noctx // of this test
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return string(body)
	}
	assert.Contains(t, get(), `words="two jobs"`)
	moment := load.Progress{Run: "abc", Set: new(measure.Set)}
	moment.Jobs.Pushed = 2
	watch(moment)
	ended := make(chan struct{})
	go func() {
		end()
		close(ended)
	}()
	assert.Eventually(t, func() bool { return strings.Contains(get(), `phase="end"`) }, time.Minute, time.Millisecond)
	assert.Contains(t, get(), `fwpbench_jobs{state="pushed"} 2`)
	stop()
	<-ended
	_, err = http.Get(url) //nolint:noctx,bodyclose // there is none
	assert.Error(t, err)
	for want, o := range map[string]metricsFlag{
		"0 or more": {address: "x", linger: -1}, "nothing is served": {linger: time.Second},
	} {
		assert.ErrorContains(t, o.validate(), want)
	}
}
