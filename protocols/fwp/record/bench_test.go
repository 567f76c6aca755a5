package record

import (
	"bufio"
	"context"
	"io"
	"net"
	"testing"
)

// BenchmarkCommand is one client that sends a PUSH and waits for its OK: without anything between, through a proxy that
// only copies, and through a Recorder.
func BenchmarkCommand(b *testing.B) {
	server := listen(b, func(c net.Conn) {
		_, _ = io.WriteString(c, "+HI {\"v\":2}\r\n")
		in := bufio.NewReader(c)
		for {
			if _, err := in.ReadSlice('\n'); err != nil {
				return
			}
			if _, err := io.WriteString(c, "+OK\r\n"); err != nil {
				return
			}
		}
	})
	dial := func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", server.Addr().String())
	}
	copying := listen(b, func(c net.Conn) {
		up, err := dial(context.Background())
		if err != nil {
			return
		}
		defer up.Close()
		go func() {
			_, _ = io.Copy(c, up)
			_ = c.Close()
		}()
		_, _ = io.Copy(up, c)
	})
	r := New(Config{Dial: dial})
	b.Cleanup(r.Close)
	front, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = front.Close() })
	go func() { _ = r.Serve(context.Background(), front) }()
	for _, way := range []struct{ name, addr string }{
		{"direct", server.Addr().String()}, {"copying", copying.Addr().String()}, {"recorder", front.Addr().String()},
	} {
		b.Run(way.name, func(b *testing.B) { commands(b, way.addr) })
	}
}

func commands(b *testing.B, addr string) {
	b.Helper()
	nc, err := new(net.Dialer).DialContext(b.Context(), "tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	defer nc.Close()
	in := bufio.NewReader(nc)
	do := func(line string) {
		if line != "" {
			if _, err := io.WriteString(nc, line); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := in.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
	}
	do("")
	do("HELLO {\"v\":2}\r\n")
	for b.Loop() {
		do(`PUSH {"jid":"0123456789abcdef","jobtype":"mail","args":[1,"two"],"queue":"q"}` + "\r\n")
	}
}

func listen(b *testing.B, serve func(net.Conn)) net.Listener {
	b.Helper()
	l, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return l
}
