package check

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/double"
	"github.com/fwpsuite/fwp/internal/memnet"
)

const (
	request   = " HTTP/1.1\r\nHost: localhost\r\n"
	patience  = time.Minute + 10*time.Second // of the control with a request: its header, and all of it
	mostTaken = 9 << 20                      // bytes of a request
)

// hostileClients are clients of the control that want to keep it busy. Each returns how many bytes it got rid of.
var hostileClients = map[string]struct {
	use    func(nc net.Conn) int
	others int // that do the same afterwards, at a time
}{
	"a header that is slow": {func(nc net.Conn) int {
		return keepsWriting(nc, "GET /v1/jobs"+request, "X: y\r\n", time.Second)
	}, 40},
	"a header without an end": {func(nc net.Conn) int {
		return keepsWriting(nc, "GET /v1/jobs"+request+"X: ", strings.Repeat("A", 1<<10), 0)
	}, 40},
	"a body of 1 GB": {func(nc net.Conn) int {
		long := request + "Content-Length: 1000000000\r\n\r\n" + `{"pushed":["`
		return keepsWriting(nc, "POST /v1/verify"+long, strings.Repeat("A", 1<<16), 0)
	}, 2},
	"a body without an end": {func(nc net.Conn) int {
		chunked := request + "Transfer-Encoding: chunked\r\n\r\n"
		return keepsWriting(nc, "POST /v1/verify"+chunked, "1000\r\n"+strings.Repeat("[", 1<<12)+"\r\n", 0)
	}, 2},
	"a body that is slow": {func(nc net.Conn) int {
		return keepsWriting(nc, "POST /v1/clock"+request+"Content-Length: 1000000\r\n\r\n", " ", time.Second)
	}, 40},
	"a body that does not follow": {func(nc net.Conn) int {
		return keepsWriting(nc, "POST /v1/verify"+request+"Content-Length: 100\r\n\r\n", "", time.Second)
	}, 40},
	"requests whose replies are not read": {func(nc net.Conn) int {
		return neverReads(nc, "GET /v1/jobs"+request+"\r\n")
	}, 2},
	"no HTTP": {func(nc net.Conn) int { return keepsWriting(nc, "\x16\x03\x01", strings.Repeat("\x00", 1<<10), 0) }, 40},
	"nothing": {func(nc net.Conn) int { return keepsWriting(nc, "", "", time.Second) }, 40},
}

// keepsWriting writes text, and then the same again and again until the server ends the connection.
func keepsWriting(nc net.Conn, first, again string, pause time.Duration) (written int) {
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, nc)
		close(ended)
	}()
	for text := first; ; text = again {
		n, err := io.WriteString(nc, text)
		if written += n; err != nil {
			return written
		}
		select {
		case <-ended:
			return written
		case <-time.After(pause + time.Millisecond):
		}
	}
}

// neverReads writes requests and reads nothing.
func neverReads(nc net.Conn, text string) (written int) {
	for {
		n, err := io.WriteString(nc, text)
		if written += n; err != nil {
			return written
		}
	}
}

// No client keeps the control of a double busy: each connection ends in bounded time, of each a bounded number of bytes
// is taken, and a request is served although more clients of the kind than the control serves at a time came before it.
func TestTheControlOfADoubleOutlivesHostileClients(t *testing.T) {
	t.Parallel()
	for name, hostile := range hostileClients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				network := memnet.New()
				d, err := double.New(fakes.Config{Listen: func() (net.Listener, error) { return network.Listen("fwp:7419") }})
				require.NoError(t, err)
				defer d.Close()
				ln, err := network.Listen("localhost:80")
				require.NoError(t, err)
				web := program.WebServer(d.Handler(program.FaultNamed))
				served := make(chan error, 1)
				go func() { served <- web.Serve(program.Few(ln)) }()
				dial := func() net.Conn {
					nc, err := network.DialContext(t.Context(), "tcp", "localhost:80")
					require.NoError(t, err)
					return nc
				}
				begun := time.Now()
				taken := hostile.use(dial())
				assert.LessOrEqual(t, time.Since(begun), patience)
				assert.LessOrEqual(t, taken, mostTaken)
				var others sync.WaitGroup
				for range hostile.others {
					nc := dial()
					others.Go(func() { hostile.use(nc) })
				}
				asking, reply := time.Now(), make([]byte, 15)
				nc := dial()
				_, err = io.WriteString(nc, "GET /v1/clock"+request+"\r\n")
				require.NoError(t, err)
				_, err = io.ReadFull(nc, reply)
				require.NoError(t, err)
				assert.Equal(t, "HTTP/1.1 200 OK", string(reply))
				assert.LessOrEqual(t, time.Since(asking), patience)
				_, _ = nc.Close(), web.Close()
				require.ErrorIs(t, <-served, http.ErrServerClosed)
				others.Wait()
				time.Sleep(time.Second) // package http closes some of them later
			})
		})
	}
}
