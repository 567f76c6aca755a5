//go:build unix

package target

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// port is a server in this process. It answers each line, as long as it does not stand still.
type port struct {
	mu    sync.Mutex
	gate  sync.RWMutex
	ln    net.Listener
	conns []net.Conn
	begun time.Time

	address string
}

// listenAt returns a port that serves at an address.
func listenAt(t *testing.T, address string) *port {
	t.Helper()
	p := new(port)
	require.NoError(t, p.listen(address))
	p.address = p.ln.Addr().String()
	t.Cleanup(p.close)
	return p
}

func (p *port) listen(address string) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun = time.Now()
	if p.ln, err = new(net.ListenConfig).Listen(context.Background(), "tcp", address); err == nil {
		go p.accept(p.ln)
	}
	return err
}

func (p *port) accept(ln net.Listener) {
	for {
		nc, err := ln.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.conns = append(p.conns, nc)
		p.mu.Unlock()
		go func() {
			for lines := bufio.NewReader(nc); ; {
				if _, err := lines.ReadString('\n'); err != nil {
					return
				}
				p.gate.RLock()
				_, _ = io.WriteString(nc, "ok\n")
				p.gate.RUnlock()
			}
		}()
	}
}

// hangUp closes the connections.
func (p *port) hangUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
}

// end closes the connections. The lock is held.
func (p *port) end() {
	for _, nc := range p.conns {
		_ = nc.Close()
	}
	p.conns = nil
}

// close closes all.
func (p *port) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.ln.Close()
	p.end()
}

// reopen closes all, and serves anew at the same address.
func (p *port) reopen() {
	p.close()
	if err := p.listen(p.address); err != nil {
		panic(err)
	}
}

// answer asks the server for a line.
func answer(ctx context.Context, s *Server) error {
	nc, err := s.Dial(ctx)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = nc.Close() })()
	defer nc.Close()
	if _, err := io.WriteString(nc, "?\n"); err != nil {
		return err
	}
	if _, err = bufio.NewReader(nc).ReadString('\n'); err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// operatorFunc is an operator that can do all but start a server, and does the same each time.
type operatorFunc func()

func (operatorFunc) Can(action Action) bool { return action != Start }

func (do operatorFunc) Do(context.Context, Action, string) error { do(); return nil }

// What is done to a server counts if it was seen, whatever the command says of it.
func TestActionsAreSeen(t *testing.T) {
	t.Parallel()
	restart := func(s *Server) error { return s.Restart(context.Background()) }
	kill := func(s *Server) error { return s.Kill(context.Background()) }
	killServer := func(s *Server) error { return s.Stop(context.Background(), KillServer) }
	pause := func(s *Server) error { return s.Pause(context.Background()) }
	tests := map[string]struct {
		action  func(s *Server) error
		does    func(p *port)
		hasMark bool   // the server reports when it was started
		unseen  string // empty: it was seen
	}{
		"a command that does nothing": {restart, func(*port) {}, true, "a connection from before is still open"},
		"a kill of something else":    {kill, func(*port) {}, false, "a connection from before is still open"},
		"connections that are closed": {restart, (*port).hangUp, false, "something still serves at"},
		"a server that ends late": {killServer, func(p *port) { time.AfterFunc(700*time.Millisecond, p.reopen) }, false,
			"the server continued to run"},
		"another server in its place": {restart, (*port).reopen, false, ""},
		"a fast supervisor":           {kill, (*port).reopen, false, ""},
		"behind a forwarder": {restart, func(p *port) {
			p.mu.Lock()
			p.begun = time.Now()
			p.mu.Unlock()
			p.hangUp()
		}, true, ""},
		"a pause of something else": {pause, func(*port) {}, false, "the server still answers"},
		"a pause that is a stop":    {pause, (*port).close, false, "the server still answers"},
		"a pause":                   {pause, func(p *port) { p.gate.Lock() }, false, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS != "linux" && test.unseen == "" && !test.hasMark {
				t.Skip("the processes that listen are not known here")
			}
			p := listenAt(t, "127.0.0.1:0")
			host, number, err := net.SplitHostPort(p.address)
			require.NoError(t, err)
			s := &Server{Address: Address{Host: host, Port: number}, Operator: operatorFunc(func() { test.does(p) }),
				Probe: Probe{Ready: answer, Command: "?\n"}, effectTimeout: time.Second}
			if test.hasMark {
				s.Probe.ProcessInfo = func(context.Context, *Server) (ProcessInfo, error) {
					p.mu.Lock()
					defer p.mu.Unlock()
					return ProcessInfo{At: time.Now(), Uptime: -1, Started: p.begun.String()}, nil
				}
			}
			err = test.action(s)
			if test.unseen == "" {
				require.NoError(t, err)
				return
			}
			unseen := new(UnseenError)
			require.ErrorAs(t, err, &unseen)
			assert.Contains(t, err.Error(), test.unseen)
			assert.Contains(t, err.Error(), "does the command act on the server at "+s.Address.HostPort())
		})
	}
}

