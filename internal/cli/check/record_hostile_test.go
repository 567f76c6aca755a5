package check

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// mumble sends lines without waiting for replies, and waits until the server has ended the connection.
func mumble(t *testing.T, addr string, lines ...string) {
	t.Helper()
	nc := connected(t, addr)
	defer nc.Close()
	for _, line := range lines {
		_, _ = io.WriteString(nc, line+"\r\n") // it may be closed already
	}
	tcp, is := nc.(*net.TCPConn)
	require.True(t, is)
	_ = tcp.CloseWrite()
	_, _ = io.Copy(io.Discard, nc)
}

// Neither the password of the server nor what would allow to guess it is in what record prints, writes or counts, not
// even if clients send it in the wrong place and the server repeats it.
func TestRecordHasNoSecrets(t *testing.T) {
	t.Parallel()
	const salt, rounds, password = "5a17f00d5a17f00d", 1735, "hunter2hunter2"
	server := fakes.NewServer(fakes.Config{Password: password, Salt: salt, Iterations: rounds, Hook: echo(password)})
	defer server.Close()
	hash, err := fwp.PasswordHash(password, salt, rounds)
	require.NoError(t, err)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	web := l.Addr().String()
	require.NoError(t, l.Close())
	file := filepath.Join(t.TempDir(), "talk.fwp")
	addr, end := recordingOf(t, "--upstream", server.URL(), "--metrics", web, "-o", file)
	wrong := hash[:60] + "0000"
	for _, lines := range [][]string{
		{fmt.Sprintf(`HELLO {"v":2,"pwdhash":%q}`, hash), "NONSENSE " + hash, "INFO x", `PUSH {"pwdhash":"` + hash + `"}`},
		{fmt.Sprintf(`HELLO {"v":2,"pwdhash":%q,"pid":"x"}`, wrong)},
		{fmt.Sprintf(`HELLO {"v":2,"pwdhash":%q`, hash)},
		{fmt.Sprintf(`HELLO  {"v":2,"pwdhash":%q}`, hash), "x"},
		{`HELLO {"v":2,"password":"` + password + `"}`},
		{`HELLO {"v":2,"hostname":"` + password + `","pwdhash":["` + hash + `"]}`},
		{"PUSH " + password, `HELLO {"v":2,"pwdhash":"` + salt + `"}`},
	} {
		mumble(t, addr, lines...)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+web+"/metrics", nil)
	require.NoError(t, err)
	reply, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	metrics, err := io.ReadAll(reply.Body)
	require.NoError(t, err)
	require.NoError(t, reply.Body.Close())
	printed, _ := end()
	script, err := os.ReadFile(file)
	require.NoError(t, err)
	for what, text := range map[string]string{"metrics": string(metrics), "printed": printed, "script": string(script)} {
		assert.NotEmpty(t, text, what)
		for _, secret := range []string{password, salt, hash, hash[:20], wrong, "1735"} {
			assert.NotContains(t, text, secret, what)
		}
	}
}

// Nothing that clients and servers send to each other moves the cursor, and no breach is printed at length.
func TestNothingThatIsRecordedMovesTheCursor(t *testing.T) {
	t.Parallel()
	server := fakes.NewServer(fakes.Config{Hook: func(e *fakes.Event) {
		if e.Point == fakes.Ran && e.Reply.Kind == '-' {
			e.Reply.Text = append(e.Reply.Text, escapes...)
		}
	}})
	defer server.Close()
	file := filepath.Join(t.TempDir(), "talk.fwp")
	addr, end := recordingOf(t, "--upstream", server.URL(), "-o", file)
	long := string(bytes.Repeat([]byte("w"), 1<<20))
	for _, lines := range [][]string{
		{"\x1b[2J" + escapes, escapes}, {`HELLO {"v":2,"wid":"` + escapes + `","x":"` + escapes + `"}`, "FETCH " + escapes},
		{`HELLO {"v":2,"wid":"\u001b[2J\u202e\u009b","hostname":"h","pid":1,"labels":[]}`, `BEAT {"wid":"\u001b\u202e"}`,
			`ACK {"jid":"\u001b[2J\u202e12345678"}`, `PUSH {"jid":"\u001b","jobtype":"\u202e","args":1}`},
		{`HELLO {"v":2}`, long, `ACK {"jid":"` + long + `"}`},
	} {
		mumble(t, addr, lines...)
	}
	printed, _ := end()
	harmless(t, printed)
	assert.Less(t, len(printed), 64<<10)
	script, err := os.ReadFile(file)
	require.NoError(t, err)
	harmless(t, string(script))
}

// What a double prints of its clients when it ends is harmless too.
func TestNothingThatIsServedMovesTheCursor(t *testing.T) {
	t.Parallel()
	ready, end := serving(t)
	mumble(t, readyLine.FindStringSubmatch(ready)[2],
		`HELLO {"v":2,"wid":"\u001b[2J\u202e","hostname":"h","pid":1,"labels":[]}`, "FETCH \x1b[2J\u202e",
		`PUSH {"jid":"\u001b","jobtype":"\u202e","args":1}`, "\x1b\x07", `BEAT {"wid":"\u001b[2Jx"}`)
	printed, _ := end()
	harmless(t, printed)
}
