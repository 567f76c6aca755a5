//go:build unix

package target

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain is three other programs for the tests of this package: a supervisor, a server,
// and a program that starts a server and waits.
func TestMain(m *testing.M) {
	if len(os.Args) < 3 {
		os.Exit(m.Run())
	}
	var err error
	switch os.Args[1] {
	case "supervise":
		os.Exit(Supervise(os.Args[2], os.Stdin, os.Stderr))
	case "serve":
		err = serveLines(os.Args[2])
	case "hold":
		err = hold(os.Args[2])
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serveLines is a server that greets with its password and how often its folder has seen it.
func serveLines(port string) error {
	ln, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	lives, err := os.OpenFile(filepath.Join(os.Getenv("FWP_DIR"), "lives"), os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if _, err := lives.WriteString("x"); err != nil {
		return err
	}
	fmt.Println("listening")
	for {
		nc, err := ln.Accept()
		if err != nil {
			return err
		}
		content, _ := os.ReadFile(lives.Name())
		_, _ = fmt.Fprintf(nc, "%s %s\n", os.Getenv("FWP_PASSWORD"), content)
		_ = nc.Close()
	}
}

// hold starts a server, prints a line and waits for ever.
func hold(command string) error {
	if _, err := testStarter(command).Start(context.Background(), ""); err != nil {
		return err
	}
	fmt.Println("started")
	select {}
}

// testStarter returns a starter whose supervisor and server are this program.
func testStarter(command string) *Starter {
	return &Starter{Command: command, Supervisor: []string{os.Args[0], "supervise"}}
}

// serveCommand is a command for the server of TestMain.
func serveCommand() string { return "'" + os.Args[0] + "' serve {port}" }

// greeting returns what a server greets with.
func greeting(t *testing.T, s *StartedServer) string {
	t.Helper()
	nc, err := s.Server.Dial(t.Context())
	require.NoError(t, err)
	defer nc.Close()
	line, err := bufio.NewReader(nc).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

func TestFreePortsAreNotThoseOfClients(t *testing.T) {
	t.Parallel()
	free, ports, err := reservePorts(50)
	defer ports.Close()
	require.NoError(t, err)
	for _, port := range free { // another run leaves the port alone, until the reservation ends
		_, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
		assert.ErrorIs(t, err, syscall.EADDRINUSE)
	}
	slices.Sort(free)
	assert.Len(t, slices.Compact(free), 50)
	assert.GreaterOrEqual(t, free[0], firstPort)
	assert.LessOrEqual(t, free[len(free)-1], lastPort)
}

func TestStartedServers(t *testing.T) {
	t.Parallel()
	s, err := testStarter("exec "+serveCommand()).Start(t.Context(), "secret")
	require.NoError(t, err)
	defer s.End()
	assert.Equal(t, "secret x", greeting(t, s))
	assert.True(t, s.Server.Can(Restart))
	assert.True(t, s.Server.Can(Kill))
	assert.False(t, s.Server.Can(Quiet), "no command for workers was given")

	require.NoError(t, s.Server.Restart(t.Context()))
	assert.Equal(t, "secret xx", greeting(t, s), "the same place, with its folder")
	require.NoError(t, s.Server.Kill(t.Context()))
	assert.Equal(t, "secret xxx", greeting(t, s))
	_, _, ended := s.Ended()
	assert.False(t, ended, "the stops were asked for")

	s.End()
	assert.NoDirExists(t, s.place.Dir)
	_, err = s.Server.Dial(t.Context())
	assert.ErrorIs(t, err, syscall.ECONNREFUSED)
}

func TestStartedServersThatEnd(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ command, failed string }{
		"at once": {"echo one; echo two >&2; exit 7", "it ended (exit status 7); the last lines that it printed:\n  " +
			"one\n  two"},
		"without a word": {"true {port}", "it ended (exit status 0); it printed nothing"},
		"by a signal":    {"kill -9 $$", "it ended (exit status 137)"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := testStarter(test.command).Start(t.Context(), "")
			_, ok := errors.AsType[*StartError](err)
			assert.True(t, ok)
			assert.ErrorContains(t, err, test.failed)
		})
	}
}

// TestServersThatDoNotStartAgain: the data are blamed only if the same command serves without them at the same port,
// and does not with them, once more.
func TestServersThatDoNotStartAgain(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		command            string // LOG is a file that outlives the server
		fails, startsEmpty bool
	}{
		"its data":              {"if [ -e {dir}/lives ]; then exit 3; fi", true, true},
		"a name in use":         {"if [ -e LOG{port} ]; then exit 125; fi; touch LOG{port}", true, false},
		"a name that gets free": {`echo x >>LOG; if [ "$(wc -l <LOG)" -eq 2 ]; then exit 125; fi`, false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := strings.ReplaceAll(test.command, "LOG", "'"+t.TempDir()+"'/log")
			s, err := testStarter(command+"; exec "+serveCommand()).Start(t.Context(), "secret")
			require.NoError(t, err)
			defer s.End()
			err = s.Server.Restart(t.Context())
			failed, ok := errors.AsType[*StartError](err)
			require.Equal(t, test.fails, ok, "%v", err)
			if ok {
				assert.True(t, failed.HadServed)
				assert.Equal(t, test.startsEmpty, failed.StartsEmpty)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "secret xx", greeting(t, s), "with its data")
		})
	}
}

