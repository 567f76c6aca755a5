package check

import (
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/cli/program"
)

// playedOn runs a command with this standard input and returns all that it prints.
func playedOn(t *testing.T, in string, args ...string) string {
	t.Helper()
	var out lockedBuilder
	Main(program.Process{Args: args, In: strings.NewReader(in), Out: &out, Err: &out,
		LookupEnv: func(string) (string, bool) { return "", false }})
	return out.String()
}

// lockedBuilder is a strings.Builder for several goroutines.
type lockedBuilder struct {
	mu      sync.Mutex
	builder strings.Builder
}

func (b *lockedBuilder) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.builder.Write(p)
}

func (b *lockedBuilder) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.builder.String()
}

// harmless fails if a terminal would do anything else with a text than show it.
func harmless(t *testing.T, out string) {
	t.Helper()
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
				harmless(t, playedOn(t, "", args...))
			}
			harmless(t, playedOn(t, "", "explore", "--url", url, "--steps", "20", "--timeout", "1s", "--time", "1s"))
		})
	}
}

func TestNothingFromAScriptMovesTheCursor(t *testing.T) {
	t.Parallel()
	script := "title: " + escapes + "\n\nC: " + escapes + "\nS: " + escapes + "\nnosuch " + escapes + "\n"
	for _, command := range []string{"lint", "run", "fmt"} {
		harmless(t, playedOn(t, script, command, "-"))
	}
	harmless(t, playedOn(t, "", "run", escapes+".fwp"))
	harmless(t, playedOn(t, "", "run", "--check", escapes))
	harmless(t, playedOn(t, "", escapes))
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
		out := playedOn(t, "", args...)
		for _, secret := range []string{salt, password} {
			assert.NotContains(t, out, secret)
		}
		assert.NotRegexp(t, `\b1735\b`, out, "a time in nanoseconds may begin with it")
		assert.NotRegexp(t, `[0-9a-f]{40}`, out)
		assert.Contains(t, out, "(salt)")
		assert.Contains(t, playedOn(t, "", append(args, "--show-secrets")...), salt)
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
