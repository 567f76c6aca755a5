package registry

import (
	"bufio"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/docs"
	fakeworkq "github.com/fwpsuite/fwp/fakes/workq"
	fakeworkqworker "github.com/fwpsuite/fwp/fakes/workq/worker"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load/wire"
	"github.com/fwpsuite/fwp/protocols/fwp/double"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
	workqsituations "github.com/fwpsuite/fwp/protocols/workq/situations"
	workqsuite "github.com/fwpsuite/fwp/protocols/workq/suite"
	workqwire "github.com/fwpsuite/fwp/protocols/workq/wire"
	"github.com/fwpsuite/fwp/scenarios"
)

// workqEntry returns Workq.
func workqEntry() *Entry {
	return &Entry{
		Suite: workqsuite.Protocol(), Scheme: target.Scheme{Name: "workq", Port: "9922"},
		Ambiguities: docs.Workq, Properties: workqsuite.Properties,
		Bugs:       func() []Bug { return bugsOf(fakeworkq.Bugs(), workqHook) },
		Rules:      rulesOf(fakeworkq.Rules(), workqHook),
		Variations: func() []Variation { return variationsOf(fakeworkq.Variations()) },
		Embed:      func(c Config) (*Server, error) { return embedWorkq(c, nil) }, Double: doubleWorkq,
		ServeHelp:   "Workq, without a control, and prints `ready workq://127.0.0.1:PORT`",
		Alphabet:    func(...string) *explore.Alphabet { return workqsuite.Alphabet() },
		Wire:        func(c WireConfig) wire.Protocol { return workqwire.Wire{Requests: c.Requests} },
		Workers:     workqsituations.Side,
		ProcessInfo: workqProcessInfo, ProbeLine: "inspect server\r\n",
		Clients:  []*Client{workqClient()},
		Requests: "the run command of Workq",
		Refusals: map[string]string{
			"fwpcheck upgrade": "its document does not require that jobs survive a restart",
			"fwpcheck record": "it knows only the grammar and the rules of FWP; write the conversation as a script " +
				"(docs/workq.md), which fwpcheck run plays",
			"fwpcheck client": "its situations are for producers of FWP; test a producer of Workq with fwpcheck serve " +
				"--protocol workq, which lists malformed commands",
			"fwpcheck clean": "jobs of Workq end with their time to live, and delete removes them by id",
		},
	}
}

// workqProcessInfo returns when the process of a server was started, as inspect says it.
func workqProcessInfo(ctx context.Context, nc net.Conn, _ string, timeout time.Duration) (m target.ProcessInfo,
	err error) {
	defer nc.Close()
	deadline, _ := ctx.Deadline()
	if limit := time.Now().Add(timeout); deadline.IsZero() || limit.Before(deadline) {
		deadline = limit
	}
	_ = nc.SetDeadline(deadline)
	if _, err := io.WriteString(nc, "inspect server\r\n"); err != nil {
		return m, err
	}
	const maxReply = 4 << 10 // bytes of the reply
	for lines := bufio.NewScanner(io.LimitReader(nc, maxReply)); lines.Scan(); {
		if started, ok := strings.CutPrefix(lines.Text(), "started "); ok {
			return target.ProcessInfo{At: time.Now(), Uptime: -1, Started: started}, nil
		}
	}
	return m, errors.New("inspect server does not say when it was started")
}

func workqHook(c *fakeworkq.Config) *func(*fakeworkq.Event) { return &c.Hook }

// WorkqBug returns a bug of Workq that is not in the catalogue.
func WorkqBug(f fakeworkq.Bug) Bug { return bugsOf([]fakeworkq.Bug{f}, workqHook)[0] }

// workqClient returns the worker of Workq.
func workqClient() *Client {
	return &Client{
		Role: worker, Parties: []string{"C", "K"}, side: workqsituations.Side(),
		bugs: func() []Bug {
			return bugsOf(fakeworkqworker.Bugs(),
				func(c *fakeworkqworker.Config) *func(*fakeworkqworker.Event) { return &c.Hook })
		},
		variations: func() []Variation { return variationsOf(fakeworkqworker.Variations()) },
		launch: func(c Config, _ *x509.CertPool) fwpsituations.InProcess {
			return func(e fwpsituations.Environment, _, _ func(string)) fwpsituations.Function {
				config := fakeworkqworker.Config{URL: e.URL, Concurrency: e.Concurrency, Dial: c.network().DialContext}
				c.apply(&config)
				return fwpsituations.Function{Run: func(ctx context.Context) int { return fakeworkqworker.Run(ctx, config) }}
			}
		},
	}
}

// embedWorkq starts an embedded server; watch is called before its bugs, and may be nil.
func embedWorkq(c Config, watch func(*fakeworkq.Event)) (*Server, error) {
	at := c.place(c.Addr)
	l, err := at.Listen()
	if err != nil {
		return nil, err
	}
	config := fakeworkq.Config{Hook: watch}
	c.apply(&config)
	s := fakeworkq.NewServer(config)
	go s.Serve(l)
	return &Server{
		Server: run.Server{
			Target: at,
			Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedAlone, scenarios.NeedFlush},
		},
		URL: "workq://" + at.addr, Close: s.Close,
	}, nil
}

// doubleWorkq serves as a test double. A command that cannot be read is a mistake.
func doubleWorkq(c DoubleConfig) (*Double, error) {
	w := new(watch)
	s, err := embedWorkq(c.Config, func(e *fakeworkq.Event) {
		w.count(func(s *double.Summary) {
			switch {
			case e.Point == fakeworkq.Parsed && e.Err != nil:
				s.Mistakes = append(s.Mistakes, double.Entry{
					Mistake: e.Err.Error(), Connection: int64(e.Conn), Worker: "a client", Command: e.Command.Verb,
				})
			case e.Point == fakeworkq.Ran:
				s.Commands++
				if e.Reply.Error != "" && e.Reply.Error != "TIMEOUT" {
					s.Refusals++
				}
			}
		})
	})
	if err != nil {
		return nil, err
	}
	return w.double(s), nil
}
