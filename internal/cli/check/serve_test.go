package check

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/protocols/emqp"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
	"github.com/fwpsuite/fwp/reports"
)

// quietProcess is fwpcheck whose messages are not read.
func quietProcess(out io.Writer) process {
	return process{shared.Process{Name: "fwpcheck", Out: out, Err: io.Discard, LookupEnv: noEnvironment}}
}

// command returns a command with arguments.
func command(build func(process) *cobra.Command, out io.Writer, args ...string) *cobra.Command {
	cmd := build(quietProcess(out))
	cmd.SetArgs(append([]string{}, args...)) // cobra takes nil for the process's own
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return cmd
}

// startCommand runs a command that serves, and returns its first line, and what it prints afterwards with its error when it
// is interrupted.
func startCommand(t *testing.T, build func(process) *cobra.Command, args ...string) (
	ready string, interrupt func() (rest string, err error),
) {
	t.Helper()
	out, in := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error, 1)
	go func() {
		errs <- command(build, in, args...).ExecuteContext(ctx)
		_ = in.Close()
	}()
	lines := bufio.NewReader(out)
	ready, err := lines.ReadString('\n')
	if err != nil {
		cancel()
		return "", func() (string, error) { return "", <-errs }
	}
	output := make(chan string, 1)
	go func() {
		rest, _ := io.ReadAll(lines)
		output <- string(rest)
	}()
	return ready, func() (string, error) {
		cancel()
		return <-output, <-errs
	}
}

// startServe is running for `fwpcheck serve`.
func startServe(t *testing.T, args ...string) (ready string, interrupt func() (rest string, err error)) {
	t.Helper()
	return startCommand(t, newServe, args...)
}

// freeAddr returns an address at which no process listens.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

// httpReply returns the reply to a request over HTTP, POST if it has a body.
func httpReply(t *testing.T, url, body string) (status int, reply string) {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	got, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	text, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	require.NoError(t, got.Body.Close())
	return got.StatusCode, string(text)
}

func noEnvironment(string) (string, bool) { return "", false }

var readyLine = regexp.MustCompile(`^ready (tcp|tcp\+tls)://(127\.0\.0\.1:\d+) (http://127\.0\.0\.1:\d+)\n$`)

// talk sends lines to a server, each after the reply to the one before, and returns the last reply.
func talk(t *testing.T, nc net.Conn, lines ...string) string {
	t.Helper()
	defer nc.Close()
	replies := bufio.NewReader(nc)
	reply, err := replies.ReadString('\n')
	require.NoError(t, err)
	for _, line := range lines {
		_, err := io.WriteString(nc, line+"\r\n")
		require.NoError(t, err)
		reply, err = replies.ReadString('\n')
		require.NoError(t, err)
	}
	return strings.TrimSpace(reply)
}

func TestServe(t *testing.T) {
	t.Parallel()
	ready, interrupt := startServe(t)
	parts := readyLine.FindStringSubmatch(ready)
	require.NotNil(t, parts, ready)
	nc, err := new(net.Dialer).DialContext(t.Context(), "tcp", parts[2])
	require.NoError(t, err)
	assert.Equal(t, "+OK", talk(t, nc, `HELLO {"v":2}`, `PUSH {"jid":"12345678","jobtype":"t","args":[]}`))
	status, _ := httpReply(t, parts[3]+"/v1/verify", `{"pushed":[{"jobtype":"t"}],"nothing_else":true}`)
	assert.Equal(t, http.StatusOK, status)
	rest, err := interrupt()
	require.NoError(t, err)
	assert.Equal(t, "clients sent 2 commands\njobs left: 1 in their queues\nno violations of the specification\n", rest)
}

func TestServeEndsWithItsStandardInput(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = read.Close() })
	p := process{shared.Process{Name: "fwpcheck", In: read, Out: io.Discard, Err: io.Discard, LookupEnv: noEnvironment}}
	cmd := newServe(p)
	cmd.SetArgs([]string{})
	done := make(chan error, 1)
	go func() { done <- cmd.ExecuteContext(t.Context()) }()
	_, err = io.WriteString(write, "ignored\n")
	require.NoError(t, err)
	require.NoError(t, write.Close())
	require.NoError(t, <-done)
}

func TestServeGoesOnWithoutAPipe(t *testing.T) {
	t.Parallel()
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	t.Cleanup(func() { _ = null.Close() })
	file, err := os.Open("serve.go")
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	for _, in := range []io.Reader{null, file, strings.NewReader(""), nil} {
		assert.Equal(t, t.Context(), closeContext(t.Context(), in))
	}
}

func TestServeCountsMistakes(t *testing.T) {
	t.Parallel()
	ready, interrupt := startServe(t, "--bug", "push-other-answer")
	parts := readyLine.FindStringSubmatch(ready)
	require.NotNil(t, parts, ready)
	nc, err := new(net.Dialer).DialContext(t.Context(), "tcp", parts[2])
	require.NoError(t, err)
	assert.Equal(t, ":1", talk(t, nc,
		`HELLO {"v":2}`, `BEAT {"wid":"w"}`, `PUSH {"jid":"12345678","jobtype":"t","args":[]}`))
	rest, err := interrupt()
	assert.Equal(t, shared.Exit(reports.ExitFindings), err)
	assert.Contains(t, rest,
		"mistake: only consumers may send BEAT\n  connection 1, no worker id: BEAT")
}