func TestStartedServersThatNeverServe(t *testing.T) {
	t.Parallel()
	starter := testStarter("echo asleep; sleep 600")
	starter.Patience = time.Nanosecond
	_, err := starter.Start(t.Context(), "")
	assert.ErrorContains(t, err, "it was not ready within ")

	starter = testStarter("exec " + serveCommand())
	ctx, cancel := context.WithCancelCause(t.Context())
	starter.Ready = func(context.Context, *Server) error {
		cancel(assert.AnError)
		return errors.New("not yet")
	}
	_, err = starter.Start(ctx, "")
	assert.ErrorIs(t, err, assert.AnError)
	assert.ErrorContains(t, err, "not yet")
}

// A named pipe ends when every process that has it open has ended: it is the witness that
// nothing is left running.
func TestNothingIsLeftRunning(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"a server":                     "exec 3<>%s; exec " + serveCommand(),
		"a child of the shell":         "exec 3<>%s; " + serveCommand() + "; true",
		"in the background":            "exec 3<>%s; sleep 600 & " + serveCommand(),
		"deaf to signals":              "exec 3<>%s; trap '' TERM HUP INT; (trap '' TERM; sleep 600) & kill -STOP $! ; exec " + serveCommand(),
		"in a group of its own":        "exec 3<>%s; setsid sleep 600 & exec " + serveCommand(),
		"in a group, without a parent": "exec 3<>%s; (setsid sleep 600 &) ; exec " + serveCommand(),
	}
	for name, command := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(command, "setsid") {
				if _, err := exec.LookPath("setsid"); err != nil {
					t.Skip("no setsid on this system")
				}
			}
			fifo, ended := witness(t)
			s, err := testStarter(fmt.Sprintf(command, fifo)).Start(t.Context(), "")
			require.NoError(t, err)
			s.Server.Operator.(*StartedServer).running.end(name == "deaf to signals")
			s.End()
			<-ended
		})
	}
}

// witness makes a named pipe, and a channel that is closed when all that write to it have
// ended.
func witness(t *testing.T) (fifo string, ended <-chan struct{}) {
	t.Helper()
	fifo = filepath.Join(t.TempDir(), "running")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	done := make(chan struct{})
	go func() {
		defer close(done)
		f, err := os.Open(fifo) // blocks until one writes
		if err == nil {
			_, _ = io.Copy(io.Discard, f)
			_ = f.Close()
		}
	}()
	return fifo, done
}

