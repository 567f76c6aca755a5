package run

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/fwpsuite"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// TestWhatWaitsForASecondPlayGetsIt: whatever else the first one has found.
func TestWhatWaitsForASecondPlayGetsIt(t *testing.T) {
	t.Parallel()
	began := time.Now()
	broken := play.Result{Outcome: play.Mismatched, Marks: []scenarios.Mark{{Clause: "FWP-BEAT-01"}}}
	late := play.Result{Outcome: play.Unsure, Reason: play.Lag, Cause: "late", Transient: true}
	seen := law.Seen{
		Violation: law.Violation{Rule: "late", Clause: "FWP-STATE-04"}, Conn: "a", At: began, Timed: true, Alone: true,
	}
	for name, test := range map[string]struct {
		e     conformance.Evidence
		again bool
	}{
		"nothing":                        {conformance.Evidence{}, false},
		"a finding":                      {conformance.Evidence{Results: []play.Result{broken}}, false},
		"lag":                            {conformance.Evidence{Results: []play.Result{late}}, true},
		"lag behind a finding":           {conformance.Evidence{Results: []play.Result{broken, late}}, false},
		"a late reply behind a finding":  {conformance.Evidence{Results: []play.Result{broken, late}, Unproven: true}, true},
		"a time of the law":              {conformance.Evidence{Law: []law.Seen{seen}}, true},
		"a time of the law by a finding": {conformance.Evidence{Law: []law.Seen{seen}, Results: []play.Result{broken}}, true},
	} {
		script, err := scenarios.Parse(fwpdialect.Dialect{}, "a/check", []byte("title: x\n"+
			"connect as consumer\nclause FWP-BEAT-01\nC: BEAT {\"wid\":\"$wid\"}\nS: +OK\n"))
		require.NoError(t, err)
		s := newRunState(&Runner{Protocol: fwpsuite.Protocol(), Checks: conformance.Scripts(script)})
		one := s.newTask(0, 0)
		test.e.Began, one.evidence, one.began = began, &test.e, began
		s.record(one)
		assert.Equal(t, test.again, len(s.again) == 1, name)
		if s.record(one); len(test.e.Law) > 0 {
			assert.Len(t, s.again, 1, "%s: two plays have shown it", name)
		}
	}
}
