package record

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	"github.com/fwpsuite/fwp/protocols/fwp/moves"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// recording is a Recorder before an embedded server.
type recording struct {
	*Recorder
	t    *testing.T
	addr string
	url  string
}

func record(t *testing.T, server fakes.Config, cfg Config) *recording {
	t.Helper()
	s := fakes.NewServer(server)
	t.Cleanup(s.Close)
	cfg.Dial = func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "tcp", s.Addr()) }
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &recording{Recorder: New(cfg), t: t, addr: l.Addr().String(), url: s.URL()}
	served := make(chan error, 1)
	go func() { served <- r.Serve(t.Context(), l) }()
	t.Cleanup(func() {
		_ = l.Close()
		assert.NoError(t, <-served)
		r.Close()
	})
	return r
}

// client is one connection through the recorder.
type client struct {
	t  *testing.T
	nc net.Conn
	r  *fwp.Reader
}

func (r *recording) dial() *client {
	nc, err := new(net.Dialer).DialContext(r.t.Context(), "tcp", r.addr)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = nc.Close() })
	return &client{r.t, nc, fwp.NewReader(nc, 0)}
}

func (c *client) read() fwp.Reply {
	c.t.Helper()
	reply, err := c.r.Read()
	require.NoError(c.t, err)
	return reply.Clone()
}

func (c *client) do(line string) fwp.Reply {
	c.t.Helper()
	_, err := io.WriteString(c.nc, line+"\r\n")
	require.NoError(c.t, err)
	return c.read()
}

func (c *client) greet(hello fwp.Hello, password string) {
	c.t.Helper()
	hi, err := fwp.ParseHi(c.read())
	require.NoError(c.t, err)
	if hi.Protected {
		hello.PasswordHash, err = fwp.PasswordHash(password, hi.Salt, hi.Iterations)
		require.NoError(c.t, err)
	}
	line := string(fwp.AppendCommand(nil, hello.Command()))
	require.Equal(c.t, "OK", string(c.do(strings.TrimSuffix(line, "\r\n")).Text))
}

func (c *client) end() {
	c.t.Helper()
	c.do("END")
	_, err := c.r.Read()
	require.ErrorIs(c.t, err, io.EOF)
	_ = c.nc.Close()
}

var consumer = fwp.Hello{Hostname: "secret-host", WorkerID: "worker-4711", PID: 12, Labels: []string{"x"}}

// converse is a conversation with a worker and a producer.
func converse(r *recording, password string) {
	p, k := r.dial(), r.dial()
	p.greet(fwp.Hello{}, password)
	k.greet(consumer, password)
	p.do(`PUSH {"jid":"0123456789abcdef01","jobtype":"mail","args":["0123456789abcdef01","$wid",{"a":1}],"queue":"q1"}`)
	assert.Equal(r.t, fwp.BulkString, k.do("FETCH q1").Kind)
	k.do(`ACK {"jid":"0123456789abcdef01"}`)
	k.do(`BEAT {"wid":"worker-4711","rss_kb":5}`)
	assert.Equal(r.t, fwp.ErrorReply, p.do(`PUSH {"jid":7}`).Kind)
	p.end()
	k.end()
}

// text ends the recording, and returns its script.
func (r *recording) text() []byte {
	r.t.Helper()
	r.Close()
	text, err := r.Script()
	require.NoError(r.t, err, "%s", text)
	return text
}

// playScript plays a script on a server of its own, and returns what did not match.
func playScript(t *testing.T, text []byte, server fakes.Config) []string {
	t.Helper()
	script, err := scenarios.Parse(fwpscript.Dialect{}, "recorded", text)
	require.NoError(t, err, "%s", text)
	for _, problem := range scenarios.Lint(script) {
		assert.True(t, problem.Advice, "%v", problem)
	}
	s := fakes.NewServer(server)
	t.Cleanup(s.Close)
	player := &play.Player{Target: tcp(s.Addr()), Password: server.Password, Timeout: 10 * time.Second}
	run := player.Play(t.Context(), script, "again")
	var mismatches []string
	for _, result := range run.Results {
		if result.Outcome != play.Matched {
			mismatches = append(mismatches, fmt.Sprintf("line %d: expected %s, got %s", result.Line, result.Expected, result.Got))
		}
	}
	for _, b := range run.Breaches {
		mismatches = append(mismatches, b.Name())
	}
	return mismatches
}

func TestRecordAndPlayAgain(t *testing.T) {
	t.Parallel()
	for _, password := range []string{"", "foobar"} {
		r := record(t, fakes.Config{Password: password}, Config{KeepsScript: true, Watch: clientrules.Config{Password: password}})
		converse(r, password)
		text := r.text()
		for _, secret := range []string{"secret-host", "worker-4711", "0123456789abcdef01"} {
			assert.NotContains(t, string(text), secret)
		}
		assert.Empty(t, playScript(t, text, fakes.Config{Password: password}), "%s", text)
	}
}

// A retry comes when the server wants it to, so the script waits for it.
func TestRecordARetry(t *testing.T) {
	t.Parallel()
	config := func(after time.Duration) fakes.Config {
		return fakes.Config{FetchBlock: 200 * time.Millisecond, RetryDelay: func(int) time.Duration { return after }}
	}
	r := record(t, config(300*time.Millisecond), Config{KeepsScript: true})
	k := r.dial()
	k.greet(consumer, "")
	k.do(`PUSH {"jid":"0123456789abcdef01","jobtype":"mail","args":[],"queue":"q1"}`)
	k.do("FETCH q1")
	k.do(`FAIL {"jid":"0123456789abcdef01","errtype":"E","message":"m","backtrace":[]}`)
	for k.do("FETCH q1").Kind != fwp.BulkString {
	}
	k.do(`ACK {"jid":"0123456789abcdef01"}`)
	k.end()
	text := r.text()
	assert.Contains(t, string(text), "eventually\n  C[c1]: FETCH $queue\n  S[c1]: ${\"jid\":\"$jid\"")
	// Much later than the FETCHes that found nothing take.
	assert.Empty(t, playScript(t, text, config(5*time.Second)), "%s", text)
}

