package main_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fwpsuite/fwp/fakes"
)

type serversKey struct{} // of the servers in the values of a script

// server is a server of a script.
type server struct {
	addr   string
	pushed chan struct{} // closed by the first PUSH
	dialed chan struct{} // closed by the first connection to a silent one
	jobs   atomic.Int64  // in queues or held
}

// servers are the kinds. Each sets the address, and ends with the script.
var servers = map[string]func(ts *testscript.TestScript, s *server, arg string){
	"fwp":      fwpServer,    // a right server; the argument is its password
	"few":      fewServer,    // the same with so many connections and no more
	"http":     httpServer,   // a web server
	"closed":   closedServer, // no process listens
	"silent":   silentServer, // takes connections, and says nothing
	"impostor": impostor,     // greets, and answers every line with the argument; close: it closes
}

// serve is `serve VAR KIND [ARG]`.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || servers[args[1]] == nil {
		ts.Fatalf("usage: serve VAR KIND [ARG]")
	}
	s := &server{pushed: make(chan struct{}), dialed: make(chan struct{})}
	servers[args[1]](ts, s, strings.Join(args[2:], " "))
	ts.Value(serversKey{}).(map[string]*server)[args[0]] = s
	ts.Setenv(args[0], s.addr)
}

// pushed is `pushed VAR`.
func pushed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: pushed VAR")
	}
	<-ts.Value(serversKey{}).(map[string]*server)[args[0]].pushed
}

// dialed is `dialed VAR`.
func dialed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: dialed VAR")
	}
	<-ts.Value(serversKey{}).(map[string]*server)[args[0]].dialed
}

// left is `left VAR`.
func left(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: left VAR")
	}
	n := ts.Value(serversKey{}).(map[string]*server)[args[0]].jobs.Load()
	if (n > 0) == neg {
		ts.Fatalf("%d jobs are in the server", n)
	}
}

func fwpServer(ts *testscript.TestScript, s *server, password string) {
	s.start(ts, fakes.Config{Password: password, Iterations: 10})
}

func fewServer(ts *testscript.TestScript, s *server, arg string) {
	n, err := strconv.Atoi(arg)
	ts.Check(err)
	s.start(ts, fakes.Config{MaxConnections: n})
}

func (s *server) start(ts *testscript.TestScript, config fakes.Config) {
	var first sync.Once
	config.Hook = func(e *fakes.Event) {
		switch e.Point {
		case fakes.Defaulted:
			s.jobs.Add(1)
			first.Do(func() { close(s.pushed) })
		case fakes.Acked:
			s.jobs.Add(-1)
		}
	}
	f := fakes.NewServer(config)
	ts.Defer(f.Close)
	s.addr = f.Addr()
}

func httpServer(ts *testscript.TestScript, s *server, _ string) {
	web := httptest.NewServer(http.NotFoundHandler())
	ts.Defer(web.Close)
	s.addr = web.Listener.Addr().String()
}

func closedServer(ts *testscript.TestScript, s *server, _ string) {
	ln, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Check(ln.Close())
	s.addr = ln.Addr().String()
}

// listen has serve speak on every connection, until the script ends.
func (s *server) listen(ts *testscript.TestScript, serve func(net.Conn)) {
	ln, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	ts.Check(err)
	var serving sync.WaitGroup
	serving.Go(func() {
		for nc, err := ln.Accept(); err == nil; nc, err = ln.Accept() {
			serving.Go(func() {
				defer nc.Close()
				serve(nc)
			})
		}
	})
	ts.Defer(func() {
		_ = ln.Close() // closed here alone
		serving.Wait()
	})
	s.addr = ln.Addr().String()
}

func silentServer(ts *testscript.TestScript, s *server, _ string) {
	var first sync.Once
	s.listen(ts, func(nc net.Conn) {
		first.Do(func() { close(s.dialed) })
		_, _ = io.Copy(io.Discard, nc) // until the other side has had enough
	})
}

func impostor(ts *testscript.TestScript, s *server, answer string) {
	s.listen(ts, func(nc net.Conn) {
		_, err := io.WriteString(nc, "+HI {\"v\":2}\r\n")
		for in := bufio.NewScanner(nc); err == nil && in.Scan() && answer != "close"; {
			_, err = io.WriteString(nc, answer+"\r\n")
		}
	})
}
