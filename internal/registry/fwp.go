package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/docs"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/bugs"
	"github.com/fwpsuite/fwp/fakes/variations"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load/wire"
	"github.com/fwpsuite/fwp/protocols/fwp/crowd"
	"github.com/fwpsuite/fwp/protocols/fwp/double"
	"github.com/fwpsuite/fwp/protocols/fwp/moves"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	fwpwire "github.com/fwpsuite/fwp/protocols/fwp/wire"
	"github.com/fwpsuite/fwp/scenarios"
)

// fwpEntry returns the Faktory Work Protocol.
func fwpEntry() *Entry {
	p := fwpBase()
	p.Extensions = map[string]func() *Entry{string(fwpscript.Faktory): faktoryEntry}
	return p
}

// fwpBase returns it without extensions.
func fwpBase() *Entry {
	return &Entry{
		Suite: fwpsuite.Protocol(), Scheme: target.Scheme{Name: "tcp"}, Ambiguities: docs.Ambiguities, CheckList: crowd.Suite,
		Bugs:       func() []Bug { return bugsOf(bugs.All(), fwpHook) },
		Variations: func() []Variation { return variationsOf(variations.All()) },
		Rules:      rulesOf(fakes.Rules(), fwpHook),
		Embed:      embedFWP, Double: doubleFWP,
		Alphabet: func(...string) *explore.Alphabet { return moves.New() },
		UpgradeBugs: func() []Bug {
			return bugsOf(bugs.Snapshots(), func(c *fakes.Config) *func(*fakes.Snapshot) { return &c.Restored })
		},
		Wire: func(c WireConfig) wire.Protocol { return fwpwire.New(c.Password) },

		Batches: string(fwpscript.Faktory), HasPasswords: true, CanDisrupt: true, HasClientRules: true,
		Clients:        fwpClients(),
		ClientBreaches: fwpsuite.ClientBreaches,
		Authenticate:   fwpsuite.Authenticate, Software: fwpscript.Software, Advice: fwpAdvice,
		ProcessInfo: fwpProcessInfo, ProbeLine: "HELLO {}\r\n",
	}
}

// faktoryEntry returns the protocol with what Faktory adds to it.
var faktoryEntry = sync.OnceValue(func() *Entry {
	p := fwpBase()
	p.Suite, p.Extension = fwpsuite.Extended(fwpscript.Faktory), string(fwpscript.Faktory)
	p.ExtensionVerbs, p.MissingVerbs = fwpscript.Faktory.TestedVerbs(), fwpscript.Faktory.MissingVerbs
	p.CheckList = func() ([]conformance.Check, error) {
		all, err := crowd.Suite()
		if err != nil {
			return nil, err
		}
		added, err := fwpscript.Faktory.Scripts()
		return append(conformance.Scripts(added...), all...), err
	}
	p.Alphabet = func(missing ...string) *explore.Alphabet { return moves.NewWith(fwpscript.Faktory, missing...) }
	p.Wire = func(c WireConfig) wire.Protocol {
		speaker := fwpwire.New(c.Password)
		speaker.Batches = c.Batches
		return speaker
	}
	p.Bugs = func() []Bug { return bugsOf(append(bugs.All(), bugs.Faktory()...), fwpHook) }
	p.Embed = func(c Config) (*Server, error) { return embedExtended(c, fakes.Faktory) }
	return p
})

func fwpHook(c *fakes.Config) *func(*fakes.Event) { return &c.Hook }

// FWPBug returns a bug of FWP that is not in the catalogue.
func FWPBug(f fakes.Bug) Bug { return bugsOf([]fakes.Bug{f}, fwpHook)[0] }

// FWPVariation returns a variation of FWP that is not in the catalogue.
func FWPVariation(v fakes.Variation) Variation { return variationsOf([]fakes.Variation{v})[0] }

// fwpConfig returns the configuration of an embedded server.
func fwpConfig(c *Config) fakes.Config {
	return fakes.Config{
		Iterations: c.Iterations, Password: c.Password, Seed: c.Seed, Listen: c.place(c.Addr).Listen, Dir: c.Dir,
	}
}

// embedFWP starts an embedded server.
func embedFWP(c Config) (*Server, error) { return embedExtended(c, "") }

// embedExtended starts one with an extension.
func embedExtended(c Config, like fakes.Extension) (*Server, error) {
	config := fwpConfig(&c)
	config.Extension = like
	c.apply(&config)
	s := fakes.NewUnstarted(config)
	if err := s.TryStart(); err != nil {
		return nil, err
	}
	return &Server{
		Server: OfferFWP(s, c.network().DialContext), URL: s.URL(), Close: s.Close, Stop: s.Down, Start: s.Up,
	}, nil
}

