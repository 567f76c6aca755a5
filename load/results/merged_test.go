package results_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/page"
)

// sum is of two files, one of which is INVALID.
func sum() *results.Merged {
	l := soundLoad()
	return &results.Merged{
		Head: reports.Head{
			Version: "fwpbench 0.1.0", StartTime: time.Date(2026, 9, 21, 14, 13, 20, 0, time.UTC), Took: time.Minute,
		},
		Ops: l.Ops, Flows: l.Flows, Histograms: "#[Histogram log format version 1.3]\n",
		Files: []results.MergedFile{
			{Name: "runs/a.hlog", Runs: []string{"abcdefgh"}, IsCutOff: true},
			{Name: "runs/b.json", Runs: []string{"ijklmnop"}, Invalid: "push was sent late"},
			{Name: "c.hlog"}, {Name: "d.json", Runs: []string{"q", "r"}},
		},
	}
}

func TestMergedPage(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	out.Write(page.Text(sum().Page(reports.PageOptions{}), page.TextOptions{}))
	assert.NotContains(t, out.String(), "TIMES", "they are no results")
	out.WriteString("\nWith --show-invalid:\n\n")
	out.Write(page.Text(sum().Page(reports.PageOptions{ShowInvalid: true}), page.TextOptions{}))
	golden.File(t, "testdata/merged.txt.golden", out.Bytes())
}

func TestMergedJSONIsMergedAgain(t *testing.T) {
	t.Parallel()
	var data bytes.Buffer
	require.NoError(t, sum().WriteJSON(&data, reports.ExitOptions{}))
	found, err := results.ReadHistograms(data.Bytes())
	require.NoError(t, err)
	assert.Equal(t, sum().Histograms, found.Log)
	assert.Equal(t, "runs/b.json: push was sent late", found.Invalid)
	assert.Equal(t, reports.ExitInconclusive, found.Exit)
}

func TestHistogramsOfARun(t *testing.T) {
	t.Parallel()
	l := soundLoad()
	read := func() (results.Histograms, error) {
		var data bytes.Buffer
		require.NoError(t, l.WriteJSON(&data, reports.ExitOptions{}))
		return results.ReadHistograms(data.Bytes())
	}
	_, err := read()
	require.ErrorContains(t, err, "it has no histograms")
	l.Histograms, l.Validity = "log", results.Validity{}
	found, err := read()
	require.NoError(t, err)
	assert.Equal(t, "log", found.Log)
	assert.Equal(t, "the run was not evaluated", found.Invalid)
	l.Validity.IsValid = true
	found, err = read()
	require.NoError(t, err)
	assert.Empty(t, found.Invalid)
	assert.Equal(t, reports.ExitWell, found.Exit)
	_, err = results.ReadHistograms([]byte(`{"schema": "fwpcheck/3"}`))
	require.ErrorContains(t, err, `its schema is "fwpcheck/3"`)
}

// The cases of a sum are its files: one is errored if the runs in it are INVALID.
func TestTheCasesOfASum(t *testing.T) {
	t.Parallel()
	s := sum().Suite(reports.ExitOptions{})
	assert.Equal(t, "a.hlog, b.json, c.hlog, d.json", s.Target, "folders are left out")
	assert.Equal(t, reports.ExitInconclusive, s.Code)
	require.Len(t, s.Cases, 4)
	assert.Equal(t, "the figures of file 2 are valid: runs/b.json", s.Cases[1].Name)
	for i, want := range []reports.CaseState{
		reports.CasePassed, reports.CaseErrored, reports.CasePassed, reports.CasePassed,
	} {
		assert.Equal(t, want, s.Cases[i].State, s.Cases[i].Name)
	}
	assert.Equal(t, "push was sent late", s.Cases[1].Message)
	valid := sum()
	valid.Files[1].Invalid = ""
	code, words := valid.Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, reports.ExitWell, code)
	assert.Equal(t, "4 files merged, of which runs/a.hlog is incomplete", words)
	valid.Files[0].IsCutOff = false
	_, words = valid.Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, "4 files merged", words)
	valid.Files[3].Exit, valid.Files[3].Words = reports.ExitFindings, "1 of 1 threshold missed: lost==1, actual 0"
	code, words = valid.Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, reports.ExitFindings, code, "a sum is no better than its files")
	assert.Equal(t, "4 files merged; d.json: 1 of 1 threshold missed: lost==1, actual 0", words)
	valid.Internal = "disk full"
	code, words = valid.Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, reports.ExitInternal, code)
	assert.Equal(t, "failed on this machine: disk full", words)
}
