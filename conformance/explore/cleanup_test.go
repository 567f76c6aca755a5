package explore_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/fwpsubject"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

// TestFuzzedBytesLeaveNothingBehind plays bytes that push jobs as a lenient server takes
// them, on a server that others use too.
func TestFuzzedBytesLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		kept := map[string]bool{}
		s := &stage{network: memnet.New(), config: func() fakes.Config {
			return fakes.Config{Hook: func(e *fakes.Event) {
				switch e.Point {
				case fakes.Enqueued:
					kept[e.Object.Text("jid")] = true
				case fakes.Acked:
					delete(kept, e.Object.Text("jid"))
				}
			}}
		}}
		target, end, err := s.start()
		require.NoError(t, err)
		defer end()
		build := explore.Builder{Dialect: fwpdialect.Dialect{}}
		var trace explore.Trace
		for i := range 5 {
			push := `PUSH {"jid":"$jid500000%d-0123456789","jobtype":"t","args":[],"queue":"$queue500000%d","retry":0}` + "\r\n"
			text := fmt.Sprintf(push, i, i/2) + "INFO\r\n"
			bytes := build.Bytes(2, text[:9], text[9:])
			bytes.Ahead = true
			trace.Steps = append(trace.Steps, build.Open(2, scenarios.Producer, ""), bytes,
				build.Await(2), explore.End(2, scenarios.Closed))
		}
		e := explore.Explorer{Subject: fwpsubject.New(), Target: target, Watch: func(s explore.Step) {
			if s.Ends() {
				assert.NotEmpty(t, kept, "the server has taken the jobs")
			}
		}}
		r := e.Replay(t.Context(), trace)
		assert.Empty(t, r.Findings)
		assert.Equal(t, 10, r.Commands, "each lot of bytes is one command, and so is each HELLO")
		assert.Empty(t, kept)
	})
}
