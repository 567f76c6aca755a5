package emqpsuite_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/emqpsuite"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/fakes/fakeemqp"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/internal/slow"
	"github.com/fwpsuite/fwp/internal/suitetest"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/zmtp"
)

const front = "127.0.0.1:47291"

// run plays checks on a broker, in virtual time.
func runChecks(
	t *testing.T, config func() fakeemqp.Config, single bool, checks []conformance.Check,
) (r *reports.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server, end, err := start(config, single)
		require.NoError(t, err)
		r = judge(t, server, checks)
		end()
	})
	return r
}

// start starts a broker on a network of its own.
func start(config func() fakeemqp.Config, single bool) (server run.Server, end func(), err error) {
	kept := config() // over restarts
	on := &suitetest.Broker{Network: memnet.New(), Config: func() fakeemqp.Config { return kept }, Single: single}
	return run.Server{
		Target: on, Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedAlone, scenarios.NeedRestart},
		Fresh: func() (run.Server, func(), error) { return start(config, single) },
	}, on.Close, on.Restart(context.Background())
}

func judge(t *testing.T, on run.Server, checks []conformance.Check) *reports.Report {
	runner := &run.Runner{
		Protocol: emqpsuite.Protocol(), Checks: checks, Virtual: true, Servers: []run.Server{on},
	}
	return runner.Run(t.Context())
}

func hooked(hook func() func(*fakeemqp.Event)) func() fakeemqp.Config {
	return func() fakeemqp.Config { return fakeemqp.Config{Hook: hook()} }
}

func conforming() fakeemqp.Config { return fakeemqp.Config{} }

func checks(t *testing.T) []conformance.Check {
	t.Helper()
	return append(suitetest.Scripts(t, emqpsuite.Protocol()), emqpsuite.Properties()...)
}

var update = flag.Bool("update", false, "rewrite docs/emqp-clauses.md and docs/emqp-faults.md")

func TestScriptsAreInOrder(t *testing.T) {
	t.Parallel()
	suitetest.InOrder(t, emqpsuite.Protocol())
}

// TestClausesDocument writes docs/emqp-clauses.md.
func TestClausesDocument(t *testing.T) {
	t.Parallel()
	golden(t, "../../docs/emqp-clauses.md", suitetest.Document(t, emqpsuite.Protocol(),
		"Written by `"+written+"`; do not edit. Levels are described in\n"+
			"[verdicts.md](verdicts.md). A reading outranks its statement. S is a broker, K a worker or scheduler. A check\n"+
			"is the script of that name below `scenarios/emqpdialect/scripts`; a source is a heading of the document and a "+
			"line of it."))
}

// written is the command that writes the documents.
const written = "go test ./conformance/emqpsuite -run Document -update"

func golden(t *testing.T, path, text string) {
	t.Helper()
	suitetest.Golden(t, path, text, *update, written)
}

func TestConformingBroker(t *testing.T) {
	t.Parallel()
	suitetest.Passes(t, runChecks(t, conforming, false, checks(t)))
}

// TestFaults plays the scripts that look at a fault against it, for a sample of the faults; with FWP_SLOW=1 all scripts
// for all faults. The first clause turns red, and no clause that the fault does not declare.
func TestFaults(t *testing.T) {
	t.Parallel()
	all := checks(t)
	for i, f := range fakeemqp.Faults() {
		if !slow.Enabled() && i%sample != 0 {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			picked := slices.DeleteFunc(slices.Clone(all), func(c conformance.Check) bool {
				return !slow.Enabled() && !looksAt(c.Describe(), f)
			})
			red, by := suitetest.Red(runChecks(t, hooked(f.Hook), false, picked))
			assert.Contains(t, red, f.Clauses[0])
			for _, id := range red {
				assert.Contains(t, f.Clauses, id, "not declared, and found by %s", by)
			}
		})
	}
}

// TestFaultsDocument writes docs/emqp-faults.md. Which checks catch a fault is not the same in each run.
func TestFaultsDocument(t *testing.T) {
	t.Parallel()
	faults := fakeemqp.Faults()
	var b strings.Builder
	fmt.Fprintf(&b, `# The faults of the embedded eMQP broker

Written by `+"`"+written+"`"+`; do not edit. It has %d faults. The checks find the
first clause of each broken, perhaps the others, and no clause that is not listed.

| fault | what the broker does | clauses |
|---|---|---|
`, len(faults))
	for _, f := range faults {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", f.Name, f.Summary, strings.Join(f.Clauses, ", "))
	}
	golden(t, "../../docs/emqp-faults.md", b.String())
}

// sample is how many faults or variations there are to one that every run of the tests plays.
const sample = 7

// looksAt reports whether a check decides the first clause of a fault, or shows most of what a broker sends.
func looksAt(d conformance.Description, f fakeemqp.Fault) bool {
	if d.ID == "disconnect/kbai-to-all" && strings.Contains(f.Name, "kbai") || d.ID == "reply/requested" ||
		d.ID == "heartbeat/to-a-worker" {
		return true
	}
	return slices.ContainsFunc(d.Clauses(), func(m scenarios.Mark) bool { return m.Clause == f.Clauses[0] })
}

