package check

import (
	"context"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/fakeworkq"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/emqpdialect"
)

// subject is the server under test.
type subject struct {
	endpoint     program.Endpoint
	alone, flush bool // what may be done to a server of the user's
	fault        fakes.Fault
	workq        fakeworkq.Fault // the same of a Workq server
	emqp         string          // the same of an eMQP broker, by its name
}

// subject returns the server that flags and environment name. A flag without an effect on it is an error.
func (o *runOptions) subject(lookup func(string) (string, bool)) (subject, error) {
	e, err := o.targetFlags.Endpoint(o.given, lookup, &o.operatorFlags, "allow-shared", "allow-flush")
	if err != nil {
		return subject{}, err
	}
	if e.Protocol.Name != conformance.FWP().Name {
		s := subject{endpoint: e, alone: o.allowShared || o.allowFlush, flush: o.allowFlush}
		switch {
		case o.fault == "":
		case e.Protocol.Name == emqpdialect.Name:
			s.emqp = o.fault
			err = embeddedFault(&s.endpoint, o.fault)
		default:
			s.workq, err = workqFault(&s.endpoint, o.fault)
		}
		return s, err
	}
	fault, err := e.SetFault(o.fault)
	return subject{endpoint: e, alone: o.allowShared || o.allowFlush, flush: o.allowFlush, fault: fault}, err
}

// offers returns what a server of the user's offers beside open or password.
func (s subject) offers(server *target.Server) []scenarios.Need {
	var offers []scenarios.Need
	for _, can := range []struct {
		need scenarios.Need
		yes  bool
	}{
		{scenarios.NeedSignals, server.Can(target.Quiet) && server.Can(target.Terminate)},
		{scenarios.NeedRestart, server.Can(target.Restart)},
		{scenarios.NeedKill, server.Can(target.Kill)},
		{scenarios.NeedAlone, s.alone || s.endpoint.Ours()},
		{scenarios.NeedFlush, s.flush || s.endpoint.Ours()},
	} {
		if can.yes {
			offers = append(offers, can.need)
		}
	}
	return offers
}

// provide returns, for each need, how the user can meet it.
func provide(s subject) map[scenarios.Need]string {
	if s.endpoint.Choice.Embedded {
		return nil // the embedded server meets all
	}
	start, embedded := "let fwpcheck --start the server, or ", "leave out --url (and FAKTORY_URL)"
	password := "start the server with a password, and put it into the URL (tcp://:PASSWORD@HOST:PORT) or name a file " +
		"with --password-file"
	if s.endpoint.Starter != nil {
		start, embedded = "", "leave out --start"
		password = "write {password} where the command of --start takes it: an empty word stands for none"
	}
	return map[scenarios.Need]string{
		scenarios.NeedOpen:     "give the --url of a server that asks for no password",
		scenarios.NeedPassword: password,
		scenarios.NeedSignals:  "give --control COMMAND, in which {action} is quiet or terminate and {wid} the worker's id",
		scenarios.NeedRestart:  start + "give --control COMMAND, in which {action} is restart",
		scenarios.NeedKill:     start + "give --control COMMAND, in which {action} is kill",
		scenarios.NeedAlone:    "give --allow-shared, if no other client uses the server",
		scenarios.NeedFlush:    "give --allow-flush, if everything on the server may be deleted",
		scenarios.NeedEmbedded: embedded + ": this check tests the embedded server",
	}
}

// testbed is the servers on which checks are run.
type testbed struct {
	servers []conformance.Server
	prepare func(map[string]string) (conformance.Server, func(), error)
	id      conformance.Identity
	end     func()
}

// open starts the embedded servers, or connects to the user's server.
func (s subject) open(ctx context.Context, timeout time.Duration) (testbed, error) {
	switch {
	case s.endpoint.Starter != nil:
		return s.start(ctx, timeout)
	case !s.endpoint.Choice.Embedded:
		return s.connect(ctx, timeout)
	}
	if s.endpoint.Protocol.Name == emqpdialect.Name {
		server, end, err := embedEMQP(ctx, s.emqp)
		return testbed{servers: []conformance.Server{server}, end: end}, err
	}
	if s.endpoint.Protocol.Name != conformance.FWP().Name {
		server, end, err := embedWorkq(ctx, s.workq)
		return testbed{servers: []conformance.Server{server}, end: end}, err
	}
	servers, end, err := embedAll(ctx, s.fault)
	if err != nil {
		return testbed{}, err
	}
	id, err := conformance.Identify(ctx, servers[0].Target, timeout)
	if err != nil {
		end()
		return testbed{}, fmt.Errorf("the embedded server: %w", err)
	}
	return testbed{servers: servers, prepare: preparer(ctx, s.fault), id: id, end: end}, nil
}

// connect identifies the user's server and authenticates.
func (s subject) connect(ctx context.Context, timeout time.Duration) (testbed, error) {
	id, err := s.endpoint.Identify(ctx, timeout)
	if err != nil {
		return testbed{}, err
	}
	offers := append([]scenarios.Need{scenarios.NeedOpen}, s.offers(s.endpoint.Server)...)
	if id.Protected {
		offers[0] = scenarios.NeedPassword
	}
	server := conformance.Server{Target: s.endpoint.Server, Password: s.endpoint.Password, Offers: offers}
	return testbed{servers: []conformance.Server{server}, id: id, end: func() {}}, nil
}