// What a client sends may stand in a comment, where it cannot move a cursor.
func TestCommentsArePrintable(t *testing.T) {
	t.Parallel()
	r := record(t, fakes.Config{}, Config{KeepsScript: true})
	k := r.dial()
	k.greet(consumer, "")
	k.do(`BEAT {"wid":"\u202e"}`)
	k.end()
	text := r.text()
	assert.Contains(t, string(text), "# beat-wid: the wid of BEAT is \"\\u202e\"")
}

func TestBreachesOfBothSides(t *testing.T) {
	t.Parallel()
	var found []string
	done := make(chan struct{})
	cfg := Config{KeepsScript: true, Law: moves.Law(), OnBreach: func(b clientrules.Breach) {
		if found = append(found, b.Name); strings.HasPrefix(b.Name, LawPrefix) {
			close(done)
		}
	}}
	r := record(t, fakes.Config{Hook: func(e *fakes.Event) {
		if e.Point == fakes.Writing && e.Command.Verb == "INFO" {
			e.Bytes = []byte("$-1\r\n")
		}
	}}, cfg)
	k := r.dial()
	k.greet(fwp.Hello{}, "")
	k.do("FLUSH ")
	k.do("INFO")
	<-done
	text := r.text()
	assert.Equal(t, []string{"line-form", "law/foreign FWP-INFO-01"}, found)
	assert.Contains(t, string(text), "# line-form:")
	assert.Contains(t, string(text), "C[c1] bad: FLUSH ")
	assert.Contains(t, string(text), "S[c1]: $ | -")
	assert.Equal(t, 1, int(r.Summary().Counts.Breaches["line-form"]))
}

// TestUnfinishedLines: a client that closes a connection in order in the middle of a line is blamed, with the bytes,
// and one that resets it is not.
func TestUnfinishedLines(t *testing.T) {
	t.Parallel()
	for _, linger := range []int{-1, 0} {
		found := make(chan clientrules.Breach, 1)
		r := record(t, fakes.Config{}, Config{OnBreach: func(b clientrules.Breach) { found <- b }})
		k := r.dial()
		k.greet(fwp.Hello{}, "")
		_, err := io.WriteString(k.nc, `PUSH {"jid":"`)
		require.NoError(t, err)
		require.NoError(t, k.nc.(*net.TCPConn).SetLinger(linger))
		require.NoError(t, k.nc.Close())
		if linger == 0 {
			k = r.dial()
			k.greet(fwp.Hello{}, "")
			k.do("info") // is what is found first
		}
		b := <-found
		assert.Equal(t, linger < 0, b.Name == clientrules.LineUnfinished, "%+v", b)
		assert.Equal(t, linger < 0, strings.HasSuffix(b.Text, `after 13 bytes: PUSH {"jid":"`), b.Text)
	}
}

// Bytes that are not FWP pass on as well, in both directions, and so does the end.
func TestBytesAlwaysPass(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}()
		}
	}()
	r := New(Config{MaxQueue: 1000, Dial: func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
	}})
	front, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer front.Close()
	go func() { _ = r.Serve(t.Context(), front) }()
	nc, err := new(net.Dialer).DialContext(t.Context(), "tcp", front.Addr().String())
	require.NoError(t, err)
	want := bytes.Repeat([]byte("\x00\xff no protocol \n$12\r"), 100_000)
	go func() {
		_, _ = nc.Write(want)
		_ = nc.(*net.TCPConn).CloseWrite()
	}()
	got, err := io.ReadAll(nc)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(want, got))
	r.Close()
	assert.Equal(t, int64(1), r.Summary().Counts.UnjudgedConnections, "a queue of 1000 bytes is too small for it")
}

func TestUpstreamThatIsNotThere(t *testing.T) {
	t.Parallel()
	failed := make(chan error, 1)
	r := New(Config{
		Dial:    func(context.Context) (net.Conn, error) { return nil, os.ErrDeadlineExceeded },
		OnError: func(err error) { failed <- err },
	})
	front, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer front.Close()
	go func() { _ = r.Serve(t.Context(), front) }()
	nc, err := new(net.Dialer).DialContext(t.Context(), "tcp", front.Addr().String())
	if err == nil { // else the end was sooner
		_, err = nc.Read(make([]byte, 1))
	}
	require.Error(t, err)
	require.ErrorIs(t, <-failed, os.ErrDeadlineExceeded)
	r.Close()
}

// tcp is a server at an address.
type tcp string

func (a tcp) Dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", string(a))
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	r := record(t, fakes.Config{}, Config{})
	converse(r, "")
	r.Close()
	text := metricsText(r.Summary(), func(string) string { return "FWP-X" })
	for _, line := range []string{
		"fwp_record_connections_total 2\n", `fwp_record_commands_total{verb="PUSH"} 2` + "\n",
		"fwp_record_error_replies_total 1\n",
		`fwp_record_breaches_total{breach="push-jid",clause="FWP-X"} 1` + "\n",
	} {
		assert.Contains(t, text, line)
	}
}
