package check

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	"github.com/fwpsuite/fwp/protocols/fwp/record"
	"github.com/fwpsuite/fwp/reports"
)

// startRecording runs `fwpcheck record`, and returns where it listens and a function that ends it and returns what it
// printed since.
func startRecording(t *testing.T, args ...string) (addr string, end func() (string, error)) {
	t.Helper()
	ready, end := startCommand(t, newRecord, args...)
	parts := regexp.MustCompile(`^ready tcp://(127\.0\.0\.1:\d+)\n$`).FindStringSubmatch(ready)
	require.NotNil(t, parts, ready)
	return parts[1], end
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	nc, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
	require.NoError(t, err)
	return nc
}

func TestRecordWritesAScriptThatRunsAgain(t *testing.T) {
	t.Parallel()
	server := fakes.NewServer(fakes.Config{})
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "bug.fwp")
	addr, end := startRecording(t, "--upstream", server.URL(), "-o", file)
	assert.Contains(t, talk(t, dial(t, addr), `HELLO {"v":2}`,
		`PUSH {"jid":"0123456789abcdef","jobtype":"t","args":[]}`, "FLUSH "), "-ERR")
	printed, err := end()
	assert.Equal(t, shared.Exit(reports.ExitFindings), err)
	assert.Contains(t, printed, "fail client: line-form connection 1:")
	assert.Contains(t, printed, "FWP-FRAME-02")
	script, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(script), `C[c1]: PUSH {"jid":"$jid","jobtype":"t","args":[]}`)
	assert.Contains(t, string(script), "C[c1] bad: FLUSH ")

	var out bytes.Buffer
	err = command(newRun, &out, file).ExecuteContext(t.Context())
	require.NoError(t, err, "%s\n%s", script, out.String())
	assert.Contains(t, out.String(), "1 pass")
}

// The trace has the jobs that were pushed, one by one or several at a time, as a load plays them.
func TestRecordWritesATrace(t *testing.T) {
	t.Parallel()
	server := fakes.NewServer(fakes.Config{Extension: fakes.Faktory})
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "load.csv")
	addr, end := startRecording(t, "--upstream", server.URL(), "--trace", file, "--extension", "faktory")
	talk(t, dial(t, addr), `HELLO {"v":2}`, `PUSH {"jid":"0123456789abcdef","jobtype":"a,b","args":[1, "x"]}`,
		`PUSH {"jid":"0123456789abcdeg","jobtype":"c","args":[],"queue":"mail"}`,
		`PUSHB [{"jid":"0123456789abcdeh","jobtype":"c","args":[3]},null]`, `PUSHB {}`, `PUSH {"jid":`)
	_, err := end()
	assert.Equal(t, shared.Exit(reports.ExitFindings), err, "the last line is no PUSH")
	written, err := os.Open(file)
	require.NoError(t, err)
	defer written.Close() //nolint:errcheck // it was only read
	trace, err := plan.ReadTrace(file, written)
	require.NoError(t, err)
	assert.Equal(t, 3, trace.Len())
	assert.Equal(t, []string{"default", "mail"}, trace.Queues)
	assert.Equal(t, []string{"a,b", "c"}, trace.Types)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Regexp(t, `^at,queue,jobtype,payload\n\d+\.\d{6},default,"a,b",7\n\d+\.\d{6},mail,c,2\n\d+\.\d{6},default,c,3\n$`, string(text))
}

// TestRecordOfAServerWithTLS records clients without TLS in front of a server that has it.
func TestRecordOfAServerWithTLS(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	ca, file := filepath.Join(folder, "ca.pem"), filepath.Join(folder, "bug.fwp")
	config, err := makeCertificate(ca, "127.0.0.1")
	require.NoError(t, err)
	server := fakes.NewServer(fakes.Config{TLS: config})
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL())
	require.NoError(t, err)
	secure := "tcp+tls://localhost:" + address.Port()

	addr, end := startRecording(t, "--upstream", secure, "--tls-ca", ca, "-o", file)
	talk(t, dial(t, addr), `HELLO {"v":2}`, `PUSH {"jid":"0123456789abcdef","jobtype":"t","args":[]}`, "END")
	printed, err := end()
	require.NoError(t, err, printed)
	script, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(script), `PUSH {"jid":"$jid","jobtype":"t","args":[]}`)

	untrusted := command(newRecord, io.Discard, "--upstream", secure)
	assert.ErrorContains(t, untrusted.ExecuteContext(t.Context()), "certificate", "one that is not trusted")
}

func TestRecordWithMetrics(t *testing.T) {
	t.Parallel()
	server := fakes.NewServer(fakes.Config{Password: "foobar"})
	t.Cleanup(server.Close)
	web := freeAddr(t)
	addr, end := startRecording(t, "--upstream", server.URL(), "--metrics", web)
	assert.Contains(t, talk(t, dial(t, addr), `HELLO {"v":2,"pwdhash":"00"}`), "-ERR")
	_, counts := httpReply(t, "http://"+web+"/metrics", "")
	assert.Contains(t, counts, "# TYPE fwp_record_connections_total counter\n")
	printed, err := end()
	assert.Equal(t, shared.Exit(reports.ExitFindings), err)
	assert.Contains(t, printed, "password-hash")
	assert.NotContains(t, printed, "foobar")
	assert.NotContains(t, printed, `"pwdhash":"00"`)
}

