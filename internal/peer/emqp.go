package peer

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/fwpsuite/fwp/conformance/emqpsubject"
	"github.com/fwpsuite/fwp/conformance/emqpsuite"
	"github.com/fwpsuite/fwp/conformance/emqpworker"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/conformance/workers/situations"
	"github.com/fwpsuite/fwp/docs"
	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/fakes/fakeemqp"
	"github.com/fwpsuite/fwp/fakes/fakeemqpworker"
	"github.com/fwpsuite/fwp/internal/double"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load/emqpspeaker"
	"github.com/fwpsuite/fwp/load/protocol"
	"github.com/fwpsuite/fwp/load/workload"
	"github.com/fwpsuite/fwp/scenarios"
)

// emqpPeer returns the EventMQ Protocol.
func emqpPeer() *Peer {
	return &Peer{
		Protocol: emqpsuite.Protocol(), Properties: emqpsuite.Properties,
		Scheme: target.Scheme{Name: "emqp", Port: "47291", Backend: "47290"}, Ambiguities: docs.EMQP,
		Faults:     func() []Fault { return faultsOf(fakeemqp.Faults(), emqpHook) },
		Rules:      rulesOf(fakeemqp.Rules(), emqpHook),
		Variations: emqpVariations,
		Embed:      func(c Config) (*Server, error) { return embedEMQP(c, nil) }, Double: doubleEMQP,
		Serves: "a broker of eMQP with a port for clients, that of --port, and a free one for workers: " +
			"`ready emqp://127.0.0.1:PORT?backend=PORT`",
		Subject:       func(...string) *explore.Subject { return emqpsubject.New() },
		Speaker:       func(c SpeakerConfig) protocol.Protocol { return emqpspeaker.Protocol{Requests: c.Requests} },
		Requests:      "reply-requested of eMQP",
		CheckWorkload: checkEMQPWorkload,
		Workers:       emqpworker.Side,
		Clients:       []*Client{emqpClient()},
		Refusals: map[string]string{
			"fwpcheck upgrade": "its specification does not require that jobs survive a restart of a broker",
			"fwpcheck record": "it knows only the grammar and the rules of FWP; fwpcheck serve --protocol emqp lists " +
				"errors of clients and workers, and a conversation can be written as a script (docs/emqp.md), which fwpcheck " +
				"run plays",
			"fwpcheck client": "its situations are for producers of FWP; test brokers of eMQP with fwpcheck run",
			"fwpcheck clean":  "no command of eMQP removes a job from a queue",
		},
	}
}

func emqpHook(c *emqpConfig) *func(*fakeemqp.Event) { return &c.Hook }

// EMQPFault returns a fault of eMQP that is not in the catalogue.
func EMQPFault(f fakeemqp.Fault) Fault { return faultsOf([]fakeemqp.Fault{f}, emqpHook)[0] }

// emqpClient returns the worker of eMQP.
func emqpClient() *Client {
	return &Client{
		Role: worker, Parties: []string{"C", "K"}, side: emqpworker.Side(),
		faults: func() []Fault {
			return faultsOf(fakeemqpworker.Faults(),
				func(c *fakeemqpworker.Config) *func(*fakeemqpworker.Event) { return &c.Hook })
		},
		variations: func() []Variation { return variationsOf(fakeemqpworker.Variations()) },
		launch: func(c Config, _ *x509.CertPool) situations.InProcess {
			return func(e situations.Environment, _, _ func(string)) situations.Function {
				config := fakeemqpworker.Config{
					URL: e.URL, Queues: e.Queues, Concurrency: e.Concurrency, Heartbeat: e.Heartbeat,
					Dial: c.network().DialContext,
				}
				c.apply(&config)
				return situations.Function{Run: func(ctx context.Context) int { return fakeemqpworker.Run(ctx, config) }}
			}
		},
	}
}

// emqpConfig is the configuration of a broker, and whether clients and workers have one port.
type emqpConfig struct {
	fakeemqp.Config

	single bool
}

func emqpVariations() (variations []Variation) {
	for _, v := range fakeemqp.Variations() {
		variations = append(variations, Variation{Name: v.Name, Summary: v.Summary, configure: func(config any) {
			*config.(*emqpConfig) = emqpConfig{v.Config(), v.Single} //nolint:forcetypeassert // embedEMQP calls it
		}})
	}
	return variations
}

