package suite_test

import (
	"bytes"
	"context"
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
	"github.com/fwpsuite/fwp/conformance/run"
	fakeemqp "github.com/fwpsuite/fwp/fakes/emqp"
	"github.com/fwpsuite/fwp/fakes/store"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/internal/proof/suitetest"
	"github.com/fwpsuite/fwp/protocols/emqp"
	emqpsuite "github.com/fwpsuite/fwp/protocols/emqp/suite"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// runChecks plays checks on a broker, in virtual time.
func runChecks(t *testing.T, config func() fakeemqp.Config, checks []conformance.Check) (r *reports.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server, end, err := start(config)
		require.NoError(t, err)
		r = judge(t, server, checks)
		end()
	})
	return r
}

// start starts a broker on a network of its own.
func start(config func() fakeemqp.Config) (server run.Server, end func(), err error) {
	shared := config() // over restarts
	broker := suitetest.NewBroker(func() fakeemqp.Config { return shared }, false)
	return run.Server{
		Target: broker, Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedAlone, scenarios.NeedRestart},
		StartServer: func() (run.Server, func(), error) { return start(config) },
	}, broker.Close, broker.Restart(context.Background())
}

func judge(t *testing.T, server run.Server, checks []conformance.Check) *reports.Report {
	runner := &run.Runner{
		Suite: emqpsuite.Protocol(), Checks: checks, Virtual: true, Servers: []run.Server{server},
	}
	return runner.Run(t.Context())
}

func withHook(hook func() func(*fakeemqp.Event)) func() fakeemqp.Config {
	return func() fakeemqp.Config { return fakeemqp.Config{Hook: hook()} }
}

func plainConfig() fakeemqp.Config { return fakeemqp.Config{} }

func checks(t *testing.T) []conformance.Check {
	t.Helper()
	return append(suitetest.Scripts(t, emqpsuite.Protocol()), emqpsuite.Properties()...)
}

func TestScriptsAreInOrder(t *testing.T) {
	t.Parallel()
	suitetest.CheckOrder(t, emqpsuite.Protocol())
}

// TestClausesDocument writes docs/emqp-clauses.md.
func TestClausesDocument(t *testing.T) {
	t.Parallel()
	golden.Document(t, "../../../docs/emqp-clauses.md", suitetest.Document(t, emqpsuite.Protocol(),
		"Written by `"+updateCommand+"`; do not edit. Levels are described in\n"+
			"[verdicts.md](verdicts.md). A reading outranks its statement. S is a broker, K a worker or scheduler. A check\n"+
			"is the script of that name below `protocols/emqp/script/scripts`; a source is a heading of the document and a "+
			"line of it."), updateCommand)
}

// updateCommand is the command that writes the documents.
const updateCommand = "go test ./protocols/emqp/suite -run Document -update"

func TestConformingBroker(t *testing.T) {
	t.Parallel()
	report := runChecks(t, plainConfig, checks(t))
	suitetest.CheckPasses(t, report)
	suitetest.CheckTimes(t, report, suitetest.Scripts(t, emqpsuite.Protocol()))
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
			if !golden.IsSlow() {
				picked = slices.DeleteFunc(picked, func(c conformance.Check) bool {
					return !strings.HasPrefix(c.Describe().ID, "frames/") && !strings.HasPrefix(c.Describe().ID, "kbai/")
				})
			}
			synctest.Test(t, func(t *testing.T) {
				place := memnet.NewPlace()
				var group store.Group
				go group.Serve(place.MustListen(), serve)
				report := judge(t, run.Server{
					Target: place, Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedAlone, scenarios.NeedRestart},
				}, picked)
				group.Close()
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
			place := memnet.NewPlace()
			var group store.Group
			go group.Serve(place.MustListen(), serve)
			_, err := emqpsuite.Protocol().Identify(t.Context(), place, time.Second)
			group.Close()
			if want == "" {
				assert.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, "this is not an eMQP broker: ")
			assert.ErrorContains(t, err, want)
		})
	}
}
