package check

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/registry"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/reports"
)

// call is an event of one client, from one second to the next.
func call(second int, op history.Op, jid string, o history.Outcome) history.Event {
	e := history.Event{
		Client: 1, Worker: "w", Op: op, Outcome: o, JID: jid, Queue: "q",
		Call: time.Duration(second) * time.Second, Return: time.Duration(second+1) * time.Second,
	}
	switch {
	case o == history.NoReply:
		e.Return = -1
	case op == history.Fetch && o == history.Empty:
		e.Queue = ""
	}
	if op == history.Fetch {
		e.Queues = []string{"q"}
	}
	return e
}

func historyText(t *testing.T, drained bool, events ...history.Event) string {
	t.Helper()
	var text strings.Builder
	require.NoError(t, (&history.History{Events: events, Drained: drained}).Save(&text))
	return text.String()
}

// writeHistory puts the text of a history into a file.
func writeHistory(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "run.history")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const ok, noReply = history.OK, history.NoReply
	push, fetch, ack := call(0, history.Push, "j1", ok), call(1, history.Fetch, "j1", ok), call(2, history.Ack, "j1", ok)
	empty := call(9, history.Fetch, "", history.Empty)
	secondFetch := call(3, history.Fetch, "j1", ok)
	conforming := historyText(t, true, push, fetch, ack, empty)
	breach := historyText(t, true, push, fetch, ack, secondFetch, empty)
	undecided := historyText(t, false, push, call(1, history.Push, "j2", ok), call(2, history.Push, "j3", noReply))
	tests := map[string]struct {
		text string
		code int
		out  []string
		err  string
	}{
		"well": {conforming, reports.ExitWell, []string{"4 events, drained; 1 job: 1 settled, 0 inconclusive; 0 findings"}, ""},
		"found": {breach, reports.ExitFindings, []string{
			"\nFWP-ACK-02  ", "job j1\n", "\n  found: ", "\n  #2  2s to 3s  w (client 1)  ACK j1: OK\n",
			"\n  #3  3s to 4s  w (client 1)  FETCH q: job j1 of q\n",
		}, ""},
		"lost": {historyText(t, true, push, empty), reports.ExitFindings, []string{
			"FWP-PUSH-04", "PUSH j1 to q: OK", "FETCH q: nothing",
		}, ""},
		"undecided": {undecided, reports.ExitInconclusive, []string{
			"3 events, not drained; 3 jobs: 0 settled, 3 inconclusive; 0 findings",
			"  2 jobs: the queues were not drained (j1, j2)\n", "  1 job: its PUSH has no reply (j3)\n",
		}, ""},
		"nothing": {historyText(t, true), reports.ExitInconclusive, []string{"0 events"}, ""},
		"cut short": {breach[:len(breach)-20], reports.ExitUsage, []string{
			"partial, cut off at 3s: 4 events", "1 job",
		}, "line 6 of the history"},
		"cut at the limit": {strings.Replace(conforming, `"drained":true`, `"drained":true,"cut":3000000000`, 1),
			reports.ExitInconclusive, []string{"partial, cut off at 3s: 4 events", "partial: 1 history cut off"}, ""},
		"no header": {"hello\n", reports.ExitUsage, nil, formatMessage},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out, err := runMain("recheck", writeHistory(t, test.text))
			assert.Equal(t, test.code, code, out)
			for _, want := range test.out {
				assert.Contains(t, out, want)
			}
			if test.out == nil {
				assert.Empty(t, out)
			}
			assert.Contains(t, err, test.err)
			assert.Equal(t, test.err == "", err == "", err)
		})
	}
}

func TestJudgeSeveral(t *testing.T) {
	t.Parallel()
	push, empty := call(0, history.Push, "j1", history.OK), call(9, history.Fetch, "", history.Empty)
	lostFile, openFile := writeHistory(t, historyText(t, true, push, empty)), writeHistory(t, historyText(t, false, push))
	code, out, _ := runMain("recheck", openFile, lostFile, openFile)
	assert.Equal(t, reports.ExitFindings, code)
	assert.Equal(t, 2, strings.Count(out, "1 event, not drained"))
	code, out, err := runMain("recheck", lostFile, "nosuch.history")
	assert.Equal(t, reports.ExitUsage, code)
	assert.Contains(t, out, "FWP-PUSH-04", "what can be read is judged")
	assert.Contains(t, err, "nosuch.history")
	code, _, err = runMain("recheck")
	assert.Equal(t, reports.ExitUsage, code)
	assert.Contains(t, err, "give the files of a report or of histories")
}

func TestJudgeWritesJSON(t *testing.T) {
	t.Parallel()
	push, empty := call(0, history.Push, "j1", history.OK), call(9, history.Fetch, "", history.Empty)
	code, out, _ := runMain("recheck", "--format", "json", writeHistory(t, historyText(t, true, push, empty)))
	assert.Equal(t, reports.ExitFindings, code)
	var got struct {
		Schema    string
		Exit      int `json:"exit_code"`
		Histories []struct {
			Findings []struct {
				Clause, Statement, JID string
				Events                 []indexedEvent
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Len(t, got.Histories, 1)
	assert.Equal(t, reports.HistoriesSchema, got.Schema)
	assert.Equal(t, reports.ExitFindings, got.Exit)
	found := got.Histories[0].Findings
	require.Len(t, found, 1)
	assert.Equal(t, "FWP-PUSH-04", found[0].Clause)
	assert.Equal(t, "j1", found[0].JID)
	assert.NotEmpty(t, found[0].Statement)
	assert.Equal(t, []indexedEvent{{0, push}, {1, empty}}, found[0].Events)
}

// The package history does not know the catalogue.
func TestEachBreachOfAHistoryHasAClause(t *testing.T) {
	t.Parallel()
	for _, breach := range history.Breaches() {
		_, ok := registry.Clause(fwpsuite.ClauseOf(string(breach)))
		assert.True(t, ok, breach)
	}
}
