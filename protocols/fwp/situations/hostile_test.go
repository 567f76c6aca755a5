package situations

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
)

// attacker is a program that uses the server of a situation in bad faith until it is killed. It implements [Launcher]
// and [Process].
type attacker struct {
	network *memnet.Network
	attack  func(*attacker)

	addr   string
	ctx    context.Context //nolint:containedctx // of one process
	cancel context.CancelFunc
	done   chan struct{}

	tally *tally
}

// tally counts what the processes of an attacker could do.
type tally struct {
	bytes, refusals, conns, maxConns atomic.Int64 // bytes; commands; connections now, and most at a time
}

func (a *attacker) Sets(string) bool { return true }

func (a *attacker) Launch(e Environment) (Process, error) {
	process := &attacker{network: a.network, attack: a.attack, tally: a.tally, done: make(chan struct{})}
	process.addr = strings.TrimPrefix(e.URL[strings.LastIndex(e.URL, "@")+1:], "tcp://")
	process.ctx, process.cancel = context.WithCancel(context.Background())
	go func() {
		process.attack(process)
		close(process.done)
	}()
	return process, nil
}

func (a *attacker) Signal(string)         {}
func (a *attacker) Done() <-chan struct{} { return a.done }
func (a *attacker) Code() int             { return 1 }
func (a *attacker) ExitStatus() string    { return "exit status 1" }
func (a *attacker) Output() []string      { return nil }
func (a *attacker) Lines() []PrintedLine  { return nil }
func (a *attacker) Kill()                 { a.cancel(); <-a.done }

// dial returns a connection that ends with the process, nil if the process has ended or the server closes it at once.
func (a *attacker) dial() net.Conn {
	nc, err := a.network.DialContext(a.ctx, "tcp", a.addr)
	if err != nil {
		a.pause(time.Second)
		return nil
	}
	context.AfterFunc(a.ctx, func() { _ = nc.Close() })
	return nc
}

// pause waits, and reports whether the process goes on.
func (a *attacker) pause(d time.Duration) bool {
	select {
	case <-a.ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// write writes a text again and again, up to a number of times, and returns when the connection ends.
func (a *attacker) write(nc net.Conn, first, next string, times int) {
	text := first
	for range times {
		n, err := io.WriteString(nc, text)
		if a.tally.bytes.Add(int64(n)); err != nil || !a.pause(10*time.Millisecond) {
			return
		}
		text = next
	}
	a.pause(time.Hour)
}

// talk introduces the program, has replies counted, and then writes.
func (a *attacker) talk(first, next string, times int) {
	nc := a.dial()
	if nc == nil {
		return
	}
	var counting sync.WaitGroup
	counting.Go(func() {
		for in := bufio.NewScanner(nc); in.Scan(); {
			if strings.HasPrefix(in.Text(), "-") {
				a.tally.refusals.Add(1)
			}
		}
	})
	a.write(nc, hello+first, next, times)
	_ = nc.Close()
	counting.Wait()
}

const (
	hello    = "HELLO {\"hostname\":\"h\",\"wid\":\"w\",\"pid\":1,\"labels\":[],\"v\":2}\r\n"
	mebibyte = 1 << 20
)

// crowd opens more connections than are served, and has each do nothing.
func crowd(a *attacker) {
	for opened := 0; opened < maxOpenConns+20 && a.pause(time.Millisecond); {
		nc := a.dial()
		if nc == nil {
			continue
		}
		opened++
		go func() {
			defer nc.Close()
			if _, err := nc.Read(make([]byte, 1)); err != nil {
				return
			}
			now := a.tally.conns.Add(1)
			defer a.tally.conns.Add(-1)
			for peak := a.tally.maxConns.Load(); now > peak && !a.tally.maxConns.CompareAndSwap(peak, now); peak = a.tally.maxConns.Load() {
				continue
			}
			_, _ = io.Copy(io.Discard, nc)
		}()
	}
	a.pause(time.Hour)
}

// TestHostilePrograms judges programs that attack the server of a situation. Each play ends in bounded time, and keeps
// a bounded part of what it is sent.
func TestHostilePrograms(t *testing.T) {
	t.Parallel()
	job := func(n int) string {
		return fmt.Sprintf(`PUSH {"jid":"%%d","jobtype":"x","args":[%q]}`+"\r\n", strings.Repeat("A", n))
	}
	mebibytes := golden.Sample(4, 100) // as many of them are sent by each process
	attacks := map[string]struct {
		attack      func(*attacker)
		maxBytes    int64 // bytes at most, of all processes; no limit if zero
		minRefusals int64 // commands that are refused
	}{
		"a line without an end": {
			func(a *attacker) { a.talk("PUSH {", strings.Repeat("A", mebibyte), 100) },
			3 * (clientrules.MaxMessage + maxEndless + 2*mebibyte), 0,
		},
		"jobs without an end": {func(a *attacker) { a.talk("", job(mebibyte), mebibytes) }, 0, int64(golden.Sample(0, 30))},
		"deep JSON":           {func(a *attacker) { a.talk("", "PUSH "+strings.Repeat("[", mebibyte/10)+"\r\n", 5) }, 0, 5},
		"no line at all":      {func(a *attacker) { a.talk("", strings.Repeat("\x00", mebibyte), mebibytes) }, 0, 0},
		"never reads": {func(a *attacker) {
			if nc := a.dial(); nc != nil {
				a.write(nc, hello, strings.Repeat("INFO\r\n", 100), golden.Sample(15, 1000))
			}
		}, 3 * mebibyte, 0},
		"connections without an end": {crowd, 0, 0},
		"ends at once":               {func(*attacker) {}, 0, 0},
	}
	costly := []string{"connections without an end", "jobs without an end", "no line at all"}
	for name, test := range attacks {
		if !golden.IsSlow() && slices.Contains(costly, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				all := new(tally)
				network := memnet.New()
				h := &Harness{
					Launcher:    &attacker{network: network, attack: test.attack, tally: all},
					ListenAgain: network.Listen,
					Listen:      func(bool) (net.Listener, error) { return network.Listen("127.0.0.1:0") },
				}
				begun := time.Now()
				_, _ = h.Identify(t.Context()) // whether it is a client is not the question
				r := &run.Runner{
					Suite:   fwpsuite.Protocol(),
					Servers: []run.Server{{Target: NoServer{}}}, Checks: h.Checks()[:1], Parties: []string{"C", "K"},
					Virtual: true,
				}
				report := r.Run(t.Context())
				assert.Empty(t, report.Internal)
				assert.Less(t, time.Since(begun), 30*time.Minute)
				assert.LessOrEqual(t, all.maxConns.Load(), int64(maxOpenConns))
				assert.GreaterOrEqual(t, all.refusals.Load(), test.minRefusals)
				if test.maxBytes > 0 {
					assert.LessOrEqual(t, all.bytes.Load(), test.maxBytes)
				}
				t.Log(name, time.Since(begun), all.bytes.Load()>>20, "MiB", all.refusals.Load(), "refused", all.maxConns.Load(), "open")
			})
		})
	}
}
