package reports

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A long proof is cut in the text, and not in the JSON.
func TestManyEventsThatProveAFinding(t *testing.T) {
	t.Parallel()
	f := HistoryFinding{Clause: "FWP-PUSH-04", Level: LevelMust, JID: "j1", Events: make([]HistoryEvent, 30)}
	for i := range f.Events {
		f.Events[i] = HistoryEvent{Data: i, Cells: []string{"#" + count(int64(i)), "1s"}}
	}
	var out strings.Builder
	require.NoError(t, (&History{Findings: []HistoryFinding{f}}).Page().WriteText(&out, TextOptions{}))
	assert.Contains(t, out.String(), "\nFWP-PUSH-04  required  job j1\n")
	assert.Contains(t, out.String(), "#19 ")
	assert.NotContains(t, out.String(), "#20 ")
	assert.Contains(t, out.String(), "and 10 more events\n")
	json, err := encode(f)
	require.NoError(t, err)
	assert.Contains(t, string(json), `"events":[0,1,2,`)
	assert.Contains(t, string(json), `,28,29]`)
}

func TestHistoriesConclude(t *testing.T) {
	t.Parallel()
	well, open := History{Settled: 1}, History{Settled: 1,
		Inconclusive: []HistoryCause{{Why: "x", Jobs: 1, JIDs: []string{"j"}}}}
	found, damaged := History{Findings: []HistoryFinding{{Events: []HistoryEvent{}}}}, History{Damage: "line 3"}
	for _, c := range []struct {
		files []History
		want  int
	}{
		{nil, ExitWell},
		{[]History{well}, ExitWell},
		{[]History{{}, well}, ExitInconclusive},
		{[]History{well, open}, ExitInconclusive},
		{[]History{open, found, open}, ExitFindings},
		{[]History{damaged, found}, ExitUsage},
	} {
		h := Histories{Files: c.files}
		h.Conclude()
		assert.Equal(t, c.want, h.Exit)
		assert.Equal(t, HistoriesSchema, h.Schema)
		json, err := encode(h)
		require.NoError(t, err)
		assert.NotContains(t, string(json), "null", "lists are lists")
	}
}