// OfferFWP returns a started embedded server as a server to check, with all that it offers: FLUSH and exclusive use
// too, since it has no jobs of others. dial connects to it; nil means TCP.
func OfferFWP(s *fakes.Server, dial DialFunc) run.Server {
	if dial == nil {
		dial = TCP{}.DialContext
	}
	access := scenarios.NeedOpen
	if s.Config.Password != "" {
		access = scenarios.NeedPassword
	}
	return run.Server{
		Target: &fwpServer{s, dial}, Password: s.Config.Password, Offers: []scenarios.Need{
			scenarios.NeedAlone, scenarios.NeedFlush, scenarios.NeedRestart, scenarios.NeedKill, scenarios.NeedSignals, access,
		},
	}
}

// fwpServer is an embedded server as a target.
type fwpServer struct {
	server *fakes.Server
	dial   DialFunc
}

// Dial connects to it.
func (s *fwpServer) Dial(ctx context.Context) (net.Conn, error) {
	return s.dial(ctx, "tcp", s.server.Addr())
}

// Restart implements [play.Restarter].
func (s *fwpServer) Restart(context.Context) error { return s.server.Restart() }

// Kill implements [play.Killer].
func (s *fwpServer) Kill(context.Context) error { return s.server.Kill() }

// Signal implements [play.Signaller].
func (s *fwpServer) Signal(_ context.Context, wid, state string) error {
	return s.server.Signal(wid, state)
}

// The bounds of a test double, in bytes: of unfinished lines, and of the jobs that it has.
const (
	maxUnfinished = 32 << 20
	maxStored     = 64 << 20
)

// doubleFWP serves as a test double with a control over HTTP.
func doubleFWP(c DoubleConfig) (*Double, error) {
	config := fwpConfig(&c.Config)
	config.TLS, config.MaxUnfinished, config.MaxStored = c.TLS, maxUnfinished, maxStored
	config.Extension = fakes.Extension(c.Extension)
	variation := Config{Variation: c.Variation} // its bugs are those of the double
	variation.apply(&config)
	bug := func(f Bug) fakes.Bug {
		return fakes.Bug{Name: f.Name, Hook: func() func(*fakes.Event) {
			var single fakes.Config
			f.configure(&single)
			return single.Hook
		}}
	}
	parse := func(name string) (fakes.Bug, error) {
		f, err := c.FindBug(name)
		return bug(f), err
	}
	var rows []fakes.Bug
	for _, f := range c.Bugs {
		rows = append(rows, bug(f))
	}
	d, err := double.New(config, rows...)
	if err != nil {
		return nil, err
	}
	url := d.Server().URL()
	if a, err := target.ParseURL(url); err == nil { // it has a password
		url = a.String()
	}
	return &Double{URL: url, Control: d.Handler(parse), Summary: d.Summary, Close: d.Close}, nil
}

// fwpProcessInfo returns what INFO says about the process of a server. Its contents are not laid down.
func fwpProcessInfo(ctx context.Context, nc net.Conn, password string, timeout time.Duration) (target.ProcessInfo,
	error) {
	start := time.Now()
	info, err := fwpscript.Info(ctx, nc, password, timeout)
	if err != nil {
		return target.ProcessInfo{}, err
	}
	m := target.ProcessInfo{At: start, Uptime: -1, Version: info.Server.Version}
	m.Commands, _ = strconv.ParseInt(fmt.Sprint(info.Server.Commands), 10, 64) // or 0
	if seconds, err := strconv.ParseInt(fmt.Sprint(info.Server.Uptime), 10, 64); err == nil {
		m.Uptime = time.Duration(seconds) * time.Second
	}
	return m, nil
}

// fwpAdvice returns what to do about a server that is not an FWP server.
func fwpAdvice(ctx context.Context, s *target.Server, err error) string {
	if errors.Is(err, fwpsuite.ErrIterations) {
		return "lower the number of iterations (i in the HI of the server): each client must compute them"
	}
	if errors.Is(err, fwpsuite.ErrGreeting) {
		return "is it at its connection limit, or still starting (fwpcheck wait)?"
	}
	if advice := s.Recognize(ctx); advice != "" {
		return advice
	}
	other := "does it use TLS (tcp+tls://)?"
	if s.Address.TLS {
		other = "is it a server without TLS (tcp://)?"
	}
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return "an FWP server greets with +HI {...}: is it at its connection limit, still starting, or " + other
	}
	return fmt.Sprintf("an FWP server greets with +HI {...}: is %s the port on which it takes jobs "+
		"(7419 unless configured otherwise), and %s", s.Address.Port, other)
}
