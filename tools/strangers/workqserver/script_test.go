package main

import (
	"fmt"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fwpsuite/fwp/tools/strangers/table"
	"github.com/fwpsuite/fwp/tools/strangers/table/tabletest"
)

var mutants, variants = table.Split(departures)

// step is one line of a script. A client sends, and then reads exactly want, which comes within two seconds.
type step struct {
	who  string // the name of the client; it connects with its first step
	send string
	want string        // <*> stands for any bytes but CR
	wait time.Duration // a pause before
	shut bool          // the client leaves
}

type script = tabletest.Script[step]

// does sends and reads; only sends; gets reads; pause waits; leaves closes a client.
func does(who, send, want string) step   { return step{who: who, send: send, want: want} }
func only(who, send string) step         { return step{who: who, send: send} }
func gets(who, want string) step         { return step{who: who, want: want} }
func pause(ms int) step                  { return step{wait: time.Duration(ms) * time.Millisecond} }
func leaves(who string) step             { return step{who: who, shut: true} }
func id(n int) string                    { return fmt.Sprintf("6ba7b81%d-9dad-41d1-80b4-00c04fd430c4", n) }
func ok(blocks ...string) string         { return "+OK 1\r\n" + strings.Join(blocks, "\r\n") + "\r\n" }
func leased(n int, rest string) string   { return ok(id(n) + " " + rest) }
func add(n int, rest string) string      { return "add " + id(n) + " " + rest + "\r\n" }
func report(n int, how string) string    { return how + " " + id(n) + " 2\r\nok\r\n" }
func resultOf(n int, rest string) string { return "result " + id(n) + " " + rest + "\r\n" }

const fine = "+OK\r\n"

// player runs one script against one server.
type player struct {
	addr  string
	conns map[string]net.Conn
}

func (p *player) conn(who string) (net.Conn, error) {
	if p.conns[who] == nil {
		nc, err := net.Dial("tcp", p.addr)
		if err != nil {
			return nil, err
		}
		p.conns[who] = nc
	}
	return p.conns[who], nil
}

// due replaces {+n} by the time n seconds from now, in whole seconds.
func due(send string) string {
	for n := range 9 {
		at := time.Now().UTC().Add(time.Duration(n) * time.Second).Format("2006-01-02T15:04:05Z")
		send = strings.ReplaceAll(send, fmt.Sprintf("{+%d}", n), at)
	}
	return send
}

// play returns the first departure from the script.
func (p *player) play(steps []step) error {
	for i, st := range steps {
		time.Sleep(st.wait)
		if st.who == "" {
			continue
		}
		nc, err := p.conn(st.who)
		if err != nil {
			return err
		}
		if st.shut {
			nc.Close()
			delete(p.conns, st.who)
			continue
		}
		if _, err := nc.Write([]byte(due(st.send))); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
		if st.want == "" {
			continue
		}
		if got, ok := expect(nc, st.want); !ok {
			return fmt.Errorf("step %d, %s: want %s, got %s", i+1, st.who, short(st.want), short(got))
		}
	}
	for who, nc := range p.conns {
		if got := rest(nc); got != "" {
			return fmt.Errorf("%s got more at the end: %s", who, short(got))
		}
	}
	return nil
}

// expect reads until the bytes match want.
func expect(nc net.Conn, want string) (string, bool) {
	quoted := strings.ReplaceAll(regexp.QuoteMeta(want), "<\\*>", "[^\r]*")
	form := regexp.MustCompile("(?s)^(?:" + quoted + ")$")
	var got []byte
	buf := make([]byte, 1<<20)
	nc.SetReadDeadline(time.Now().Add(2 * time.Second))
	for {
		if len(want) > 1000 && string(got) == want || len(want) <= 1000 && form.Match(got) {
			return string(got), true
		}
		n, err := nc.Read(buf)
		got = append(got, buf[:n]...)
		if err != nil {
			return string(got), false
		}
	}
}

// rest reads what comes although the script is over.
func rest(nc net.Conn) string {
	buf := make([]byte, 1000)
	nc.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
	n, _ := nc.Read(buf)
	return string(buf[:n])
}

func short(bytes string) string {
	if len(bytes) > 300 {
		return fmt.Sprintf("%q... (%d bytes)", bytes[:300], len(bytes))
	}
	return fmt.Sprintf("%q", bytes)
}

// run plays steps against a fresh server.
func run(t *testing.T, steps []step, mutant, variant int) error {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go newServer(mutant, variant).serve(l)
	p := &player{addr: l.Addr().String(), conns: map[string]net.Conn{}}
	defer func() {
		for _, nc := range p.conns {
			nc.Close()
		}
	}()
	return p.play(steps)
}

// suite plays the scripts. Of these TestMutants and TestVariants find what departs, and TestOverlap, when
// STRANGERS_OVERLAP is set, the mutants that fail the script of another one.
func suite() tabletest.Suite[step] {
	return tabletest.Suite[step]{Mutants: mutants, Variants: variants, Scripts: scripts(), Basics: basics(), Run: run}
}

func TestMutants(t *testing.T)  { suite().TestMutants(t) }
func TestVariants(t *testing.T) { suite().TestVariants(t) }
func TestOverlap(t *testing.T)  { suite().TestOverlap(t) }
