package scripttest

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/store"
	"github.com/fwpsuite/fwp/internal/registry"
)

type serversKey struct{} // of the servers in the values of a script

// server is a server of a script.
type server struct {
	mu    sync.Mutex
	news  sync.Cond       // of what has come
	words map[string]bool // lines, PUSH for a job, and connection for a connection
	jobs  atomic.Int64    // in queues or held
}

// kinds are those of servers. Each returns its address, and ends with the script.
var kinds = map[string]func(ts *testscript.TestScript, s *server, arg string) (addr string){
	"fwp":      fwpServer,     // the embedded server; the argument is its password
	"fwp6":     fwp6Server,    // the same on ::1, "" if there is no IPv6
	"fwps":     fwpsServer,    // the same behind TLS; the argument is where its CA goes
	"peer":     peerServer,    // the embedded server of the protocol in the argument, as HOST:PORT of its clients
	"few":      fewServer,     // the same with so many connections and no more
	"moody":    moodyServer,   // the same, and every so many-th BEAT is answered with an error
	"http":     httpServer,    // a web server
	"hasty":    hastyServer,   // a web server that does not wait long for a request
	"closed":   closedServer,  // no process listens
	"closing":  closingServer, // closes every connection at once
	"silent":   silentServer,  // never says a word
	"canned":   cannedServer,  // answers as the file in the argument says
	"impostor": impostor,      // greets, and answers every line with the argument; close: it closes
}

// serve is `serve VAR KIND [ARG]`.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || kinds[args[1]] == nil {
		ts.Fatalf("usage: serve VAR KIND [ARG]")
	}
	s := &server{words: map[string]bool{}}
	s.news.L = &s.mu
	ts.Setenv(args[0], kinds[args[1]](ts, s, strings.Join(args[2:], " ")))
	ts.Value(serversKey{}).(map[string]*server)[args[0]] = s
}

// findServer returns the server in a variable.
func findServer(ts *testscript.TestScript, name string) *server {
	s := ts.Value(serversKey{}).(map[string]*server)[name]
	if s == nil {
		ts.Fatalf("no server is in %s", name)
	}
	return s
}

// expectHeard is `heard VAR WORD`.
func expectHeard(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: heard VAR WORD")
	}
	s := findServer(ts, args[0])
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.hasWord(args[1]) {
		s.news.Wait()
	}
}

func (s *server) hasWord(word string) bool {
	for text := range s.words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

func (s *server) hear(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.words[text] = true
	s.news.Broadcast()
}

// expectJobs is `left VAR`.
func expectJobs(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: left VAR")
	}
	if n := findServer(ts, args[0]).jobs.Load(); (n > 0) == neg {
		ts.Fatalf("%d jobs are in the server", n)
	}
}

func fwpServer(ts *testscript.TestScript, s *server, password string) string {
	return s.start(ts, fakes.Config{Password: password, Iterations: 10})
}

func peerServer(ts *testscript.TestScript, _ *server, name string) string {
	entry, err := registry.Lookup(name)
	ts.Check(err)
	s, err := entry.Start(registry.Config{})
	ts.Check(err)
	ts.Defer(s.Close)
	_, addr, _ := strings.Cut(s.URL, "://")
	addr, _, _ = strings.Cut(addr, "?")
	return addr
}

func fwp6Server(ts *testscript.TestScript, s *server, _ string) string {
	ln, err := listen("[::1]:0")
	if err != nil {
		return ""
	}
	return s.start(ts, fakes.Config{Listen: func() (net.Listener, error) { return ln, nil }})
}

// fwpsServer has the certificate that httptest makes for 127.0.0.1, ::1 and
// example.com.
func fwpsServer(ts *testscript.TestScript, s *server, caFile string) string {
	web := httptest.NewTLSServer(http.NotFoundHandler())
	defer web.Close()
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw})
	ts.Check(os.WriteFile(ts.MkAbs(caFile), text, 0o600))
	return s.start(ts, fakes.Config{TLS: &tls.Config{Certificates: web.TLS.Certificates}})
}

func fewServer(ts *testscript.TestScript, s *server, arg string) string {
	return s.start(ts, fakes.Config{MaxConnections: number(ts, arg)})
}

func moodyServer(ts *testscript.TestScript, s *server, arg string) string {
	var beats atomic.Int64
	interval := int64(number(ts, arg))
	return s.start(ts, fakes.Config{Hook: func(e *fakes.Event) {
		if e.Point == fakes.Writing && e.Command.Verb == "BEAT" && beats.Add(1)%interval == 0 {
			e.Bytes = []byte("-ERR not now\r\n")
		}
	}})
}

func number(ts *testscript.TestScript, arg string) int {
	n, err := strconv.Atoi(arg)
	ts.Check(err)
	return n
}

// start starts an embedded server, whose jobs are counted.
func (s *server) start(ts *testscript.TestScript, config fakes.Config) string {
	hook := config.Hook
	config.Hook = func(e *fakes.Event) {
		switch e.Point {
		case fakes.Defaulted:
			s.jobs.Add(1)
			s.hear("PUSH")
		case fakes.Acked:
			s.jobs.Add(-1)
		}
		if hook != nil {
			hook(e)
		}
	}
	f := fakes.NewServer(config)
	ts.Defer(f.Close)
	return f.Addr()
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
	ln, err := listen("127.0.0.1:0")
	ts.Check(err)
	ts.Check(ln.Close())
	return ln.Addr().String()
}

func closingServer(ts *testscript.TestScript, s *server, _ string) string {
	return s.speak(ts, func(net.Conn) {})
}

func silentServer(ts *testscript.TestScript, s *server, _ string) string {
	return s.speak(ts, func(nc net.Conn) { s.answer(nc, "", func(string) string { return "" }) })
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
	return s.speak(ts, func(nc net.Conn) {
		s.answer(nc, replies["greeting"], func(line string) string {
			verb, _, _ := strings.Cut(line, " ")
			return replies[verb]
		})
	})
}

const closers = "close\r\n"

func impostor(ts *testscript.TestScript, s *server, answer string) string {
	return s.speak(ts, func(nc net.Conn) {
		s.answer(nc, "+HI {\"v\":2}\r\n", func(string) string { return answer + "\r\n" })
	})
}

// answer greets, takes lines and replies to them, until the client goes or a reply is closers.
func (s *server) answer(nc net.Conn, greeting string, reply func(line string) string) {
	_, err := io.WriteString(nc, greeting)
	for lines := bufio.NewScanner(nc); err == nil && lines.Scan(); {
		s.hear(lines.Text())
		words := reply(lines.Text())
		if words == closers {
			return
		}
		_, err = io.WriteString(nc, words)
	}
}

func listen(addr string) (net.Listener, error) {
	return new(net.ListenConfig).Listen(context.Background(), "tcp", addr)
}

// speak has handle speak on every connection, until the script ends.
func (s *server) speak(ts *testscript.TestScript, handle func(net.Conn)) (addr string) {
	ln, err := listen("127.0.0.1:0")
	ts.Check(err)
	group := new(store.Group)
	go group.Serve(ln, func(nc net.Conn) { //nolint:errcheck // it is closed by the script
		s.hear("connection")
		handle(nc)
	})
	ts.Defer(group.Close)
	return ln.Addr().String()
}
