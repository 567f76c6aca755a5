package bench

import (
	"io"
	"net"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/store"
)

// shortRun is the arguments of a short run.
func shortRun(url string, flags ...string) []string {
	return append([]string{"run", "--preset", "idle", "--connections", "1", "--duration", "50ms", "--warmup", "0s",
		"--url", url}, flags...)
}

func TestNothingFromAServerMovesTheCursor(t *testing.T) {
	t.Parallel()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var group store.Group
	defer group.Close()
	go group.Serve(ln, func(nc net.Conn) { _, _ = io.WriteString(nc, "-ERR \x1b]0;title\a\x9b2J\u202e\r\n") })
	for _, args := range [][]string{{"-v"}, {"--format", "json"}, {"-o", t.TempDir() + "/a"}} {
		_, out := runBench(shortRun("tcp://"+ln.Addr().String(), args...)...)
		assert.Contains(t, out, "title")
		assert.NotRegexp(t, `[^\n -~]`, out)
	}
}

// A server has line ends and commands of CI systems in its jids, and bytes that are not UTF-8 in its INFO.
func TestTextsOfAServerAreDataInReports(t *testing.T) {
	t.Parallel()
	server := fakes.NewServer(fakes.Config{Hook: func(e *fakes.Event) {
		if e.Point != fakes.Ran || e.Reply.Kind != '$' {
			return
		}
		text := strings.Replace(string(e.Reply.Text), `"jid":"`, `"jid":"\n::error::stranger\nok 999\nstranger`, 1)
		e.Reply.Text = []byte(strings.Replace(text, `{"`, "{\"x\":\"\xff\xfe\",\"", 1))
	}})
	defer server.Close()
	for _, format := range []string{"text", "json"} {
		_, out := runBench("run", "--preset", "roundtrip", "--jobs", "20", "--warmup", "0s", "--duration", "300ms",
			"--drain", "1s", "--url", "tcp://"+server.Addr(), "--format", format)
		assert.Contains(t, out, "stranger")
		assert.True(t, utf8.ValidString(out))
		assert.NotRegexp(t, `(?m)^\s*(::|ok 999|stranger)`, out)
	}
}

func TestSecretsOfAServerAreNotPrinted(t *testing.T) {
	t.Parallel()
	const salt, password = "5a17f00d5a17f00d", "hunter2hunter2"
	server := fakes.NewServer(fakes.Config{Password: password, Salt: salt, Iterations: 17351})
	defer server.Close()
	url := "tcp://:" + password + "@" + server.Addr()
	for _, format := range [][]string{{"-v"}, {"-v", "--format", "json"}} {
		_, out := runBench(shortRun(url, format...)...)
		assert.Contains(t, out, "(salt)")
		assert.Contains(t, out, "(rounds)")
		assert.NotContains(t, out, salt)
		assert.NotContains(t, out, password)
		assert.NotRegexp(t, `: ?17351\b`, out) // times in the report may begin with the same digits
	}
	_, out := runBench(shortRun(url, "-v", "--show-secrets")...)
	assert.Contains(t, out, salt)
}

func TestAPasswordThatIsNotAskedForIsReported(t *testing.T) {
	t.Parallel()
	server := fakes.NewServer(fakes.Config{})
	defer server.Close()
	_, out := runBench(shortRun("tcp://:hunter2@" + server.Addr())...)
	assert.Contains(t, strings.Join(strings.Fields(out), " "), "a password was given, but the server does not ask for one")
}
