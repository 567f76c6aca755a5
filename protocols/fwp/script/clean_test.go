package script_test

import (
	"bufio"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/variations"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
)

func TestRunOf(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]string{
		"fwpbench-k3v9q2xy-0": "k3v9q2xy", "fwpbench-k3v9q2xy-000000000000002a": "k3v9q2xy",
		"fwp1120201745ab12-3-queue-1": "fwp1120201745ab12", "fwp00112233445566aa-queue1": "fwp00112233445566aa",
		"x00112233445566aa-jid": "x00112233445566aa",
		"default":               "", "fwpbench-": "", "fwpbench-k3v9q2xy": "", "fwp": "", "my-fwpbench-k3v9q2xy-0": "",
		"": "",
	} {
		assert.Equal(t, run, fwpscript.RunOf(name), name)
	}
}

// leftJobs are the jobs of two runs, and of another client.
var leftJobs = []string{
	`{"jid":"fwpbench-k3v9q2xy-1","jobtype":"a","args":[],"queue":"fwpbench-k3v9q2xy-0"}`,
	`{"jid":"fwpbench-k3v9q2xy-2","jobtype":"a","args":[],"queue":"fwpbench-k3v9q2xy-0"}`,
	`{"jid":"fwpbench-k3v9q2xy-3","jobtype":"a","args":[],"queue":"fwpbench-k3v9q2xy-0","at":"2100-01-01T00:00:00Z"}`,
	`{"jid":"fwp1120201745ab12-3-jid-1","jobtype":"a","args":[],"queue":"fwp1120201745ab12-3-queue-1"}`,
	`{"jid":"another","jobtype":"a","args":[],"queue":"fwp1120201745ab12-3-queue-1"}`,
	`{"jid":"another-one","jobtype":"a","args":[],"queue":"default"}`,
}

func TestClean(t *testing.T) {
	t.Parallel()
	for run, removed := range map[string]map[string]int{
		"":         {"fwpbench-k3v9q2xy-0": 2, "fwp1120201745ab12-3-queue-1": 1},
		"k3v9q2xy": {"fwpbench-k3v9q2xy-0": 2},
		"nosuch":   {},
	} {
		synctest.Test(t, func(t *testing.T) {
			place := memnet.NewPlace()
			server := fakes.NewServer(fakes.Config{Listen: place.Listen})
			defer server.Close()
			push(t, place.MustDial(), leftJobs)
			done, err := fwpscript.Clean(t.Context(), place.MustDial(), "", run, 10*time.Second)
			require.NoError(t, err)
			assert.Equal(t, removed, done.Removals)
			assert.True(t, done.HasQueues)
			assert.Empty(t, done.Remaining)
			assert.Equal(t, int64(1), done.Sets["scheduled"])
			assert.Equal(t, run == "", done.Sets["retries"] == 1, "the job of another client is given back")
		})
	}
}

// TestCleanTakesLong: a server that closes the connections of workers that do not beat is cleaned to the end.
func TestCleanTakesLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		place := memnet.NewPlace()
		config := fakes.Config{Listen: place.Listen}
		for _, v := range variations.All() {
			if v.Name == "consumer-silent-closed" {
				v.Configure(&config)
			}
		}
		closes := config.Hook
		require.NotNil(t, closes)
		config.Hook = func(e *fakes.Event) {
			closes(e)
			if e.Point == fakes.Checked && e.Command.Verb == fwp.FETCH {
				e.Delay = time.Second
			}
		}
		server := fakes.NewServer(config)
		defer server.Close()
		var jobs []string
		for i := range 100 {
			const job = `{"jid":"fwpbench-k3v9q2xy-%d","jobtype":"a","args":[],"queue":"fwpbench-k3v9q2xy-0"}`
			jobs = append(jobs, fmt.Sprintf(job, i))
		}
		push(t, place.MustDial(), jobs)
		done, err := fwpscript.Clean(t.Context(), place.MustDial(), "", "", 10*time.Second)
		require.NoError(t, err)
		assert.Equal(t, map[string]int{"fwpbench-k3v9q2xy-0": 100}, done.Removals)
		assert.Empty(t, done.Remaining)
	})
}

func TestSoftware(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		place := memnet.NewPlace()
		server := fakes.NewServer(fakes.Config{Password: "secret", Listen: place.Listen})
		defer server.Close()
		name, version, err := fwpscript.Software(t.Context(), place.MustDial(), "secret", 10*time.Second)
		require.NoError(t, err)
		assert.Equal(t, [2]string{"fakes", "fakes"}, [2]string{name, version})
		_, _, err = fwpscript.Software(t.Context(), place.MustDial(), "wrong", 10*time.Second)
		require.ErrorContains(t, err, "HELLO")
	})
}

// push pushes jobs on a connection, and ends it.
func push(t *testing.T, nc net.Conn, jobs []string) {
	t.Helper()
	replies := bufio.NewReader(nc)
	_, err := replies.ReadString('\n') // HI
	require.NoError(t, err)
	lines := []string{`HELLO {"v":2}`}
	for _, job := range jobs {
		lines = append(lines, "PUSH "+job)
	}
	for _, line := range lines {
		_, err := fmt.Fprintf(nc, "%s\r\n", line)
		require.NoError(t, err)
		reply, err := replies.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "+OK\r\n", reply)
	}
	require.NoError(t, nc.Close())
}
