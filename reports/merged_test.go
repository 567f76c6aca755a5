package reports

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sum is of two files, one of which is INVALID.
func sum() *Merged {
	l := soundLoad()
	return &Merged{
		Version: "fwpbench 0.1.0", Ops: l.Ops, Flows: l.Flows, Histograms: "#[Histogram log format version 1.3]\n",
		Files: []MergedFile{
			{Name: "agents/a.hlog", Runs: []string{"abcdefgh"}, CutOff: true},
			{Name: "agents/b.json", Runs: []string{"ijklmnop"}, Invalid: "push was sent late"},
			{Name: "c.hlog"}, {Name: "d.json", Runs: []string{"q", "r"}},
		},
		Started: time.Date(2026, 9, 21, 14, 13, 20, 0, time.UTC), Took: time.Minute,
	}
}

func TestMergedPage(t *testing.T) {
	t.Parallel()
	var page bytes.Buffer
	require.NoError(t, sum().Page(PageOptions{}).WriteText(&page, TextOptions{}))
	assert.NotContains(t, page.String(), "TIMES", "they are no results")
	page.WriteString("\nWith --show-invalid:\n\n")
	require.NoError(t, sum().Page(PageOptions{ShowInvalid: true}).WriteText(&page, TextOptions{}))
	golden(t, "merged.txt.golden", page.Bytes())
}

func TestMergedJSONIsMergedAgain(t *testing.T) {
	t.Parallel()
	root := readSchema(t, "merged.schema.json")
	full := &Merged{}
	fillLoad(reflect.ValueOf(full).Elem(), new(int64))
	for name, m := range map[string]*Merged{"sum": sum(), "empty": {}, "every field": full} {
		assert.Empty(t, root.breachesOf(t, m.WriteJSON), name)
	}
	var data bytes.Buffer
	require.NoError(t, sum().WriteJSON(&data))
	found, err := ReadHistograms(data.Bytes())
	require.NoError(t, err)
	assert.Equal(t, Histograms{sum().Histograms, "agents/b.json: push was sent late"}, found)
}

func TestHistogramsOfARun(t *testing.T) {
	t.Parallel()
	l := soundLoad()
	of := func() (Histograms, error) {
		var data bytes.Buffer
		require.NoError(t, l.WriteJSON(&data))
		return ReadHistograms(data.Bytes())
	}
	_, err := of()
	require.ErrorContains(t, err, "it has no histograms")
	l.Histograms, l.Validity = "log", Validity{}
	found, err := of()
	require.NoError(t, err)
	assert.Equal(t, Histograms{"log", "the run was not evaluated"}, found)
	l.Validity.Valid = true
	found, err = of()
	require.NoError(t, err)
	assert.Equal(t, Histograms{Log: "log"}, found)
	_, err = ReadHistograms([]byte(`{"schema": "fwpcheck/3"}`))
	require.ErrorContains(t, err, `its schema is "fwpcheck/3"`)
}
