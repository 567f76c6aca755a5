package check

import (
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
)

// runOutput returns all that a command prints which has this standard input.
func runOutput(in string, args ...string) string {
	_, out, err := runMainOn(in, args...)
	return out + err
}

// assertHarmless fails if a command prints something with which a terminal would do anything else than show it.
func assertHarmless(t *testing.T, in string, args ...string) {
	t.Helper()
	out := runOutput(in, args...)
	assert.NotEmpty(t, out)
	for _, r := range out {
		if r != '\n' && (r < ' ' || r == 0x7f || r >= 0x80 && r <= 0x9f || strings.ContainsRune("\u200b\u202e\u2066", r)) {
			t.Fatalf("%U is in %q", r, out)
		}
	}
}

const escapes = "\x1b]0;title\a\x9b2J\u202e\u2066\u200b\b"

func TestNothingFromAServerMovesTheCursor(t *testing.T) {
	t.Parallel()
	for name, hi := range map[string]string{
		"no greeting": escapes + "\r\n", "an error": "-ERR " + escapes + "\r\n",
		"a greeting": "+HI {\"v\":2,\"x\":\"" + escapes + "\"}\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer ln.Close()
			go func() {
				for nc, err := ln.Accept(); err == nil; nc, err = ln.Accept() {
					go func() {
						_, _ = io.WriteString(nc, hi)
						_, _ = io.CopyN(nc, nc, 20) // what it is asked, and the end
						_ = nc.Close()
					}()
				}
			}()
			url := "tcp://" + ln.Addr().String()
			for _, args := range [][]string{{"-v"}, {"--format", "json"}, {"-o", t.TempDir() + "/a"}} {
				args = append([]string{"run", "--url", url, "--check", "info/*", "--timeout", "1s"}, args...)
				assertHarmless(t, "", args...)
			}
			assertHarmless(t, "", "explore", "--url", url, "--steps", "20", "--timeout", "1s", "--time", "1s")
		})
	}
}

// injection is what a server adds to its texts. No report and no message may have a line that begins with a part of it.
const injection = "\\n::error::stranger\\r\\n##[error]stranger\\nstranger"

// A server adds line ends and commands of CI systems to the names and states in its replies.
func TestNoTextOfAServerBeginsALine(t *testing.T) {
	t.Parallel()
	server := fakes.NewServer(fakes.Config{Hook: func(e *fakes.Event) {
		if e.Point == fakes.Ran && e.Reply.Kind == '$' {
			e.Reply.Text = regexp.MustCompile(`"(jid|jobtype|queue|state)":"([^"]*)"`).
				ReplaceAll(e.Reply.Text, []byte(`"$1":"$2`+injection+`"`))
		}
	}})
	defer server.Close()
	for _, format := range []string{"text", "markdown"} {
		out := runOutput("", "run", "--check", "ack/accepted", "--check", "fetch/job", "-v", "--format", format,
			"--url", "tcp://"+server.Addr(), "--timeout", "1s", "--seed", "1")
		assert.Contains(t, out, "stranger")
		assert.NotRegexp(t, `(?m)^\s*(::|##\[|stranger)|##\[`, out)
	}
}

func TestNothingFromAScriptMovesTheCursor(t *testing.T) {
	t.Parallel()
	script := "title: " + escapes + "\n\nC: " + escapes + "\nS: " + escapes + "\nnosuch " + escapes + "\n"
	for _, command := range []string{"lint", "run", "fmt"} {
		assertHarmless(t, script, command, "-")
	}
	assertHarmless(t, "", "run", escapes+".fwp")
	assertHarmless(t, "", "run", "--check", escapes)
	assertHarmless(t, "", escapes)
}

// A server repeats the password and its hash; neither is printed or saved, nor what the hash was made of.
func TestSecretsOfAServerAreNotPrinted(t *testing.T) {
	t.Parallel()
	const salt, password = "5a17f00d5a17f00d", "hunter2hunter2"
	server := fakes.NewServer(fakes.Config{Password: password, Salt: salt, Iterations: 1735, Hook: echo(password)})
	defer server.Close()
	url := "tcp://:" + password + "@" + server.Addr()
	for _, args := range [][]string{{"-v"}, {"--format", "json"}, {"-v", "--strict"}} {
		args = append([]string{
			"run", "--url", url, "--check", "hello/declined", "--check", "auth/wrong-password", "--seed", "1",
		}, args...)
		out := runOutput("", args...)
		for _, secret := range []string{salt, password} {
			assert.NotContains(t, out, secret)
		}
		assert.NotRegexp(t, `\b1735\b`, out, "a time in nanoseconds may begin with it")
		assert.NotRegexp(t, `[0-9a-f]{40}`, out)
		assert.Contains(t, out, "(salt)")
		assert.Contains(t, runOutput("", append(args, "--show-secrets")...), salt)
	}
}

