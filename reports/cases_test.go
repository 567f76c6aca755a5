package reports

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// result is what every result can do.
type result interface {
	Page(o PageOptions) Page
	Suite(o ExitOptions) Suite
}

func resultSamples() map[string]result {
	all := map[string]result{
		"rich": rich(), "well": well(), "empty": &Report{}, "repeated": repeated(), "expected": expected(),
		"unreachable": &Report{
			Target:  Target{URL: "tcp://127.0.0.1:1", Chosen: "from --url"},
			Trouble: Trouble{Unreachable: "dial tcp 127.0.0.1:1: connection refused"},
		},
		"explored": explored(), "compared": compared(),
	}
	return all
}

// A red exit code has a red case, and a green one has none: a CI that reads the cases alone comes to the same result.
func TestCasesAgreeWithTheExitCode(t *testing.T) {
	t.Parallel()
	for name, r := range resultSamples() {
		for _, o := range []ExitOptions{{}, {Strict: true}, {Require: []string{"FWP-FLUSH-02"}}} {
			if _, isReport := r.(*Report); !isReport && o.Require != nil {
				continue
			}
			s := r.Suite(o)
			counts := s.Count()
			red := counts[CaseFailed]+counts[CaseErrored] > 0
			assert.Equal(t, s.Code != ExitWell && len(s.Cases) > 0, red, "%s %+v: exit code %d", name, o, s.Code)
			if s.Code == ExitFindings || s.Code == ExitLoss {
				assert.Positive(t, counts[CaseFailed], name)
			}
			names := map[string]bool{}
			for _, c := range s.Cases {
				assert.False(t, names[c.Name], "%s: two cases are %s", name, c.Name)
				names[c.Name] = true
			}
		}
	}
}
