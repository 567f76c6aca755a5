package results_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/page"
)

func TestLoadJSONRoundTrip(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]*results.Load{"sound": soundLoad(), "lossy": lossyLoad(), "invalid": invalidLoad()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			require.NoError(t, l.WriteJSON(&out, reports.ExitOptions{}))
			back, err := readLoadJSON(bytes.NewReader(out.Bytes()))
			require.NoError(t, err)
			var rewrite bytes.Buffer
			require.NoError(t, back.WriteJSON(&rewrite, reports.ExitOptions{}))
			assert.Equal(t, out.String(), rewrite.String())
		})
	}
}

// What a server sends instead of JSON must not cost the user the report.
func TestLoadJSONBearsWhatIsNoJSON(t *testing.T) {
	t.Parallel()
	l := &results.Load{Target: results.LoadTarget{HI: json.RawMessage("HI \xff{"), Info: json.RawMessage("{}\n{}")}}
	var out bytes.Buffer
	require.NoError(t, l.WriteJSON(&out, reports.ExitOptions{}))
	back, err := readLoadJSON(&out)
	require.NoError(t, err)
	assert.Equal(t, `"HI \ufffd{"`, string(back.Target.HI))
	assert.Equal(t, `"{}\n{}"`, string(back.Target.Info))
}

func TestReadingRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", "read result: EOF"},
		{"a report of fwpcheck", `{"schema":"fwpcheck/1"}`, `read result: schema is "fwpcheck/1", want "fwpbench/2"`},
		{"no object", `[]`, "cannot unmarshal array"},
		{"a time that is none", `{"schema":"fwpbench/2","took_ns":"1"}`, "cannot unmarshal string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := readLoadJSON(strings.NewReader(c.in))
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestReadingPassesOverNewKeys(t *testing.T) {
	t.Parallel()
	l, err := readLoadJSON(strings.NewReader(`{"schema":"fwpbench/2","new":{"a":1},"ops":[{"op":"push","newer":1,"count":2}]}`))
	require.NoError(t, err)
	assert.Equal(t, []results.LoadOp{{Op: "push", Count: 2}}, l.Ops)
}

// readLoadJSON reads what Load.WriteJSON wrote, as a reader would that knows the types.
func readLoadJSON(r io.Reader) (*results.Load, error) {
	var l results.Load
	if err := json.NewDecoder(r).Decode(&l); err != nil {
		return nil, fmt.Errorf("read result: %w", err)
	}
	if l.Schema != results.LoadSchema {
		return nil, fmt.Errorf("read result: schema is %q, want %q", l.Schema, results.LoadSchema)
	}
	for _, raw := range []*json.RawMessage{&l.Target.HI, &l.Target.Info, &l.Plan.Workload} {
		if *raw != nil {
			var out bytes.Buffer
			if err := json.Compact(&out, *raw); err != nil {
				return nil, err
			}
			*raw = out.Bytes()
		}
	}
	return &l, nil
}

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
	require.NoError(t, l.WriteJSON(&out, reports.ExitOptions{}))
	golden.CheckHarmless(t, out.String())
}

// oursOfLoad are fields that no server has a part in: they keep what they have.
var oursOfLoad = map[string]bool{
	"version": true, "run": true, "url": true, "chosen": true, "command": true, "sha256": true, "usage": true, "os": true,
	"arch": true, "kernel": true,
	"cpu": true, "go": true, "words": true, "preset": true, "overload": true, "name": true, "op": true, "kind": true,
	"level": true, "action": true,
	"at_least": true, "limit": true, "flow": true, "breach": true, "clause": true, "what": true, "unknown": true,
	"do": true, "id": true,
	"threshold": true, "expected": true, "actual": true, "phase": true, "engine": true, "histograms": true,
	"despite_delays": true, "segment": true, "queue": true, "history": true,
}

func TestHideReachesEveryText(t *testing.T) {
	t.Parallel()
	l := &results.Load{}
	golden.SetTexts(reflect.ValueOf(l).Elem(), "a secret")
	l.Target.HI, l.Target.Info, l.Findings[0].Kind = []byte("a secret"), []byte("a secret"), results.FindingReply
	l.Hide(golden.Hide)
	var out bytes.Buffer
	require.NoError(t, l.WriteJSON(&out, reports.ExitOptions{}))
	golden.CheckHidden(t, out.String(), oursOfLoad)
}