// echo returns a hook by which every error has the password and the command.
func echo(password string) func(*fakes.Event) {
	return func(e *fakes.Event) {
		if e.Point == fakes.Ran && e.Reply.Kind == '-' {
			e.Reply.Text = slices.Concat(e.Reply.Text, []byte(" "+password+" "), e.Line)
		}
	}
}

const (
	request         = " HTTP/1.1\r\nHost: localhost\r\n"
	patience        = time.Minute + 10*time.Second // of the control with a request: its header, and all of it
	maxRequestBytes = 9 << 20                      // bytes of a request
)

// hostileClients are clients of the control that want to keep it busy. Each returns how many bytes it got rid of.
var hostileClients = map[string]struct {
	use   func(nc net.Conn) int
	count int // that do the same afterwards, at a time
}{
	"a header that is slow": {func(nc net.Conn) int {
		return writeUntilClosed(nc, "GET /v1/jobs"+request, "X: y\r\n", time.Second)
	}, 40},
	"a header without an end": {func(nc net.Conn) int {
		return writeUntilClosed(nc, "GET /v1/jobs"+request+"X: ", strings.Repeat("A", 1<<10), 0)
	}, 40},
	"a body of 1 GB": {func(nc net.Conn) int {
		long := request + "Content-Length: 1000000000\r\n\r\n" + `{"pushed":["`
		return writeUntilClosed(nc, "POST /v1/verify"+long, strings.Repeat("A", 1<<16), 0)
	}, 2},
	"a body without an end": {func(nc net.Conn) int {
		chunked := request + "Transfer-Encoding: chunked\r\n\r\n"
		return writeUntilClosed(nc, "POST /v1/verify"+chunked, "1000\r\n"+strings.Repeat("[", 1<<12)+"\r\n", 0)
	}, 2},
	"a body that is slow": {func(nc net.Conn) int {
		return writeUntilClosed(nc, "POST /v1/clock"+request+"Content-Length: 1000000\r\n\r\n", " ", time.Second)
	}, 40},
	"a body that does not follow": {func(nc net.Conn) int {
		return writeUntilClosed(nc, "POST /v1/verify"+request+"Content-Length: 100\r\n\r\n", "", time.Second)
	}, 40},
	"requests whose replies are not read": {func(nc net.Conn) int {
		return floodRequests(nc, "GET /v1/jobs"+request+"\r\n")
	}, 2},
	"no HTTP": {func(nc net.Conn) int { return writeUntilClosed(nc, "\x16\x03\x01", strings.Repeat("\x00", 1<<10), 0) }, 40},
	"nothing": {func(nc net.Conn) int { return writeUntilClosed(nc, "", "", time.Second) }, 40},
}

// writeUntilClosed writes text, and then the same again and again until the server ends the connection.
func writeUntilClosed(nc net.Conn, first, repeat string, pause time.Duration) (total int) {
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, nc)
		close(done)
	}()
	for text := first; ; text = repeat {
		n, err := io.WriteString(nc, text)
		if total += n; err != nil {
			return total
		}
		select {
		case <-done:
			return total
		case <-time.After(pause + time.Millisecond):
		}
	}
}

// floodRequests writes requests and reads nothing.
func floodRequests(nc net.Conn, text string) (total int) {
	for {
		n, err := io.WriteString(nc, text)
		if total += n; err != nil {
			return total
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
				d, err := registry.Default().Double(registry.DoubleConfig{Config: registry.Config{Network: network}})
				require.NoError(t, err)
				defer d.Close()
				ln, err := network.Listen("localhost:80")
				require.NoError(t, err)
				web := shared.WebServer(d.Control)
				done := make(chan error, 1)
				go func() { done <- web.Serve(shared.LimitListener(ln)) }()
				dial := func() net.Conn {
					nc, err := network.DialContext(t.Context(), "tcp", "localhost:80")
					require.NoError(t, err)
					return nc
				}
				start := time.Now()
				n := hostile.use(dial())
				assert.LessOrEqual(t, time.Since(start), patience)
				assert.LessOrEqual(t, n, maxRequestBytes)
				var group sync.WaitGroup
				for range hostile.count {
					nc := dial()
					group.Go(func() { hostile.use(nc) })
				}
				from, reply := time.Now(), make([]byte, 15)
				nc := dial()
				_, err = io.WriteString(nc, "GET /v1/clock"+request+"\r\n")
				require.NoError(t, err)
				_, err = io.ReadFull(nc, reply)
				require.NoError(t, err)
				assert.Equal(t, "HTTP/1.1 200 OK", string(reply))
				assert.LessOrEqual(t, time.Since(from), patience)
				_, _ = nc.Close(), web.Close()
				require.ErrorIs(t, <-done, http.ErrServerClosed)
				group.Wait()
				time.Sleep(time.Second) // package http closes some of them later
			})
		})
	}
}
