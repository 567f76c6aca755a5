package registry

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/docs"
	fakeemqp "github.com/fwpsuite/fwp/fakes/emqp"
	fakeemqpworker "github.com/fwpsuite/fwp/fakes/emqp/worker"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/wire"
	"github.com/fwpsuite/fwp/protocols/emqp"
	emqpsituations "github.com/fwpsuite/fwp/protocols/emqp/situations"
	emqpsuite "github.com/fwpsuite/fwp/protocols/emqp/suite"
	emqpwire "github.com/fwpsuite/fwp/protocols/emqp/wire"
	"github.com/fwpsuite/fwp/protocols/fwp/double"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
	"github.com/fwpsuite/fwp/scenarios"
)

// emqpEntry returns the EventMQ Protocol.
func emqpEntry() *Entry {
	return &Entry{
		Suite: emqpsuite.Protocol(), Properties: emqpsuite.Properties,
		Scheme: target.Scheme{Name: "emqp", Port: "47291", Backend: "47290"}, Ambiguities: docs.EMQP,
		Bugs:       func() []Bug { return bugsOf(fakeemqp.Bugs(), emqpHook) },
		Rules:      rulesOf(fakeemqp.Rules(), emqpHook),
		Variations: emqpVariations,
		Embed:      func(c Config) (*Server, error) { return embedEMQP(c, nil) }, Double: doubleEMQP,
		ServeHelp: "a broker of eMQP with a port for clients, that of --port, and that of --worker-port for workers: " +
			"`ready emqp://127.0.0.1:PORT?backend=PORT`",
		Alphabet:      func(...string) *explore.Alphabet { return emqpsuite.Alphabet() },
		Wire:          func(c WireConfig) wire.Protocol { return emqpwire.Wire{Requests: c.Requests} },
		Requests:      "reply-requested of eMQP",
		CheckWorkload: checkEMQPWorkload,
		Workers:       emqpsituations.Side,
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

// EMQPBug returns a bug of eMQP that is not in the catalogue.
func EMQPBug(f fakeemqp.Bug) Bug { return bugsOf([]fakeemqp.Bug{f}, emqpHook)[0] }

// emqpClient returns the worker of eMQP.
func emqpClient() *Client {
	return &Client{
		Role: worker, Parties: []string{"C", "K"}, side: emqpsituations.Side(),
		bugs: func() []Bug {
			return bugsOf(fakeemqpworker.Bugs(),
				func(c *fakeemqpworker.Config) *func(*fakeemqpworker.Event) { return &c.Hook })
		},
		variations: func() []Variation { return variationsOf(fakeemqpworker.Variations()) },
		launch: func(c Config, _ *x509.CertPool) fwpsituations.InProcess {
			return func(e fwpsituations.Environment, _, _ func(string)) fwpsituations.Function {
				config := fakeemqpworker.Config{
					URL: e.URL, Queues: e.Queues, Concurrency: e.Concurrency, Heartbeat: e.Heartbeat,
					Dial: c.network().DialContext,
				}
				c.apply(&config)
				return fwpsituations.Function{Run: func(ctx context.Context) int { return fakeemqpworker.Run(ctx, config) }}
			}
		},
	}
}

// emqpConfig is the configuration of a broker, and whether clients and workers have one port.
type emqpConfig struct {
	fakeemqp.Config

	hasSinglePort bool
}

func emqpVariations() (variations []Variation) {
	for _, v := range fakeemqp.Variations() {
		variations = append(variations, Variation{v.Name, v.Summary, v.Allows, func(config any) {
			*config.(*emqpConfig) = emqpConfig{v.Config(), v.HasOneSocket} //nolint:forcetypeassert // embedEMQP calls it
		}})
	}
	return variations
}

// embedEMQP starts an embedded broker; watch is called before its bugs, and may be nil.
func embedEMQP(c Config, watch func(*fakeemqp.Event)) (*Server, error) {
	config := func() (e emqpConfig) { // some variations and bugs have state
		e.Hook = watch
		c.apply(&e)
		return e
	}
	front, back := c.place(c.Addr), c.place(cmp.Or(c.Workers, c.freeAddr()))
	service := &fakeemqp.Service{Config: func() fakeemqp.Config { return config().Config }, Front: front.Listen}
	hasSinglePort := config().hasSinglePort
	if hasSinglePort {
		back = front
	} else {
		service.Back = back.Listen
	}
	if err := service.Restart(context.Background()); err != nil {
		return nil, err
	}
	url := "emqp://" + front.addr
	if !hasSinglePort {
		_, port, _ := net.SplitHostPort(back.addr) // the address of a listener has one
		url += "?backend=" + port
	}
	return &Server{
		Server: run.Server{
			Target: emqpTarget{front, service, back},
			Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedAlone, scenarios.NeedRestart},
		},
		URL: url, Close: service.Close,
	}, nil
}

// emqpTarget is an embedded broker as a target that can be started again.
type emqpTarget struct {
	*place
	*fakeemqp.Service

	back *place
}

// DialBackend implements [play.BackendTarget].
func (t emqpTarget) DialBackend(ctx context.Context) (net.Conn, error) { return t.back.Dial(ctx) }

// doubleEMQP serves as a test double. A message that the document does not allow is a mistake.
func doubleEMQP(c DoubleConfig) (*Double, error) {
	w, numbers := new(watch), map[string]int64{} // of peers, by their identity
	s, err := embedEMQP(c.Config, func(e *fakeemqp.Event) {
		if e.IsFromBroker {
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
func checkEMQPWorkload(w *plan.Workload) error {
	for _, row := range []struct {
		isSet       bool
		key, reason string
	}{
		{w.FailShare > 0, "fail_share", "eMQP has no message for a failed job: remove it"},
		{w.Delay.Max > 0, "delay", "eMQP has no scheduled jobs: remove it"},
		{w.Topology.Kind == plan.Pool, "topology", "each connection is a worker: use single"},
	} {
		if row.isSet {
			return fmt.Errorf("%s does not work with eMQP: %s", row.key, row.reason)
		}
	}
	return nil
}
