package check

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/scenarios"
)

// start starts a server without and, if the command takes one, a server with a password. Checks that
// cannot share a server get one of their own.
func (s subject) start(ctx context.Context, timeout time.Duration) (testbed, error) {
	passwords := []string{""}
	if s.endpoint.Starter.Protects() {
		passwords = append(passwords, rand.Text())
	}
	var bed testbed
	var ends []func()
	bed.end = func() {
		for _, end := range ends {
			end()
		}
	}
	for _, password := range passwords {
		server, end, err := s.startOne(ctx, password, timeout)
		if err != nil {
			bed.end()
			return testbed{}, err
		}
		ends, bed.servers = append(ends, end), append(bed.servers, server)
	}
	id, err := s.endpoint.Protocol.Identify(ctx, bed.servers[0].Target, timeout)
	if err != nil {
		bed.end()
	}
	bed.id = id
	return bed, err
}

// startOne starts one server.
func (s subject) startOne(
	ctx context.Context, password string, timeout time.Duration,
) (server conformance.Server, end func(), err error) {
	started, err := s.endpoint.Start(ctx, password, timeout)
	if err != nil {
		return conformance.Server{}, nil, err
	}
	server = conformance.Server{
		Target: &started.Server, Password: password, Offers: s.offersOf(started), Ended: started.Ended,
	}
	server.Fresh = func() (conformance.Server, func(), error) { return s.startOne(ctx, password, timeout) }
	return server, started.End, nil
}

// offersOf returns what a started server offers.
func (s subject) offersOf(started *target.Started) []scenarios.Need {
	access := scenarios.NeedOpen
	if started.Server.Address.Password != "" {
		access = scenarios.NeedPassword
	}
	return append([]scenarios.Need{access}, s.offers(&started.Server)...)
}