func TestNothingIsLeftRunningAfterOurDeath(t *testing.T) {
	t.Parallel()
	fifo, ended := witness(t)
	holder := exec.CommandContext(t.Context(), os.Args[0], "hold", "exec 3<>"+fifo+"; sleep 600 & exec "+serveCommand())
	out, err := holder.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, holder.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "started\n", line)
	require.NoError(t, holder.Process.Kill())
	<-ended
	assert.Error(t, holder.Wait())
}

func TestFoldersAfterOurDeath(t *testing.T) { //nolint:paralleltest // sets an environment variable
	for name, test := range map[string]struct {
		folder string
		parent int
		isKept bool
	}{
		"the parent has ended": {folderPrefix + "1", -1, false},
		"the parent lives":     {folderPrefix + "2", os.Getppid(), true},
		"a folder of others":   {"data", -1, true},
	} {
		folder := filepath.Join(t.TempDir(), test.folder)
		require.NoError(t, os.Mkdir(folder, 0o700))
		t.Setenv(folderVariable, folder)
		removeFolder(test.parent)
		assert.Equal(t, test.isKept, exists(folder), name)
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func TestServersThatDieUnasked(t *testing.T) {
	t.Parallel()
	fifo, ended := witness(t)
	s, err := testStarter("exec 3<>"+fifo+"; echo last words; "+serveCommand()+" & echo $! >{dir}/pid; wait $!").Start(t.Context(), "")
	require.NoError(t, err)
	defer s.End()
	pid, err := os.ReadFile(filepath.Join(s.place.Dir, "pid"))
	require.NoError(t, err)
	require.NoError(t, exec.CommandContext(t.Context(), "kill", "-9", strings.TrimSpace(string(pid))).Run())
	<-ended
	<-s.running.done
	status, output, hasEnded := s.Ended()
	assert.True(t, hasEnded)
	assert.Contains(t, status, "exit status")
	assert.Contains(t, output, "last words")

	require.NoError(t, s.Server.Restart(t.Context()), "a restart starts what has ended")
	_, _, hasEnded = s.Ended()
	assert.False(t, hasEnded)
}

// TestNoPassword: a flag in front of {password} does not take the next word for one.
func TestNoPassword(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"serve -p {password} -d {dir}": "serve -p '' -d /d",
		"{password} {port}":            "'' 7",
		"P={password} serve -x":        "P= serve -x",
		`serve "{password}" -p={port}`: `serve "" -p=7`,
		"serve --password\n{password}": "serve --password\n''",
	} {
		assert.Equal(t, want, Place{Port: 7, Dir: "/d"}.expand(command))
	}
	assert.Equal(t, "serve -p x", Place{Password: "x"}.expand("serve -p {password}"))
}

// TestSecondPort: workers connect to the second port of a server whose command has one.
func TestSecondPort(t *testing.T) {
	t.Parallel()
	place := Place{Port: 7, Port2: 8}
	assert.Equal(t, "serve -front 7 -back 8", place.expand("serve -front {port} -back {port2}"))
	assert.Contains(t, place.environment(), "FWP_PORT2=8")
	for command, want := range map[string]string{
		"serve {port} {port2}": "8", "serve {port} $FWP_PORT2": "8", "serve {port} {webport}": "",
	} {
		assert.Equal(t, want, (&Starter{Command: command}).backend(place), command)
	}
}

func TestParseStart(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		value    string
		command  string // part of it
		protects bool
		failed   string
	}{
		"a command":        {value: "serve -p {port}", command: "serve -p {port}"},
		"with a password":  {value: "serve {port} {password}", command: "serve", protects: true},
		"by its variables": {value: "serve $FWP_PORT $FWP_PASSWORD", command: "serve", protects: true},
		"no port":          {value: "serve", failed: "write {port} where the command takes it"},
		"nothing":          {value: " ", failed: "no command was given"},
		"faktory":          {value: "faktory", command: " faktory -b 127.0.0.1:{port}", protects: true},
		"faktory at a path": {value: "faktory=/opt/my 'x'/faktory", command: `'/opt/my '\''x'\''/faktory' -b`,
			protects: true},
		"another faktory": {value: "faktory-next {port}", command: "faktory-next {port}"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := ParseStart(test.value)
			if test.failed != "" {
				assert.ErrorContains(t, err, test.failed)
				return
			}
			require.NoError(t, err)
			assert.Contains(t, s.Command, test.command)
			assert.Equal(t, test.protects, s.Protects())
		})
	}
}

