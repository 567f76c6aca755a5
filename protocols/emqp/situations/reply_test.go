package situations

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The text of a job is found in whatever form a worker has it in its REPLY.
func TestHasReply(t *testing.T) {
	t.Parallel()
	const text = `"hé" \ wörld ✓`
	for reply, want := range map[string]bool{
		text: true, `{"value": "\"h\u00e9\" \\ w\u00f6rld \u2713"}`: true,
		`{"value": "\"h\u00e9\" \\ w\u00f6rld \u2713"} broker-3`: true, // behind a frame too many
		`"\"hé\" \\ wörld ✓"`:                                    true, `another`: false, `{"value": "another"}`: false,
		"": false,
	} {
		assert.Equal(t, want, hasReply([]string{"other", reply}, text), reply)
	}
}