// embedEMQP starts an embedded broker; watch is called before its faults, and may be nil.
func embedEMQP(c Config, watch func(*fakeemqp.Event)) (*Server, error) {
	config := func() (e emqpConfig) { // some variations and faults have state
		e.Hook = watch
		c.apply(&e)
		return e
	}
	b := &emqpBroker{network: c.network(), config: config, front: c.listener(c.Addr)}
	if !config().single {
		b.back = c.listener(cmp.Or(c.Workers, c.another()))
	}
	if err := b.start(); err != nil {
		return nil, err
	}
	url := "emqp://" + b.addr
	if b.back != nil {
		_, port, err := net.SplitHostPort(b.backAddr)
		if err != nil {
			b.close()
			return nil, err
		}
		url += "?backend=" + port
	}
	return &Server{
		Server: run.Server{
			Target: b, Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedAlone, scenarios.NeedRestart},
		},
		URL: url, Close: b.close,
	}, nil
}

// emqpBroker is an embedded broker as a target that can be started again, on the same ports.
type emqpBroker struct {
	network     Network
	config      func() emqpConfig
	front, back func() (net.Listener, error) // back is nil if there is one port

	mu             sync.Mutex
	broker         *fakeemqp.Broker // nil: it does not run
	addr, backAddr string
}

// start starts the broker.
func (b *emqpBroker) start() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	front, err := b.front()
	if err != nil {
		return err
	}
	b.addr, b.backAddr = front.Addr().String(), front.Addr().String()
	var back net.Listener
	if b.back != nil {
		if back, err = b.back(); err != nil {
			_ = front.Close()
			return err
		}
		b.backAddr = back.Addr().String()
	}
	b.broker = fakeemqp.Start(b.config().Config, front, back)
	return nil
}

// close ends the broker, if it runs.
func (b *emqpBroker) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broker != nil {
		b.broker.Close()
	}
	b.broker = nil
}

// addresses returns where clients and workers connect to.
func (b *emqpBroker) addresses() (front, back string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.addr, b.backAddr
}

// Dial connects to it as a client.
func (b *emqpBroker) Dial(ctx context.Context) (net.Conn, error) {
	front, _ := b.addresses()
	return b.network.DialContext(ctx, "tcp", front)
}

// DialBackend implements [play.BackendTarget].
func (b *emqpBroker) DialBackend(ctx context.Context) (net.Conn, error) {
	_, back := b.addresses()
	return b.network.DialContext(ctx, "tcp", back)
}

// Restart implements [play.Restarter].
func (b *emqpBroker) Restart(context.Context) error {
	b.close()
	return b.start()
}

// doubleEMQP serves as a test double. A message that the document does not allow is a mistake.
func doubleEMQP(c DoubleConfig) (*Double, error) {
	w, numbers := new(watch), map[string]int64{} // of peers, by their identity
	s, err := embedEMQP(c.Config, func(e *fakeemqp.Event) {
		if e.Sent {
			return
		}
		w.count(func(s *double.Summary) {
			if numbers[e.Peer] == 0 {
				numbers[e.Peer] = int64(len(numbers) + 1)
			}
			s.Commands++
			if err := emqpMistake(e); err != nil {
				s.Mistakes = append(s.Mistakes, double.Entry{
					Mistake: err.Error(), Connection: numbers[e.Peer], Worker: e.Peer, Command: emqpCommand(e),
				})
			}
		})
	})
	if err != nil {
		return nil, err
	}
	return w.double(s), nil
}

// emqpMistake returns why a message is not one that its peer may send, nil if it is.
func emqpMistake(e *fakeemqp.Event) error {
	m, err := emqp.Parse(e.Frames)
	if err == nil && m.Command == emqp.HEARTBEAT && e.Role == fakeemqp.Client {
		err = errors.New("a HEARTBEAT is valid only after an INFORM")
	}
	return err
}

// emqpCommand returns the command of a message that may not be one.
func emqpCommand(e *fakeemqp.Event) string {
	if len(e.Frames) > 2 && len(e.Frames[2]) > 0 {
		return string(e.Frames[2])
	}
	return "a message"
}

// checkEMQPWorkload returns an error for a workload with something that no message of eMQP says.
func checkEMQPWorkload(w *workload.Workload) error {
	for _, no := range []struct {
		has       bool
		what, why string
	}{
		{w.FailShare > 0, "fail_share", "eMQP has no message for a failed job: remove it"},
		{w.Delay.Max > 0, "delay", "eMQP has no scheduled jobs: remove it"},
		{w.Topology.Kind == workload.Pool, "topology", "each connection is a worker: use single"},
	} {
		if no.has {
			return fmt.Errorf("%s does not work with eMQP: %s", no.what, no.why)
		}
	}
	return nil
}
