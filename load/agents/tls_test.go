package agents_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http/httptest"
	"testing"

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

func TestUserOf(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"nats://token@host:4222": "token", "nats://user:password@host": "", "nats://host": "", "nats://%": "",
	} {
		assert.Equal(t, want, agents.UserOf(url), url)
	}
}
