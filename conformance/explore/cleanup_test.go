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
		var trace explore.Trace
		for i := range 5 {
			push := `PUSH {"jid":"$jid500000%d-0123456789","jobtype":"t","args":[],"queue":"$queue500000%d","retry":0}` + "\r\n"
			text := fmt.Sprintf(push, i, i/2) + "INFO\r\n"
			trace.Steps = append(trace.Steps, explore.Step{Kind: explore.Open, Conn: 2, Role: scenarios.Producer},
				explore.Step{Kind: explore.Send, Conn: 2, Raw: true, Ahead: true, Segments: []string{text[:9], text[9:]}},
				explore.Step{Kind: explore.Await, Conn: 2}, explore.Step{Kind: explore.End, Conn: 2, Ending: scenarios.Closed})
		}
		e := explore.Explorer{Subject: fwpsubject.New(), Target: target, Watch: func(s explore.Step) {
			if s.Kind == explore.End {
				assert.NotEmpty(t, kept, "the server has taken the jobs")
			}
		}}
		r := e.Replay(t.Context(), trace)
		assert.Empty(t, r.Findings)
		assert.Equal(t, 10, r.Commands, "each lot of bytes is one command, and so is each HELLO")
		assert.Empty(t, kept)
	})
}
