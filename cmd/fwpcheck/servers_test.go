package main_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/peer"
)

type serversKey struct{} // of the servers in the values of a script

// server is a server of a script.
type server struct {
	addr string

	mu    sync.Mutex
	news  sync.Cond // of lines
	lines []string  // that came
}

// servers are the kinds. Each returns its address, and ends with the script.
var servers = map[string]func(ts *testscript.TestScript, s *server, arg string) (addr string){
	"fwp":     fwpServer,     // the embedded server; the argument is its password
	"fwp6":    fwp6Server,    // the same on ::1, "" if there is no IPv6
	"fwps":    fwpsServer,    // the same behind TLS; the argument is where its CA goes
	"peer":    peerServer,    // the embedded server of the protocol in the argument, as HOST:PORT of its clients
	"few":     fewServer,     // the same with so many connections and no more
	"moody":   moodyServer,   // the same, and every so many-th BEAT is answered with an error
	"http":    httpServer,    // a web server
	"hasty":   hastyServer,   // a web server that does not wait long for a request
	"closed":  closedServer,  // no process listens
	"closing": closingServer, // closes every connection at once
	"silent":  silentServer,  // never says a word
	"canned":  cannedServer,  // answers as the file in the argument says
}

// serve is `serve VAR KIND [ARG]`.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || servers[args[1]] == nil {
		ts.Fatalf("usage: serve VAR KIND [ARG]")
	}
	s := &server{}
	s.news.L = &s.mu
	s.addr = servers[args[1]](ts, s, strings.Join(args[2:], ""))
	ts.Value(serversKey{}).(map[string]*server)[args[0]] = s
	ts.Setenv(args[0], s.addr)
}

// heard is `heard VAR WORD`.
func heard(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: heard VAR WORD")
	}
	s := ts.Value(serversKey{}).(map[string]*server)[args[0]]
	s.mu.Lock()
	defer s.mu.Unlock()
	for !slices.ContainsFunc(s.lines, func(line string) bool { return strings.Contains(line, args[1]) }) {
		s.news.Wait()
	}
}

func (s *server) hear(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line)
	s.news.Broadcast()
}

func fwpServer(ts *testscript.TestScript, _ *server, password string) string {
	return started(ts, fakes.Config{Password: password})
}

func peerServer(ts *testscript.TestScript, _ *server, name string) string {
	of, err := peer.Named(name)
	ts.Check(err)
	s, err := of.Start(peer.Config{})
	ts.Check(err)
	ts.Defer(s.Close)
	_, addr, _ := strings.Cut(s.URL, "://")
	addr, _, _ = strings.Cut(addr, "?")
	return addr
}

func fwp6Server(ts *testscript.TestScript, _ *server, _ string) string {
	ln, err := listenOn("[::1]:0")
	if err != nil {
		return ""
	}
	return started(ts, fakes.Config{Listen: func() (net.Listener, error) { return ln, nil }})
}

// fwpsServer has the certificate that httptest makes for 127.0.0.1, ::1 and
// example.com.
func fwpsServer(ts *testscript.TestScript, _ *server, caFile string) string {
	web := httptest.NewTLSServer(http.NotFoundHandler())
	defer web.Close()
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw})
	ts.Check(os.WriteFile(ts.MkAbs(caFile), text, 0o600))
	return started(ts, fakes.Config{TLS: &tls.Config{Certificates: web.TLS.Certificates}})
}

func fewServer(ts *testscript.TestScript, _ *server, arg string) string {
	return started(ts, fakes.Config{MaxConnections: number(ts, arg)})
}

func moodyServer(ts *testscript.TestScript, _ *server, arg string) string {
	var beats atomic.Int64
	every := int64(number(ts, arg))
	return started(ts, fakes.Config{Hook: func(e *fakes.Event) {
		if e.Point == fakes.Writing && e.Command.Verb == "BEAT" && beats.Add(1)%every == 0 {
			e.Bytes = []byte("-ERR not now\r\n")
		}
	}})
}

func number(ts *testscript.TestScript, arg string) int {
	n, err := strconv.Atoi(arg)
	ts.Check(err)
	return n
}

func started(ts *testscript.TestScript, config fakes.Config) string {
	s := fakes.NewServer(config)
	ts.Defer(s.Close)
	return s.Addr()
}

func httpServer(ts *testscript.TestScript, _ *server, _ string) string {
	web := httptest.NewServer(http.NotFoundHandler())
	ts.Defer(web.Close)
	return web.Listener.Addr().String()
}

func hastyServer(ts *testscript.TestScript, _ *server, _ string) string {
	web := httptest.NewUnstartedServer(http.NotFoundHandler())
	web.Config.ReadHeaderTimeout = time.Second
	web.Start()
	ts.Defer(web.Close)
	return web.Listener.Addr().String()
}

func closedServer(ts *testscript.TestScript, _ *server, _ string) string {
	ln, err := listenOn("127.0.0.1:0")
	ts.Check(err)
	ts.Check(ln.Close())
	return ln.Addr().String()
}

func closingServer(ts *testscript.TestScript, _ *server, _ string) string {
	return listen(ts, func(net.Conn) {})
}

func silentServer(ts *testscript.TestScript, s *server, _ string) string {
	return listen(ts, func(nc net.Conn) { s.read(nc, nil) })
}

// cannedServer answers each line by its verb: the file has lines with a verb and
// the reply to it, \r and \n spelled out; the reply to "greeting" comes first.
// What it does not know it never answers.
func cannedServer(ts *testscript.TestScript, s *server, file string) string {
	replies := map[string]string{}
	for line := range strings.Lines(ts.ReadFile(file)) {
		verb, reply, _ := strings.Cut(strings.TrimSpace(line), " ")
		replies[verb] = strings.NewReplacer(`\r`, "\r", `\n`, "\n").Replace(reply)
	}
	return listen(ts, func(nc net.Conn) {
		if _, err := nc.Write([]byte(replies["greeting"])); err != nil {
			return
		}
		s.read(nc, replies)
	})
}

// read takes lines until the client goes, and answers those it knows.
func (s *server) read(nc net.Conn, replies map[string]string) {
	for lines := bufio.NewScanner(nc); lines.Scan(); {
		s.hear(lines.Text())
		verb, _, _ := strings.Cut(lines.Text(), " ")
		if _, err := nc.Write([]byte(replies[verb])); err != nil {
			return
		}
	}
}

func listenOn(addr string) (net.Listener, error) {
	return new(net.ListenConfig).Listen(context.Background(), "tcp", addr)
}

// listen accepts connections and closes each when handle returns. The end of the
// script ends them all.
func listen(ts *testscript.TestScript, handle func(net.Conn)) (addr string) {
	ln, err := listenOn("127.0.0.1:0")
	ts.Check(err)
	var (
		mu    sync.Mutex
		conns []net.Conn
		wg    sync.WaitGroup
	)
	wg.Go(func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, nc)
			mu.Unlock()
			wg.Go(func() {
				defer nc.Close()
				handle(nc)
			})
		}
	})
	ts.Defer(func() {
		_ = ln.Close()
		mu.Lock()
		for _, nc := range conns {
			_ = nc.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return ln.Addr().String()
}