func TestLastLines(t *testing.T) {
	t.Parallel()
	l := new(lastLines)
	for i := range 100 {
		_, err := fmt.Fprintf(l, "line %d\n", i)
		require.NoError(t, err)
	}
	_, err := io.WriteString(l, strings.Repeat("x", 10_000)+"\n\nop")
	require.NoError(t, err)
	_, err = io.WriteString(l, "en")
	require.NoError(t, err)
	lines := l.lines()
	assert.Equal(t, "line 82", lines[0])
	assert.Len(t, lines[len(lines)-2], maxBytes)
	assert.Equal(t, "open", lines[len(lines)-1])
}

func TestLastLinesBeginWithTheReason(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{
		"panic: an earlier one\nfatal error: all is lost\r\n\ngoroutine 5 [running]:\nmain.f(...)\n\t/a/server.go:12 +0x1d\n",
		"x\nTraceback (most recent call last):\n  File \"a.py\", line 12, in f\n    g()\n",
	} {
		reasonLines := strings.Split(strings.TrimRight(reason, "\n"), "\n")[1:]
		for _, follow := range []int{0, 3, maxLines - 5, maxLines - 1, maxLines, 500} {
			l := new(lastLines)
			_, err := io.WriteString(l, reason+strings.Repeat("more\n", follow))
			require.NoError(t, err)
			lines := l.lines()
			i := slices.Index(lines, strings.TrimRight(reasonLines[0], "\r"))
			require.GreaterOrEqual(t, i, 0, follow)
			for _, line := range reasonLines {
				if line = strings.ReplaceAll(strings.TrimRight(line, "\r"), "\t", "    "); line != "" {
					assert.Equal(t, 1, count(lines, line), "%s %d", line, follow)
				}
			}
			assert.Equal(t, follow == 500, slices.Contains(lines, "..."), follow)
			assert.LessOrEqual(t, len(lines), maxLines+maxPlace+1)
		}
	}
}

func count(lines []string, line string) (n int) {
	for _, l := range lines {
		n += bit(l == line)
	}
	return n
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestAServerThatEndsIsSeenByANewConnection: the last connections of a process are closed before the socket that
// listens.
func TestAServerThatEndsIsSeenByANewConnection(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		serve func(net.Listener, net.Conn)
		want  bool
	}{
		"greets":            {func(_ net.Listener, nc net.Conn) { _, _ = nc.Write([]byte("+HI {\"v\":2}\r\n")) }, false},
		"awaits a command":  {func(net.Listener, net.Conn) {}, false},
		"closes":            {func(_ net.Listener, nc net.Conn) { _ = nc.Close() }, true},
		"closes with all":   {func(l net.Listener, nc net.Conn) { _, _ = l.Close(), nc.Close() }, true},
		"refuses, all over": {nil, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer func() { _ = l.Close() }()
			var serving sync.WaitGroup
			defer serving.Wait()
			if test.serve == nil {
				require.NoError(t, l.Close())
			} else {
				serving.Go(func() {
					if nc, err := l.Accept(); err == nil {
						t.Cleanup(func() { _ = nc.Close() })
						test.serve(l, nc)
					}
				})
			}
			at, err := ParseURL("tcp://" + l.Addr().String())
			require.NoError(t, err)
			i := &StartedServer{Server: Server{Address: at}}
			assert.Equal(t, test.want, i.leaves(t.Context()))
		})
	}
}