// TestVariations: what the document allows is not blamed.
func TestVariations(t *testing.T) {
	t.Parallel()
	for i, v := range fakeemqp.Variations() {
		if !slow.Enabled() && i%sample != 0 {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			suitetest.Passes(t, runChecks(t, v.Config, v.Single, checks(t)), v.Leaves...)
		})
	}
}

// impostor is a server at both ends that is no broker.
type impostor struct {
	nw    *memnet.Network
	serve func(net.Conn)
}

func (i impostor) Dial(ctx context.Context) (net.Conn, error) {
	return i.nw.DialContext(ctx, "tcp", front)
}

// socket returns what completes the handshake of a socket of a type and then answers each message.
func socket(kind string, answer func(frames [][]byte) [][]byte) func(net.Conn) {
	return func(nc net.Conn) {
		ready := zmtp.Ready(zmtp.Metadata{{Name: zmtp.SocketType, Value: []byte(kind)}})
		_, _ = nc.Write(ready.Append(zmtp.NewGreeting().Append(nil)))
		r := zmtp.NewReader(nc, zmtp.Limits{})
		for item, err := r.Read(); err == nil; item, err = r.Read() {
			if item.Kind == zmtp.IsMessage && answer != nil {
				_, _ = nc.Write(zmtp.AppendMessage(nil, answer(item.Parts)...))
			}
		}
	}
}

// TestNoBrokers: nothing passes on what is no broker.
func TestNoBrokers(t *testing.T) {
	t.Parallel()
	echo := func(frames [][]byte) [][]byte { return frames }
	acknowledge := func(frames [][]byte) [][]byte {
		id := "none"
		if len(frames) > 3 {
			id = string(frames[3])
		}
		return emqp.Ack("ack-"+id, id).Frames()
	}
	for name, serve := range map[string]func(net.Conn){
		"closes":            func(net.Conn) {},
		"hangs":             func(nc net.Conn) { _, _ = io.Copy(io.Discard, nc) },
		"garbage":           func(nc net.Conn) { _, _ = nc.Write(bytes.Repeat([]byte("HTTP/1.1 400\r\n\r\n"), 9)) },
		"greeting alone":    func(nc net.Conn) { _, _ = nc.Write(zmtp.NewGreeting().Append(nil)) },
		"PUB":               socket("PUB", nil),
		"DEALER, echoes":    socket(zmtp.DEALER, echo),
		"ROUTER, silent":    socket(zmtp.ROUTER, nil),
		"ROUTER, echoes":    socket(zmtp.ROUTER, echo),
		"ACK to everything": socket(zmtp.ROUTER, acknowledge),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			picked := checks(t)
			if !slow.Enabled() {
				picked = slices.DeleteFunc(picked, func(c conformance.Check) bool {
					return !strings.HasPrefix(c.Describe().ID, "frames/") && !strings.HasPrefix(c.Describe().ID, "kbai/")
				})
			}
			synctest.Test(t, func(t *testing.T) {
				i := impostor{memnet.New(), serve}
				l, err := i.nw.Listen(front)
				require.NoError(t, err)
				go func() {
					for nc, err := l.Accept(); err == nil; nc, err = l.Accept() {
						go func() { defer nc.Close(); i.serve(nc) }()
					}
				}()
				report := judge(t, run.Server{
					Target: i, Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedAlone, scenarios.NeedRestart},
				}, picked)
				require.NoError(t, l.Close())
				for _, c := range report.Checks {
					assert.NotEqual(t, reports.Pass, c.Verdict, c.ID)
				}
				for _, c := range report.Clauses {
					assert.NotEqual(t, reports.Pass, c.Verdict, c.ID)
				}
			})
		})
	}
}

// TestIdentify: what is no broker is named before any check runs.
func TestIdentify(t *testing.T) {
	t.Parallel()
	for want, serve := range map[string]func(net.Conn){
		"":                      socket(zmtp.ROUTER, nil),
		"it closed":             func(net.Conn) {},
		"no greeting and READY": func(nc net.Conn) { _, _ = io.Copy(io.Discard, nc) },
		"does not fit ours":     socket("PUB", nil),
		"ZMTP syntax":           func(nc net.Conn) { _, _ = nc.Write([]byte("+HI {}\r\n")); _, _ = io.Copy(io.Discard, nc) },
	} {
		synctest.Test(t, func(t *testing.T) {
			nw := memnet.New()
			l, err := nw.Listen(front)
			require.NoError(t, err)
			go func() {
				for nc, err := l.Accept(); err == nil; nc, err = l.Accept() {
					serve(nc)
					nc.Close()
				}
			}()
			_, err = emqpsuite.Protocol().Identify(t.Context(), impostor{nw, serve}, time.Second)
			require.NoError(t, l.Close())
			if want == "" {
				assert.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, "this is not an eMQP broker: ")
			assert.ErrorContains(t, err, want)
		})
	}
}
