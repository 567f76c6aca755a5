package agents_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/slow"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/agents"
	"github.com/fwpsuite/fwp/reports"
)

// A NATS server of the user's that is restarted in the middle of a load disturbs nothing, if it is back in time: all
// connect again, and the next messages say where everything is.
func TestTheNATSServerIsRestarted(t *testing.T) {
	slow.Only(t) // it takes six seconds of real time: connections over a network are not in a bubble
	t.Parallel()
	start := func(address string) *agents.Server {
		server, err := agents.StartServer(agents.ServerConfig{Listen: address, Token: token})
		require.NoError(t, err)
		return server
	}
	server := start("127.0.0.1:0")
	address := server.Address().String()
	access := agents.Access{URL: "nats://" + address, Token: token}
	conn, err := agents.Connect(access, "coordinator")
	require.NoError(t, err)
	defer conn.Close()
	begun := make(chan struct{}, 64)
	results := make(chan *load.Result, 1)
	go func() {
		result, err := agents.Coordinate(t.Context(), agents.Config{
			Conn: conn, Token: token, Version: version, Plan: agents.Plan{Run: "run", Agents: 2, Load: []byte(`{}`)},
		})
		assert.NoError(t, err)
		results <- result
	}()
	for _, name := range []string{"a", "b"} {
		conn, err := agents.Connect(access, name)
		require.NoError(t, err)
		defer conn.Close()
		a := &agents.Agent{Conn: conn, Token: token, Name: name, Version: version}
		a.Load = func(ctx context.Context, task agents.Task) *load.Result {
			watch := task.Watch
			task.Watch = func(m load.Moment) { watch(m); begun <- struct{}{} }
			return &load.Result{Report: pushes(4)(ctx, task)}
		}
		go func() {
			_, err := a.Serve(t.Context())
			assert.NoError(t, err)
		}()
	}
	<-begun
	server.Close()
	server = start(address)
	defer server.Close()
	result := <-results
	code, words := result.Report.Outcome()
	assert.Equal(t, reports.ExitWell, code, words)
	assert.Equal(t, int64(8), result.Report.Jobs.Pushed)
}

func TestAServerThatCannotListen(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	for address, want := range map[string]string{
		taken.Addr().String(): "address already in use", "127.0.0.1:many": "is not a port", "here": "missing port",
	} {
		_, err := agents.StartServer(agents.ServerConfig{Listen: address, Token: token})
		require.ErrorContains(t, err, want)
	}
}

// A server that is not there yet is waited for.
func TestConnectWithin(t *testing.T) {
	t.Parallel()
	free, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := free.Addr().String()
	require.NoError(t, free.Close())
	access := agents.Access{URL: "nats://" + address, Token: token}
	_, err = agents.ConnectWithin(t.Context(), access, "a", time.Millisecond)
	require.ErrorContains(t, err, "no NATS server answers at ")
	connected := make(chan error, 1)
	go func() {
		conn, err := agents.ConnectWithin(t.Context(), access, "a", time.Minute)
		if err == nil {
			conn.Close()
		}
		connected <- err
	}()
	server, err := agents.StartServer(agents.ServerConfig{Listen: address, Token: token})
	require.NoError(t, err)
	defer server.Close()
	require.NoError(t, <-connected)
	access.Token = "guess"
	_, err = agents.ConnectWithin(t.Context(), access, "a", time.Minute)
	require.ErrorContains(t, err, "refuses the token", "it is not tried again")
}