// The code that is printed is that of the process, also where no client connected and nothing can be written.
func TestRecordWithoutAClient(t *testing.T) {
	t.Parallel()
	server := fakes.NewServer(fakes.Config{})
	defer server.Close()
	file := filepath.Join(t.TempDir(), "a.fwp")
	_, end := startRecording(t, "--upstream", "tcp://"+server.Addr(), "-o", file)
	out, err := end()
	assert.Equal(t, shared.Exit(reports.ExitInconclusive), err)
	assert.Contains(t, out, "exit code 3\nno client connected")
	assert.NoFileExists(t, file)
}

// A health check, which connects and goes, is no client.
func TestRecordOfAHealthCheck(t *testing.T) {
	t.Parallel()
	server := fakes.NewServer(fakes.Config{})
	defer server.Close()
	addr, end := startRecording(t, "--upstream", "tcp://"+server.Addr())
	check := dial(t, addr)
	_, err := check.Read(make([]byte, 1)) // the greeting: it is forwarded
	require.NoError(t, err)
	require.NoError(t, check.Close())
	out, err := end()
	assert.Equal(t, shared.Exit(reports.ExitInconclusive), err)
	assert.Contains(t, out, "exit code 3\nno client sent a command")
}

// The law judges the server, also by a clause that binds clients as well.
func TestRecordBlamesTheServer(t *testing.T) {
	t.Parallel()
	text := breachText(clientrules.Breach{Name: record.LawPrefix + "field FWP-WU-03"})
	assert.Contains(t, text, "fail server: law/field")
}

// What cannot be reached is 4 in each command, and a port that is none is told in plain words.
func TestEndsOfCommands(t *testing.T) {
	t.Parallel()
	absent := "tcp://" + freeAddr(t)
	script := filepath.Join(t.TempDir(), "a.fwp")
	require.NoError(t, os.WriteFile(script, []byte("C: INFO\nS: +NO\n"), 0o600))
	for _, test := range []struct {
		args []string
		code int
	}{
		{[]string{"run", "--url", absent}, reports.ExitUnreachable},
		{[]string{"explore", "--url", absent, "--time", "1s"}, reports.ExitUnreachable},
		{[]string{"compare", absent, absent, "--time", "1s"}, reports.ExitUnreachable},
		{[]string{"record", "--upstream", absent}, reports.ExitUnreachable},
		{[]string{"clean", "--url", absent}, reports.ExitUnreachable},
		{[]string{"wait", "--url", absent, "--timeout", "1ms"}, reports.ExitUnreachable},
		{[]string{"record", "--upstream", absent, "--concurrency", "-1"}, reports.ExitUsage},
		{[]string{"record", "--upstream", absent, "--timeout", "0s"}, reports.ExitUsage},
		{[]string{"shrink", script, "--for", "-1s"}, reports.ExitUsage},
		{[]string{"serve", "--port", "none"}, reports.ExitUsage},
		{[]string{"serve", "--port", "99999999999"}, reports.ExitUsage},
		{[]string{"run", "--seed", "x"}, reports.ExitUsage},
		{[]string{"run", "--timeout", "x"}, reports.ExitUsage},
		{[]string{"explore", "--steps", "9999999999999999999999"}, reports.ExitUsage},
	} {
		code, out, err := runMain(test.args...)
		assert.Equal(t, test.code, code, test.args)
		assert.NotRegexp(t, "strconv|pflag|unexpected EOF|internal error", out+err, test.args)
		for _, printed := range regexp.MustCompile(`exit code (\d+)`).FindAllStringSubmatch(out+err, -1) {
			assert.Equal(t, strconv.Itoa(code), printed[1], test.args)
		}
	}
}

func TestRecordMistakes(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"--upstream is missing": nil, "--upstream": {"--upstream", "localhost"},
		"connection refused": {"--upstream", "tcp://" + freeAddr(t)},
		"--output":           {"--upstream", "tcp://127.0.0.1:1", "-o", "no/such/folder/x.fwp"},
	} {
		assert.ErrorContains(t, command(newRecord, io.Discard, args...).ExecuteContext(t.Context()), want)
	}
}

