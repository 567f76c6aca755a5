package record

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
)

// Thousands of connections are open at a time, and each of them gets the replies to its own commands and no others.
func TestManyConnections(t *testing.T) {
	t.Parallel()
	n := golden.Sample(100, 3000) // an open one takes four descriptors of this process
	r := record(t, fakes.Config{}, Config{})
	clients := make([]*client, n)
	for i := range clients {
		clients[i] = r.dial()
		clients[i].greet(fwp.Hello{Hostname: "h", WorkerID: fmt.Sprintf("worker-%d", i), PID: i + 1, Labels: []string{}}, "")
	}
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() {
			for k := range 3 {
				jid := fmt.Sprintf("job-%d-%d", i, k)
				c.ok(fmt.Sprintf(`PUSH {"jid":%q,"jobtype":"t","args":[%d],"queue":"q%d"}`, jid, i, i))
				job := c.try(fmt.Sprintf("FETCH q%d", i))
				assert.Contains(t, string(job.Text), fmt.Sprintf(`"jid":%q`, jid))
				c.ok(fmt.Sprintf(`ACK {"jid":%q}`, jid))
			}
			c.ok("END")
		})
	}
	wg.Wait()
	for _, c := range clients {
		require.NoError(t, c.nc.Close())
	}
	r.Close()
	s := r.Summary()
	assert.Equal(t, n, s.Counts.Connections)
	for _, verb := range []string{fwp.PUSH, fwp.FETCH, fwp.ACK} {
		assert.EqualValues(t, 3*n, s.Counts.Commands[verb], verb)
	}
	for _, result := range s.Results {
		assert.NotEqual(t, clientrules.StateBroken, result.State(), "%s: %v", result.Rule.Breach, result.Examples)
	}
}

// try sends a line and returns the reply. In a goroutine of its own a test may not end.
func (c *client) try(line string) fwp.Reply {
	_, err := fmt.Fprintf(c.nc, "%s\r\n", line)
	assert.NoError(c.t, err)
	reply, err := c.r.Read()
	assert.NoError(c.t, err)
	return reply.Clone()
}

func (c *client) ok(line string) { assert.Equal(c.t, "OK", string(c.try(line).Text), line) }
