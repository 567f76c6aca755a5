package check

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/reports"
)

func TestControl(t *testing.T) {
	t.Parallel()
	const opening = "title: FWP-INFO-01: an example\n\nconnect as producer\n"
	for name, test := range map[string]struct {
		script string
		want   reports.Verdict
	}{
		"a right server passes": {opening + "C: INFO\nclause FWP-INFO-01\nS: $\n", reports.Pass},
		"a right server fails":  {opening + "C: INFO\nclause FWP-INFO-01\nS: +OK\n", reports.Fail},
		"it waits for too long": {opening + "silence 20s\nC: INFO\nclause FWP-INFO-01\nS: +OK\n", reports.Inconclusive},
		"no script at all":      {"S: one reply\n", reports.Inconclusive},
		"on a server with passwords": {
			"title: an example\nneeds: password\n\nconnect as producer\nC: INFO\nclause FWP-INFO-01\nS: $\n", reports.Pass,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, control(t.Context(), program.Endpoint{}, test.script))
		})
	}
}