// A launcher starts the server outside of the processes below it, as `docker run` does: its end is not that of the
// server, and what is left is told.
func TestALauncherIsNoServer(t *testing.T) {
	t.Parallel()
	var once sync.Once
	starter := testStarter("exec sleep 60 # {port}")
	starter.Ready = func(ctx context.Context, s *Server) error {
		once.Do(func() { listenAt(t, s.Address.HostPort()) })
		return answer(ctx, s)
	}
	var messages []string
	s, err := starter.Start(WithReporter(t.Context(), func(format string, args ...any) {
		messages = append(messages, fmt.Sprintf(format, args...))
	}), "")
	require.NoError(t, err)
	s.Server.effectTimeout = time.Second
	err = s.Server.Kill(t.Context())
	unseen := new(UnseenError)
	require.ErrorAs(t, err, &unseen)
	assert.True(t, unseen.Serves)
	assert.ErrorContains(t, err, "write `exec` in front of it")
	require.ErrorAs(t, s.Server.Stop(t.Context(), Stop), &unseen, "nothing more is done to it")
	require.Error(t, s.Failure())
	s.End()
	require.Len(t, messages, 1)
	assert.Contains(t, messages[0],
		"still running: the command of --start left a server at 127.0.0.1:"+strconv.Itoa(s.place.Port))
}

// A server that has to be killed has not stopped in order.
func TestAServerThatIgnoresTheSignal(t *testing.T) {
	t.Parallel()
	s, err := testStarter(`trap "" TERM; while :; do `+serveCommand()+"; done").Start(t.Context(), "")
	require.NoError(t, err)
	defer s.End()
	require.ErrorContains(t, s.Server.Restart(t.Context()), "it did not end within 10s of SIGTERM, and was killed")
}

// A command may end well and leave its server in the background, as daemons do.
func TestDaemons(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("what a command leaves behind is known on Linux only")
	}
	s, err := testStarter("setsid "+serveCommand()+" </dev/null >/dev/null 2>&1 &").Start(t.Context(), "")
	require.NoError(t, err)
	defer s.End()
	lives := "x"
	for _, action := range []Action{Stop, Kill, KillServer} {
		assert.Equal(t, lives, greeting(t, s), action)
		require.NoError(t, s.Server.Stop(t.Context(), action))
		_, err := s.Server.Dial(t.Context())
		require.Error(t, err, "%s: nothing serves", action)
		require.NoError(t, s.Server.Start(t.Context()), action)
		lives += "x"
	}
	require.NoError(t, s.Server.Pause(t.Context()))
	require.NoError(t, s.Server.Resume(t.Context()))
	_, _, ended := s.Ended()
	assert.False(t, ended)
}

// Where the user's command can kill the server, it does so for kill-server too: a container ends with its server.
func TestKillServerIsTheKillOfTheUser(t *testing.T) {
	t.Parallel()
	starter := testStarter("echo $$ >{dir}/pid; exec " + serveCommand())
	starter.Control(Commands{ByAction: map[Action]string{Kill: "echo {action} >>{dir}/said; kill -9 $(cat {dir}/pid)"}})
	s, err := starter.Start(t.Context(), "")
	require.NoError(t, err)
	defer s.End()
	require.NoError(t, s.Server.Stop(t.Context(), KillServer))
	output, err := os.ReadFile(filepath.Join(s.place.Dir, "said"))
	require.NoError(t, err)
	assert.Equal(t, "kill\n", string(output))
}

// TestAServerThatEndsAtALook: it did serve, and the look at that ended it; or another server is there in its place.
func TestAServerThatEndsAtALook(t *testing.T) {
	t.Parallel()
	s, err := testStarter("exec "+serveCommand()).Start(t.Context(), "")
	require.NoError(t, err)
	defer s.End()
	s.running.end(true)
	require.ErrorContains(t, s.checkAlive(t.Context()), "when a client had connected and left, to see whether it serves")
	listenAt(t, s.Server.Address.HostPort())
	require.ErrorContains(t, s.checkAlive(t.Context()), "and something else serves at its port")
}

// TestAListenerThatLingers: another process may have had it when it was closed here.
func TestAListenerThatLingers(t *testing.T) {
	t.Parallel()
	starter := testStarter("exec " + serveCommand())
	place, ports, err := newPlace(t.TempDir(), "secret")
	require.NoError(t, err)
	i := starter.newServer(t.Context(), place, ports)
	defer i.End()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", i.Server.Address.HostPort())
	require.NoError(t, err)
	go func() {
		defer ln.Close()
		if nc, err := ln.Accept(); err == nil {
			_ = nc.Close()
		}
	}()
	require.NoError(t, i.begin(t.Context()))
	assert.Equal(t, "secret x", greeting(t, i))
}
