//go:build unix

package fakes_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
)

// BenchmarkJob is what PUSH, FETCH and ACK of a job cost in the server without the
// network: its one connection always has the next command at hand.
func BenchmarkJob(b *testing.B) {
	b.ReportAllocs()
	c := &recording{remaining: b.N, done: make(chan struct{}), lines: [][]byte{
		[]byte(`PUSH {"jid":"0123456789abcdef0123","jobtype":"bench","args":[1,2,3],"queue":"bench"}` + "\r\n"),
		[]byte("FETCH bench\r\n"),
		[]byte(`ACK {"jid":"0123456789abcdef0123"}` + "\r\n"),
	}}
	s := fakes.NewServer(fakes.Config{Listen: func() (net.Listener, error) { return &singleListener{conn: c}, nil }})
	defer s.Close()
	<-c.done
}

// recording is a connection on which a client says HELLO, then the same lines again
// and again, then nothing.
type recording struct {
	net.Conn
	lines     [][]byte
	next      int // 0: HELLO
	remaining int
	done      chan struct{}
}

func (r *recording) Read(p []byte) (int, error) {
	if r.remaining == 0 {
		return 0, io.EOF
	}
	r.next++
	if r.next == 1 {
		return copy(p, producer+"\r\n"), nil
	}
	i := (r.next - 2) % len(r.lines)
	if i == len(r.lines)-1 {
		r.remaining--
	}
	return copy(p, r.lines[i]), nil
}

func (r *recording) Write(p []byte) (int, error)     { return len(p), nil }
func (r *recording) SetReadDeadline(time.Time) error { return nil }

func (r *recording) Close() error {
	close(r.done)
	return nil
}

// singleListener accepts one connection.
type singleListener struct{ conn net.Conn }

func (s *singleListener) Accept() (net.Conn, error) {
	if c := s.conn; c != nil {
		s.conn = nil
		return c, nil
	}
	return nil, net.ErrClosed
}

func (s *singleListener) Close() error   { return nil }
func (s *singleListener) Addr() net.Addr { return &net.TCPAddr{} }

// The environment variables of the benchmarks.
const (
	serveEnv   = "FAKES_BENCH_SERVE"   // set by the benchmarks: this process is the server, and reports here
	profileEnv = "FAKES_BENCH_PROFILE" // the file that the server writes its CPU profile to
	otherEnv   = "FAKES_BENCH_URL"     // tcp://host:port of another server, which is loaded instead
)

// TestServe is the server of the benchmarks, in the process that they start, so that
// what the server costs can be distinguished from what the clients cost.
func TestServe(t *testing.T) {
	t.Parallel()
	addr := os.Getenv(serveEnv)
	if addr == "" {
		t.Skip("only in the process that a benchmark starts")
	}
	parent, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
	require.NoError(t, err)
	defer parent.Close()
	if name := os.Getenv(profileEnv); name != "" {
		f, err := os.Create(name)
		require.NoError(t, err)
		require.NoError(t, pprof.StartCPUProfile(f))
		defer func() {
			pprof.StopCPUProfile()
			require.NoError(t, f.Close())
		}()
	}
	require.NoError(t, report(parent, start(t, fakes.Config{}).Addr()))
}

// report writes the server's address, and then, for every byte that it reads, how much CPU
// the process has used, in ns, and its resident memory, in bytes. It ends with its peer.
func report(parent io.ReadWriter, addr string) error {
	_, err := fmt.Fprintln(parent, addr)
	for err == nil {
		if _, err = parent.Read(make([]byte, 1)); err != nil {
			break
		}
		var usage syscall.Rusage
		if err = syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err == nil {
			_, err = fmt.Fprintln(parent, usage.Utime.Nano()+usage.Stime.Nano(), residentBytes())
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// residentBytes is the memory that the process has in RAM, zero where there is no /proc.
func residentBytes() int {
	b, err := os.ReadFile("/proc/self/statm")
	if fields := strings.Fields(string(b)); err == nil && len(fields) > 1 {
		pages, _ := strconv.Atoi(fields[1])
		return pages * os.Getpagesize()
	}
	return 0
}

// process is a server in a process of its own, or another server, which reports nothing.
type process struct {
	addr  string
	child net.Conn
}

func startProcess(b *testing.B) *process {
	b.Helper()
	if other := os.Getenv(otherEnv); other != "" {
		u, err := url.Parse(other)
		require.NoError(b, err)
		return &process{addr: u.Host}
	}
	ln, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	require.NoError(b, err)
	defer ln.Close()
	binary, err := os.Executable()
	require.NoError(b, err)
	cmd := exec.CommandContext(b.Context(), binary, "-test.run=^TestServe$")
	cmd.Cancel = func() error { return nil } // it ends with the connection
	cmd.Env = append(os.Environ(), serveEnv+"="+ln.Addr().String())
	require.NoError(b, cmd.Start())
	p := &process{}
	p.child, err = ln.Accept()
	require.NoError(b, err)
	b.Cleanup(func() {
		p.child.Close()
		_ = cmd.Wait() // returns the error of the context, which is over by now
	})
	_, err = fmt.Fscanln(p.child, &p.addr)
	require.NoError(b, err)
	return p
}

// usage is the CPU time that the server has used so far, and its resident memory, in
// bytes; both are zero for another server.
func (p *process) usage(b *testing.B) (cpu time.Duration, memory int) {
	b.Helper()
	if p.child == nil {
		return 0, 0
	}
	_, err := p.child.Write([]byte("?"))
	require.NoError(b, err)
	_, err = fmt.Fscanln(p.child, &cpu, &memory)
	require.NoError(b, err)
	return cpu, memory
}
