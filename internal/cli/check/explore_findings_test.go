package check

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/stress"
	"github.com/fwpsuite/fwp/reports"
)

// A finding that was not reproduced is a warning if one of the same kind was, and a fail if not.
func TestFindingsAreWeighed(t *testing.T) {
	t.Parallel()
	type found struct {
		rule, clause string
		shown, tried int
		crash        bool
	}
	twice := found{"delivered", "FWP-STATE-05", 5, 5, false}
	tests := map[string]struct {
		found []found
		want  reports.Verdict // of the first
	}{
		"alone":           {[]found{{"delivered", "FWP-STATE-06", 0, 0, false}}, reports.Fail},
		"not reproduced":  {[]found{{"delivered", "FWP-STATE-06", 0, 0, false}, twice}, reports.Warn},
		"once in five":    {[]found{{"delivered", "FWP-STATE-06", 1, 5, false}, twice}, reports.Warn},
		"in most plays":   {[]found{{"delivered", "FWP-STATE-06", 3, 5, false}, twice}, reports.Fail},
		"by many clients": {[]found{{stress.RuleHistory, "FWP-ACK-02", 0, 0, false}, twice}, reports.Warn},
		"of another kind": {[]found{{"missing", "FWP-STATE-04", 0, 0, false}, twice}, reports.Fail},
		"the other is not": {
			[]found{{"delivered", "FWP-STATE-06", 0, 0, false}, {"delivered", "FWP-ACK-02", 1, 5, false}}, reports.Fail,
		},
		"the same clause":     {[]found{{"delivered", "FWP-STATE-05", 0, 0, false}, twice}, reports.Fail},
		"a crash stays":       {[]found{{"delivered", "FWP-STATE-06", 0, 0, true}, twice}, reports.Crash},
		"a recommendation is": {[]found{{"delivered", "FWP-FLUSH-03", 0, 0, false}, twice}, reports.Warn},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, e := &findingStore{o: &exploreOptions{}}, &reports.Exploration{}
			for _, f := range test.found {
				k.addFinding(e, explore.Finding{Rule: f.rule, Clause: f.clause, Shown: f.shown, Tried: f.tried, Crash: f.crash}, "")
			}
			k.weigh(e)
			assert.Equal(t, test.want, e.Findings[0].Verdict)
			assert.Equal(t, test.want == reports.Warn && name != "a recommendation is", e.Findings[0].Explained != "")
		})
	}
}
