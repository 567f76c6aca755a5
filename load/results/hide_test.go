package results_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/golden"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/page"
)

// Every field of a report may have come from a server: neither the text nor the JSON has a control character.
func TestHostileTextIsShownHarmlessly(t *testing.T) {
	t.Parallel()
	l := &results.Load{}
	golden.SetTexts(reflect.ValueOf(l).Elem(), golden.Hostile)
	l.Target.HI, l.Target.Info = []byte(golden.Hostile), []byte(golden.Hostile)
	var out bytes.Buffer
	for _, o := range []reports.PageOptions{{}, {Verbose: true}} {
		for _, fit := range []page.TextOptions{{}, {Width: 40, Fit: true}} {
			out.Write(page.Text(l.Page(o), fit))
		}
	}
	require.NoError(t, l.WriteJSON(&out))
	golden.Harmless(t, out.String())
}

// oursOfLoad are fields that no server has a part in: they keep what they have.
var oursOfLoad = map[string]bool{
	"version": true, "run": true, "url": true, "chosen": true, "command": true, "sha256": true, "usage": true, "os": true, "arch": true, "kernel": true,
	"cpu": true, "go": true, "words": true, "preset": true, "overload": true, "name": true, "op": true, "kind": true,
	"level": true, "action": true,
	"at_least": true, "flow": true, "breach": true, "clause": true, "what": true, "unknown": true, "do": true, "id": true,
	"threshold": true, "expected": true, "actual": true, "phase": true, "engine": true, "histograms": true,
	"segment": true, "queue": true, "history": true,
}

func TestHideReachesEveryText(t *testing.T) {
	t.Parallel()
	l := &results.Load{}
	golden.SetTexts(reflect.ValueOf(l).Elem(), "a secret")
	l.Target.HI, l.Target.Info, l.Findings[0].Kind = []byte("a secret"), []byte("a secret"), results.FindingReply
	l.Hide(golden.Hide)
	var out bytes.Buffer
	require.NoError(t, l.WriteJSON(&out))
	golden.Hidden(t, out.String(), oursOfLoad)
}
