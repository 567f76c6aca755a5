package bench

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/reports"
)

// A segment waits for a server that is not ready, until its load is to begin.
func TestASegmentWaitsForItsServer(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed at once
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	segment := func(start time.Time) (int, string) {
		return runBench("run", "--url", "tcp://"+address, "--segment", "1/2", "--seed", "7", "--jobs", "4", "--rate", "100/s",
			"--producers", "2", "--consumers", "2", "--no-progress", "--start-at", start.Format(time.RFC3339Nano))
	}
	code, out := segment(time.Now().Add(time.Second))
	assert.Equal(t, reports.ExitUnreachable, code, out)
	code, out = segment(time.Now().Add(-time.Minute))
	assert.Equal(t, reports.ExitInconclusive, code, out)
	assert.Regexp(t, `it was to begin (6\d|7\d)(\.\d)? s before it was started`, out)

	servers := make(chan *fakes.Server, 1)
	time.AfterFunc(500*time.Millisecond, func() {
		servers <- fakes.NewServer(fakes.Config{Listen: func() (net.Listener, error) {
			return net.Listen("tcp", address) //nolint:noctx // it is closed with the server
		}})
	})
	code, out = segment(time.Now().Add(4 * time.Second))
	(<-servers).Close()
	assert.Contains(t, []int{reports.ExitWell, reports.ExitInconclusive}, code, out) // how busy this machine is decides
	assert.Regexp(t, `pushed +2 `, out)
}