// A broken exchange is recorded, shrunk to a few lines, and shows the same again.
func TestRecordAndShrink(t *testing.T) {
	t.Parallel()
	const bug = "push-other-answer"
	bugs, err := registry.Default().BugsNamed(bug)
	require.NoError(t, err)
	server, err := registry.Default().Start(registry.Config{Bugs: bugs})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	file, small := filepath.Join(t.TempDir(), "bug.fwp"), filepath.Join(t.TempDir(), "small.fwp")
	addr, end := startRecording(t, "--upstream", server.URL, "-o", file)
	for range 3 {
		talk(t, dial(t, addr), `HELLO {"v":2}`, `PUSH {"jid":"0123456789abcdef","jobtype":"t","args":[]}`)
	}
	printed, err := end()
	assert.Equal(t, shared.Exit(reports.ExitFindings), err)
	assert.Contains(t, printed, "fail server: law/foreign FWP-PUSH-01")

	shrink := command(newShrink, io.Discard, file, "--bug", bug, "-o", small)
	require.NoError(t, shrink.ExecuteContext(t.Context()))
	text, err := os.ReadFile(small)
	require.NoError(t, err)
	assert.LessOrEqual(t, bytes.Count(text, []byte("\n")), 9, "%s", text)
	assert.Contains(t, string(text), "PUSH")

	var out bytes.Buffer
	run := command(newRun, &out, small, "--bug", bug)
	assert.Equal(t, shared.Exit(reports.ExitFindings), run.ExecuteContext(t.Context()), out.String())
}

// sendLines sends lines without waiting for replies, and waits until the server has ended the connection.
func sendLines(t *testing.T, addr string, lines ...string) {
	t.Helper()
	nc := dial(t, addr)
	defer nc.Close()
	for _, line := range lines {
		_, _ = io.WriteString(nc, line+"\r\n") // it may be closed already
	}
	tcp, ok := nc.(*net.TCPConn)
	require.True(t, ok)
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
	web := freeAddr(t)
	file := filepath.Join(t.TempDir(), "talk.fwp")
	addr, end := startRecording(t, "--upstream", server.URL(), "--metrics", web, "-o", file)
	badHash := hash[:60] + "0000"
	for _, lines := range [][]string{
		{fmt.Sprintf(`HELLO {"v":2,"pwdhash":%q}`, hash), "NONSENSE " + hash, "INFO x", `PUSH {"pwdhash":"` + hash + `"}`},
		{fmt.Sprintf(`HELLO {"v":2,"pwdhash":%q,"pid":"x"}`, badHash)},
		{fmt.Sprintf(`HELLO {"v":2,"pwdhash":%q`, hash)},
		{fmt.Sprintf(`HELLO  {"v":2,"pwdhash":%q}`, hash), "x"},
		{`HELLO {"v":2,"password":"` + password + `"}`},
		{`HELLO {"v":2,"hostname":"` + password + `","pwdhash":["` + hash + `"]}`},
		{"PUSH " + password, `HELLO {"v":2,"pwdhash":"` + salt + `"}`},
	} {
		sendLines(t, addr, lines...)
	}
	_, metrics := httpReply(t, "http://"+web+"/metrics", "")
	printed, _ := end()
	script, err := os.ReadFile(file)
	require.NoError(t, err)
	for source, text := range map[string]string{"metrics": metrics, "printed": printed, "script": string(script)} {
		assert.NotEmpty(t, text, source)
		for _, secret := range []string{password, salt, hash, hash[:20], badHash} {
			assert.NotContains(t, text, secret, source)
		}
		assert.NotRegexp(t, `(^|[^.\d])1735(\D|$)`, text, "%s: rounds, which are no part of a time", source)
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
	addr, end := startRecording(t, "--upstream", server.URL(), "-o", file)
	long := string(bytes.Repeat([]byte("w"), 1<<20))
	for _, lines := range [][]string{
		{"\x1b[2J" + escapes, escapes}, {`HELLO {"v":2,"wid":"` + escapes + `","x":"` + escapes + `"}`, "FETCH " + escapes},
		{`HELLO {"v":2,"wid":"\u001b[2J\u202e\u009b","hostname":"h","pid":1,"labels":[]}`, `BEAT {"wid":"\u001b\u202e"}`,
			`ACK {"jid":"\u001b[2J\u202e12345678"}`, `PUSH {"jid":"\u001b","jobtype":"\u202e","args":1}`},
		{`HELLO {"v":2}`, long, `ACK {"jid":"` + long + `"}`},
	} {
		sendLines(t, addr, lines...)
	}
	printed, _ := end()
	assertHarmless(t, printed)
	assert.Less(t, len(printed), 64<<10)
	script, err := os.ReadFile(file)
	require.NoError(t, err)
	assertHarmless(t, string(script))
}

// What a double prints of its clients when it ends is harmless too.
func TestNothingThatIsServedMovesTheCursor(t *testing.T) {
	t.Parallel()
	ready, end := startServe(t)
	sendLines(t, readyLine.FindStringSubmatch(ready)[2],
		`HELLO {"v":2,"wid":"\u001b[2J\u202e","hostname":"h","pid":1,"labels":[]}`, "FETCH \x1b[2J\u202e",
		`PUSH {"jid":"\u001b","jobtype":"\u202e","args":1}`, "\x1b\x07", `BEAT {"wid":"\u001b[2Jx"}`)
	printed, _ := end()
	assertHarmless(t, printed)
}
