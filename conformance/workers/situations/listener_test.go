package situations

import (
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/workers"
	"github.com/fwpsuite/fwp/internal/memnet"
)

// readingAhead returns a connection of a server that is read ahead, its client, and a function that returns how many
// bytes of the client were recorded in whole lines.
func readingAhead() (c *recordedConn, client net.Conn, bytes func() int) {
	client, server := net.Pipe()
	r, n := newRecording(workers.Config{}, new(memory), nil), 0
	r.builder = workers.NewBuilder(func(e workers.Event) { n += len(e.Raw) })
	r.builder.Open(0, 1, 1)
	feed, ahead := memnet.Pipe(mostAhead)
	c = &recordedConn{Conn: server, ahead: ahead, raw: server, to: r, number: 1}
	go c.readAhead(feed)
	return c, client, func() int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return n
	}
}

const aLine = "INFO and what a client may not send behind it, up to a length of 100 bytes with the end of the line.\r\n"

// TestBytesAreReadAhead: what a client sends is recorded at once, up to a limit, and is there for the server later.
func TestBytesAreReadAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const most = mostAhead
		c, client, bytes := readingAhead()
		sent := strings.Repeat(aLine, 3*most/len(aLine))
		go func() {
			_, _ = io.WriteString(client, sent)
			_ = client.Close()
		}()
		synctest.Wait()
		assert.Greater(t, bytes(), most)
		assert.LessOrEqual(t, bytes(), most+32<<10)
		got, err := io.ReadAll(c)
		require.NoError(t, err)
		assert.Equal(t, sent, string(got))
		assert.Len(t, sent, bytes())
	})
}

// TestLongLinesAreReadToTheirEnds: lines that end are read on, however many there are, and count no more.
func TestLongLinesAreReadToTheirEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const long = workers.MaxKept + mostEndless/4
		c, client, _ := readingAhead()
		go func() {
			line := strings.Repeat("A", long-1) + "\n"
			for range 6 {
				_, _ = io.WriteString(client, line)
			}
			_ = client.Close()
		}()
		n, err := io.Copy(io.Discard, c)
		require.NoError(t, err)
		assert.Equal(t, int64(6*long), n)
		assert.Zero(t, c.to.memory.endless.Load())
	})
}

// TestAClosedConnectionIsReadOn: when the server reads no more, its client is not kept waiting.
func TestAClosedConnectionIsReadOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, client, _ := readingAhead()
		go func() { _, _ = io.WriteString(client, strings.Repeat(aLine, 10_000)) }()
		synctest.Wait()
		require.NoError(t, c.SetReadDeadline(time.Now()))
		_, err := c.Read(make([]byte, 1))
		var late net.Error
		require.ErrorAs(t, err, &late)
		assert.True(t, late.Timeout(), "the deadline comes before the bytes")
		require.NoError(t, c.Close())
		synctest.Wait()
		require.NoError(t, client.Close())
	})
}
