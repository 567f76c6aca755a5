package bench

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/load/agents"
	"github.com/fwpsuite/fwp/reports"
)

// What an agent ends with says whether the coordinator has its report.
func TestTheExitCodesOfAnAgent(t *testing.T) {
	t.Parallel()
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	var log strings.Builder
	p := process{program.Process{Name: "fwpbench", Err: &log,
		LookupEnv: func(string) (string, bool) { return "", false }}}
	for _, test := range []struct {
		interrupted bool
		err         error
		want        error
	}{
		{false, nil, nil},
		{false, agents.ErrSilent, program.Exit(reports.ExitInconclusive)},
		{false, agents.ErrNotRun, program.Exit(reports.ExitInconclusive)},
		{false, errors.New("refused"), program.Exit(reports.ExitUnreachable)},
		{true, nil, program.Exit(reports.ExitInterrupted)},
		{true, errors.New("quiet"), program.Exit(reports.ExitInterrupted)},
	} {
		ctx := t.Context()
		if test.interrupted {
			ctx = interrupted
		}
		assert.Equal(t, test.want, p.ended(ctx, test.err))
	}
	assert.Contains(t, log.String(), "refused")
	assert.NotContains(t, log.String(), "quiet", "who interrupts knows why")
}

// The line that starts an agent has the token only if the coordinator drew it.
func TestTheCommandOfAnAgent(t *testing.T) {
	t.Parallel()
	for want, h := range map[string]hub{
		"fwpbench agent nats://a:4222   (with the same FWPBENCH_TOKEN)": {url: "nats://a:4222", given: true},
		"FWPBENCH_TOKEN=t fwpbench agent nats://a:4222":                 {url: "nats://a:4222"},
		"fwpbench agent tls://t@a:4222":                                 {url: "tls://a:4222", server: new(agents.Server)},
	} {
		h.token = "t"
		assert.Equal(t, want, h.command())
	}
}
