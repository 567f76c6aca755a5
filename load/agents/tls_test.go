package agents_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/agents"
)

// The coordinator is in the same process as the server, and needs no encryption; agents do.
func TestAnEncryptedServer(t *testing.T) {
	t.Parallel()
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	server, err := agents.StartServer(agents.ServerConfig{
		Listen: "127.0.0.1:0", Token: token,
		TLS: &tls.Config{Certificates: web.TLS.Certificates, MinVersion: tls.VersionTLS12},
	})
	require.NoError(t, err)
	defer server.Close()
	coordinator, err := server.Connect(token, "coordinator")
	require.NoError(t, err)
	defer coordinator.Close()
	address := server.Address().String()
	authorities := x509.NewCertPool()
	authorities.AddCert(web.Certificate())
	access := agents.Access{
		URL: "tls://" + token + "@" + address, TLS: &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12},
	}
	agent, err := agents.Connect(access, "agent")
	require.NoError(t, err)
	defer agent.Close()
	_, err = agent.TLSConnectionState()
	require.NoError(t, err)
	access.TLS = nil
	_, err = agents.Connect(access, "agent")
	require.ErrorContains(t, err, "certificate")
}

// Who knows the token may be an agent, and nothing else.
func TestWhatAnAgentMayDo(t *testing.T) {
	t.Parallel()
	server, err := agents.StartServer(agents.ServerConfig{Listen: "127.0.0.1:0", Token: token})
	require.NoError(t, err)
	defer server.Close()
	coordinator, err := server.Connect(token, "coordinator")
	require.NoError(t, err)
	defer coordinator.Close()
	heard, err := coordinator.SubscribeSync("fwp.>")
	require.NoError(t, err)
	require.NoError(t, coordinator.Flush())
	for subject, allowed := range map[string]bool{
		"join": true, "clock": true, "tick": true, "jobs.1": true, "done.1": true, "state": false, "other": false,
	} {
		agent := connected(t, server)
		require.NoError(t, agent.Publish(agents.Prefix(token)+subject, nil))
		require.NoError(t, agent.Flush())
		if assert.Equal(t, allowed, agent.LastError() == nil, "%s: %v", subject, agent.LastError()); allowed {
			_, err = heard.NextMsg(time.Minute)
			require.NoError(t, err, subject)
		}
	}
	for subject, allowed := range map[string]bool{
		agents.Prefix(token) + "state": true, nats.NewInbox(): true, ">": false, "fwp.>": false,
		agents.Prefix(token) + "done.1": false,
	} {
		agent := connected(t, server)
		_, err := agent.SubscribeSync(subject)
		require.NoError(t, err)
		require.NoError(t, agent.Flush())
		assert.Equal(t, allowed, agent.LastError() == nil, "%s: %v", subject, agent.LastError())
	}
}

// connected returns a connection of an agent, from outside of the server's process.
func connected(t *testing.T, server *agents.Server) *nats.Conn {
	t.Helper()
	agent, err := agents.Connect(agents.Access{URL: "nats://" + token + "@" + server.Address().String()}, "agent")
	require.NoError(t, err)
	t.Cleanup(agent.Close)
	return agent
}

func TestUserOf(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"nats://token@host:4222": "token", "nats://user:password@host": "", "nats://host": "", "nats://%": "",
	} {
		assert.Equal(t, want, agents.UserOf(url), url)
	}
}
