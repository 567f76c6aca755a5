package agents

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDocumentedUsers: docs/agents.md shows users for a NATS server that runs already. An agent may do there what it
// may do on the embedded one, and the coordinator the opposite.
func TestDocumentedUsers(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/agents.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```\n(authorization .*?)```").FindSubmatch(page)
	require.NotNil(t, block)
	file := filepath.Join(t.TempDir(), "nats.conf")
	text := strings.NewReplacer("$COORDINATOR", "c", "$AGENT", "a").Replace(string(block[1]))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	options, err := server.ProcessConfigFile(file)
	require.NoError(t, err)
	require.Len(t, options.Users, 2)
	every := strings.NewReplacer(Prefix("token"), "fwp.*.")
	agent := subjectsOf("token").ofAgents()
	for i, want := range []struct{ publish, subscribe []string }{
		{agent.Subscribe.Allow, append(agent.Publish.Allow, "_INBOX.>")}, {agent.Publish.Allow, agent.Subscribe.Allow},
	} {
		got := options.Users[i].Permissions
		assert.Equal(t, every.Replace(strings.Join(want.publish, " ")), strings.Join(got.Publish.Allow, " "))
		assert.Equal(t, every.Replace(strings.Join(want.subscribe, " ")), strings.Join(got.Subscribe.Allow, " "))
	}
}
