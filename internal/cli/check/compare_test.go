package check

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

// TestLongRepliesAreCut compares two servers whose replies of 228 KB differ in their middle alone.
func TestLongRepliesAreCut(t *testing.T) {
	t.Parallel()
	long := func(middle string) string {
		half := strings.Repeat("x", 114<<10)
		return half + middle + half
	}
	of := &explore.Compared{Coverage: &explore.Coverage{}, Differences: []explore.Difference{{
		Command: "INFO", Field: "server", Sides: [2]explore.Side{{Reply: long("a")}, {Reply: long("b")}}, Count: 1,
		Shown: 1, Tried: 1,
		Conversation: []explore.Exchange{{Step: "INFO", Replies: [2]string{long("a"), long("b")}}},
	}}}
	var c reports.Comparison
	(&compareOptions{}).record(&c, of, [2]program.Endpoint{})
	shown, sides := c.Differences[0].Conversation[0], c.Differences[0]
	for _, reply := range []string{shown.A, shown.B, sides.A.Reply, sides.B.Reply} {
		assert.Less(t, len(reply), 500)
		assert.Regexp(t, text.Cut, reply)
		assert.Contains(t, reply, "233473 bytes in all")
	}
	assert.NotEqual(t, shown.A, shown.B)
}