func TestServeTLSAndPassword(t *testing.T) {
	t.Parallel()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	ready, interrupt := startServe(t, "--tls-ca-out", ca, "--password", "secret")
	parts := readyLine.FindStringSubmatch(ready)
	require.NotNil(t, parts, ready)
	assert.Equal(t, "tcp+tls", parts[1])
	text, err := os.ReadFile(ca)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(text))
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	nc, err := dialer.DialContext(t.Context(), "tcp", parts[2])
	require.NoError(t, err)
	assert.Contains(t, talk(t, nc, `HELLO {"v":2}`), "-ERR", "it wants the password")
	rest, err := interrupt()
	require.NoError(t, err)
	assert.Contains(t, rest, "1 was refused")
}

// All that listens does so at the address that is asked for, and the certificate is for its names.
func TestServeListens(t *testing.T) {
	t.Parallel()
	ca, script := filepath.Join(t.TempDir(), "ca.pem"), filepath.Join(t.TempDir(), "s.fwp")
	require.NoError(t, os.WriteFile(script, []byte("connect as producer\nC: INFO\nS: $\n"), 0o600))
	name, err := os.Hostname()
	require.NoError(t, err)
	for _, test := range []struct {
		args []string
		want string // of the ready line
	}{
		{[]string{"--tls-ca-out", ca}, `^ready tcp\+tls://0\.0\.0\.0:\d+ http://0\.0\.0\.0:\d+\n$`},
		{[]string{"--protocol", "workq"}, `^ready workq://0\.0\.0\.0:\d+\n$`},
		{[]string{"--protocol", "emqp"}, `^ready emqp://0\.0\.0\.0:\d+\?backend=\d+\n$`},
		{[]string{script}, `^ready tcp://0\.0\.0\.0:\d+\n$`},
	} {
		ready, interrupt := startServe(t, append(test.args, "--listen", "0.0.0.0")...)
		assert.Regexp(t, test.want, ready)
		_, _ = interrupt()
	}
	text, err := os.ReadFile(ca)
	require.NoError(t, err)
	block, _ := pem.Decode(text)
	require.NotNil(t, block)
	certificate, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	for _, host := range []string{"localhost", "127.0.0.1", name} {
		assert.NoError(t, certificate.VerifyHostname(host))
	}
}

func TestServeUsage(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	tests := map[string]struct {
		args []string
		want string
	}{
		"a port that is taken":     {[]string{"--port", port}, "--port " + port + ": "},
		"a web port that is taken": {[]string{"--web-port", port}, "--web-port " + port + ": "},
		"two passwords":            {[]string{"--password", "a", "--password-file", "b"}, "two passwords"},
		"an unknown planted bug":   {[]string{"--bug", "push-other-anwser"}, "push-other-answer"},
		"an address elsewhere":     {[]string{"--listen", "192.0.2.1"}, "--listen 192.0.2.1 --port 0: "},
		"no such address":          {[]string{"--listen", "127.0.0.256"}, `--listen "127.0.0.256": give an IP address`},
		"no address":               {[]string{"--listen", ""}, `--listen "": give an IP address`},
		"an address with a port":   {[]string{"--listen", "0.0.0.0:7419"}, "without a port"},
		"no folder":                {[]string{"--tls-ca-out", filepath.Join(t.TempDir(), "no", "ca")}, "--tls-ca-out: "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ready, interrupt := startServe(t, test.args...)
			assert.Empty(t, ready)
			_, err := interrupt()
			assert.ErrorContains(t, err, test.want)
		})
	}
}

// A broker serves workers at its second port, and lists the messages that no peer may send.
func TestServeEMQP(t *testing.T) {
	t.Parallel()
	ready, interrupt := startServe(t, "--protocol", "emqp")
	at, err := url.Parse(strings.TrimSpace(strings.TrimPrefix(ready, "ready ")))
	require.NoError(t, err)
	dealer := func(identity, port string) *zmtp.Dealer {
		nc, err := new(net.Dialer).DialContext(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", port))
		require.NoError(t, err)
		d, err := zmtp.NewDealer(t.Context(), nc, zmtp.Config{Identity: identity})
		require.NoError(t, err)
		t.Cleanup(d.Close)
		return d
	}
	client, worker := dealer("c", at.Port()), dealer("w", at.Query().Get("backend"))
	send := func(d *zmtp.Dealer, m emqp.Message) { require.NoError(t, d.Send(t.Context(), m.Frames()...)) }
	send(worker, emqp.InformWorker("1", emqp.Queue{Weight: 10, Name: "q"}))
	send(worker, emqp.Ready("2"))
	require.NoError(t, client.Send(t.Context(), []byte(""), []byte("eMQP/9.9"), []byte("READY"), []byte("1")))
	send(client, emqp.Message{Command: emqp.HEARTBEAT, ID: "2", Fields: [][]byte{[]byte("1")}})
	send(client, emqp.Request("3", "q", nil, "text"))
	for command := ""; command != emqp.REQUEST; {
		parts, err := worker.Receive(t.Context())
		require.NoError(t, err)
		command = string(parts[2])
	}
	rest, err := interrupt()
	assert.Error(t, err, "exit code 1")
	assert.Contains(t, rest, "clients sent 5 commands")
	assert.Contains(t, rest, "mistake: eMQP message (version)")
	assert.Contains(t, rest, "mistake: a HEARTBEAT is valid only after an INFORM")
	assert.Equal(t, 2, strings.Count(rest, "mistake: "))
	assert.NotContains(t, rest, ", w: ")
}
