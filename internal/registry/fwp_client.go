package registry

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"sync/atomic"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	fakeworker "github.com/fwpsuite/fwp/fakes/worker"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
)

// fwpClients returns the worker and the producer of FWP.
func fwpClients() []*Client {
	return []*Client{{
		Role: worker, Parties: []string{"C", "K"}, launch: launchFWP,
		bugs:       func() []Bug { return fwpClientBugs(fakeworker.Bugs()) },
		variations: func() []Variation { return variationsOf(fakeworker.Variations()) },
	}, {
		Role: producer, Parties: []string{"C", "P"}, launch: launchFWP,
		bugs:       func() []Bug { return fwpClientBugs(fakeworker.ProducerBugs()) },
		variations: func() []Variation { return variationsOf(fakeworker.ProducerVariations()) },
	}}
}

func fwpClientBugs(all []fakeworker.Bug) (bugs []Bug) {
	for _, f := range all {
		bugs = append(bugs, Bug{f.Name, f.Clauses, f.Summary, func(config any) {
			c := config.(*fakeworker.Config) //nolint:forcetypeassert // the client of the same protocol calls it
			before := c.Hook
			c.Hook = nil
			f.Configure(c)
			c.Hook = catalogue.Chain(before, c.Hook)
		}})
	}
	return bugs
}

// FWPClientBug returns a bug of a client of FWP that is not in the catalogue.
func FWPClientBug(f fakeworker.Bug) Bug { return fwpClientBugs([]fakeworker.Bug{f})[0] }

// launchFWP returns what starts a worker, or a producer where there is input.
func launchFWP(c Config, roots *x509.CertPool) fwpsituations.InProcess {
	var started atomic.Int64
	return func(e fwpsituations.Environment, printed, logged func(string)) fwpsituations.Function {
		dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
			hostPort, err := e.Resolve(addr)
			if err != nil {
				return nil, err
			}
			return c.network().DialContext(ctx, network, hostPort)
		}
		config := fakeworker.Config{
			Queues: e.Queues, Concurrency: e.Concurrency, Lookup: e.Lookup, Dial: dial, Log: logged,
			PID: 1000 + int(started.Add(1)), Hostname: "host",
			TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		}
		c.apply(&config)
		w := fakeworker.New(config)
		run := w.Run
		if e.Input != nil {
			run = func(ctx context.Context) int { return w.Produce(ctx, e.Input, printed) }
		}
		return fwpsituations.Function{Run: run, Signal: w.Signal}
	}
}
