package bench

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/input"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/agents"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/workload"
)

// tokenVariable is the variable of the environment that may have the token of a coordinator and its agents.
const tokenVariable = "FWPBENCH_TOKEN" //nolint:gosec // its name

// passwordVariable is the variable of the environment that has the password of the target, for an agent.
const passwordVariable = "FWPBENCH_PASSWORD" //nolint:gosec // its name

// agentsFlags are the flags of a run by agents.
type agentsFlags struct {
	number    int
	cross     bool
	pushing   int // agents that have all producers; with one jobs cross
	spawn     bool
	within    time.Duration
	listen    string
	cert, key string
	nats      natsFlags
}

// natsFlags are how a NATS server is reached.
type natsFlags struct{ url, creds, ca string }

// declareFiles adds the flags that the coordinator and its agents share.
func (n *natsFlags) declareFiles(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&n.creds, "nats-creds", "", "log in to NATS with the credentials in `FILE`")
	f.StringVar(&n.ca, "nats-ca", "", "trust the authorities in `FILE` (PEM) for NATS, and no others")
}

// access returns how the NATS server of a URL is reached, by clients with a token.
func (n *natsFlags) access(url, token string) (agents.Access, error) {
	a := agents.Access{URL: url, Credentials: n.creds, Token: token}
	if n.ca == "" {
		return a, nil
	}
	authorities, err := input.Read(n.ca, mostCertificates)
	if err != nil {
		return a, fmt.Errorf("--nats-ca: %w", err)
	}
	a.TLS = &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	if !a.TLS.RootCAs.AppendCertsFromPEM(authorities) {
		return a, fmt.Errorf("--nats-ca: %s has no certificate (PEM)", n.ca)
	}
	return a, nil
}

// mostCertificates is how many bytes a file of certificates has at most.
const mostCertificates = 1 << 20

// declare adds the flags.
func (a *agentsFlags) declare(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&a.number, "agents", 0, "have `N` agents put the load on the server (fwpbench agent), each with its segment")
	f.BoolVar(&a.cross, "cross", false, "have jobs cross agents: what one pushes, the workers of any may fetch")
	f.IntVar(&a.pushing, "producer-agents", 0,
		"give `N` of the agents all producers and the others all workers, so that every job crosses")
	f.BoolVar(&a.spawn, "spawn", false, "start the agents on this machine")
	f.DurationVar(&a.within, "agents-within", time.Minute, "give up unless all agents have joined within that time")
	f.StringVar(&a.listen, "listen", "127.0.0.1:0", "take agents at `HOST:PORT`, with an embedded NATS server")
	f.StringVar(&a.cert, "listen-cert", "", "encrypt (TLS), with the certificate in `FILE` (PEM)")
	f.StringVar(&a.key, "listen-key", "", "the key of --listen-cert, in `FILE` (PEM)")
	f.StringVar(&a.nats.url, "nats", "", "meet the agents at the NATS server at `URL`: nats://[USER:PASSWORD@]HOST:4222")
	a.nats.declareFiles(cmd)
}

// mostAgents bounds the agents of a run.
const mostAgents = 1000

// validate checks the flags against each other.
func (o *benchOptions) validateAgents() error {
	a := &o.agents
	if a.number == 0 && !o.given.Changed("agents") {
		if flag := o.firstGiven("cross", "producer-agents", "spawn", "agents-within", "listen", "listen-cert", "listen-key",
			"nats", "nats-creds", "nats-ca"); flag != "" {
			return fmt.Errorf("--%s is about agents: add --agents N", flag)
		}
		return nil
	}
	for _, no := range withoutAgents {
		if o.given.Changed(no.flag) {
			return fmt.Errorf("--%s does not work with --agents: %s", no.flag, no.why)
		}
	}
	switch {
	case a.number < 1 || a.number > mostAgents:
		return fmt.Errorf("--agents must be from 1 to %d", mostAgents)
	case o.given.Changed("producer-agents") && a.pushing < 1:
		return errors.New("--producer-agents must be 1 or more")
	case a.within <= 0:
		return errors.New("--agents-within must be more than 0")
	case (a.cert == "") != (a.key == ""):
		return errors.New("--listen-cert and --listen-key belong together")
	case a.nats.url != "" && (o.given.Changed("listen") || a.cert != ""):
		return errors.New("--nats names a NATS server, and --listen is about an embedded one: leave one of them out")
	}
	return nil
}

// withoutAgents says why a flag does not work with --agents.
var withoutAgents = []struct{ flag, why string }{
	{"segment", "each agent gets its segment from the coordinator"},
	{"start-at", "the load begins when all agents are ready"},
	{"history", "it proves by the order of calls, and the clocks of agents are known within a bound only; " +
		"give it without"},
	{"processors", "each agent has a flag of its own for that"},
	{"disrupt", undisrupted},
	{"disrupt-every", undisrupted},
}

// undisrupted says why a load of agents is not disrupted.
const undisrupted = "agents do not hear of what is done to the target, and would take it for its faults; " +
	"leave --agents out: one process has some ten thousand connections"

// loopback reports whether only this machine can reach the embedded NATS server.
func (a *agentsFlags) loopback() bool {
	host, _, err := net.SplitHostPort(a.listen)
	return err == nil && isLoopback(host)
}

// mostAuthorities is how many bytes the authorities of a target may have: the plan is in every state of the run.
const mostAuthorities = 64 << 10

// agentLoad is what the command line of the coordinator says of the load, for an agent.
type agentLoad struct {
	Workload string        `json:"workload"` // of the whole load, as YAML
	Seed     uint64        `json:"seed,string"`
	URL      string        `json:"url"`
	Locked   bool          `json:"locked,omitempty"` // the target has a password, which agents know from elsewhere
	Overload string        `json:"overload"`
	Engine   string        `json:"engine"`
	Pace     float64       `json:"connect_rate"`
	Timeout  time.Duration `json:"timeout_ns,omitempty"`
	Requests bool          `json:"requests,omitempty"`
	Pushing  int           `json:"producer_agents,omitempty"` // where jobs cross: how many have all producers

	TLS target.TLSOptions `json:"tls,omitzero"`
}

// hub is where agents meet their coordinator: a NATS server, and what connects to it.
type hub struct {
	agents.Config

	server *agents.Server // nil: one that runs already
	url    string         // for agents, without a token
	token  string
	given  bool // the token was given, and is not printed

	password string // of the target; it is not in the plan
}

// open connects to the NATS server, and starts it unless it runs already.
func (a *agentsFlags) open(p process) (h *hub, err error) {
	h = &hub{}
	if h.token, h.given = p.LookupEnv(tokenVariable); h.token == "" {
		h.token, h.given = agents.NewToken(), false
	}
	if a.nats.url != "" {
		access, err := a.nats.access(a.nats.url, "")
		if err != nil {
			return nil, err
		}
		h.url = a.nats.url
		if h.Conn, err = agents.Connect(access, "coordinator"); err != nil {
			return nil, fmt.Errorf("--nats: %w: start it first, or leave --nats out: fwpbench has a NATS server of its own", err)
		}
		return h, nil
	}
	config := agents.ServerConfig{Listen: a.listen, Token: h.token, Refused: func(name, address string) {
		p.Logf("agent %s at %s refused: its token is another one", cmp.Or(name, "without a name"), address)
	}}
	scheme := "nats"
	if a.cert != "" {
		scheme = "tls"
		pair, err := tls.LoadX509KeyPair(a.cert, a.key)
		if err != nil {
			return nil, fmt.Errorf("--listen-cert: %w", err)
		}
		config.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	if h.server, err = agents.StartServer(config); err != nil {
		return nil, fmt.Errorf("--listen %s: %w", a.listen, err)
	}
	h.url = scheme + "://" + h.server.Address().String()
	if h.Conn, err = h.server.Connect(h.token, "coordinator"); err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

// close ends the connection, and the server if it was started.
func (h *hub) close() {
	if h.Conn != nil {
		h.Conn.Close()
	}
	if h.server != nil {
		h.server.Close()
	}
}

// command returns the command that starts an agent.
func (h *hub) command() string {
	scheme, rest, _ := strings.Cut(h.url, "://")
	switch {
	case h.given:
		return fmt.Sprintf("fwpbench agent %s   (with the same %s)", h.url, tokenVariable)
	case h.server == nil:
		return fmt.Sprintf("%s=%s fwpbench agent %s", tokenVariable, h.token, h.url)
	}
	return fmt.Sprintf("fwpbench agent %s://%s@%s", scheme, h.token, rest)
}

// coordinate has agents put the load on the server, and writes the report.
func (p process) coordinate(
	ctx context.Context, o *benchOptions, at program.Endpoint, w workload.Workload, bar *program.Bar,
) error {
	if err := o.agents.check(&w, &at); err != nil {
		return err
	}
	outputs, err := o.open()
	if err != nil {
		return err
	}
	defer outputs.Discard()
	h, err := o.agents.open(p)
	if err != nil {
		return err
	}
	defer h.close()
	began, config := time.Now(), o.config(p, w)
	config.Target = results.LoadTarget{Chosen: at.Choice.How}
	provided, err := provide(ctx, &at, embedding{protocol: at.Peer.Name, fault: o.fault})
	if err == nil {
		defer provided.end()
		config.Target.URL = at.Server.Address.String()
		id, failed := at.Identify(ctx, cmp.Or(o.patience(), greetTimeout))
		config.Target.Subject = at.Introduced(ctx, at.Target(id), at.Server, at.Password, greetTimeout).Subject
		err = failed
	}
	if err != nil {
		return p.report(o, notReached(ctx, &config, began, err))
	}
	if err := h.prepare(p, o, &at, &config); err != nil {
		return err
	}
	return p.byAgents(ctx, o, h, outputs, newLive(o.reportFlags.Verbose, &w, p.Err), bar)
}

// check returns an error for a load that the agents cannot share, or a target that they do not reach.
func (a *agentsFlags) check(w *workload.Workload, at *program.Endpoint) error {
	if at.Ours() && !a.spawn && !a.loopback() {
		return fmt.Errorf("the target is %s, which other machines do not reach: add --url, or leave --listen out", at)
	}
	if w.Trace != "" {
		return errors.New("--agents: the plan does not take a trace to other machines; copy the file there, " +
			"and use --segment")
	}
	if a.crosses() {
		if err := (workload.Crossing{Pushing: a.pushing}).Check(w, a.number); err != nil {
			return asFlags(err)
		}
	}
	for _, place := range []int{a.pushing - 1, a.number - 1} { // the last of a kind has the least
		last := workload.Segment{Index: max(0, place), Of: a.number}
		if _, _, err := shareOf(w, last, a.crosses(), a.pushing); err != nil {
			return fmt.Errorf("--agents %d: %w", a.number, asFlags(err))
		}
	}
	return nil
}

// words returns how jobs cross agents, for the plan.
func (a *agentsFlags) words() string {
	switch {
	case a.pushing > 0:
		return fmt.Sprintf(", all producers on %d of %d agents", a.pushing, a.number)
	case a.cross:
		return ", jobs cross agents"
	}
	return ""
}

// crosses reports whether jobs cross agents.
func (a *agentsFlags) crosses() bool { return a.cross || a.pushing > 0 }

// byAgents waits for the agents and their load, and writes the report before the agents and the server are ended.
func (p process) byAgents(
	ctx context.Context, o *benchOptions, h *hub, outputs *benchFiles, live *live, bar *program.Bar,
) error {
	end, err := p.invite(ctx, &o.agents, h)
	if err != nil {
		return err
	}
	defer end()
	watch, unserve, err := o.metrics.serve(p, outputs.watch(live))
	if err != nil {
		return err
	}
	defer unserve()
	h.Watch = watch
	bar.Begin(live.state)
	result, err := agents.Coordinate(ctx, h.Config)
	bar.End()
	if err != nil {
		return &program.InternalError{Cause: err}
	}
	return p.finish(o, outputs, result)
}

// prepare fills in what the coordinator needs.
func (h *hub) prepare(p process, o *benchOptions, at *program.Endpoint, config *load.Config) error {
	options, err := o.targetFlags.TLS.Loaded()
	if err == nil && len(options.CA) > mostAuthorities {
		err = fmt.Errorf("--tls-ca: %d bytes are more than a plan takes to the agents, %d: "+
			"give a file with the authority of the target alone", len(options.CA), mostAuthorities)
	}
	if err != nil {
		return err
	}
	task, err := json.Marshal(agentLoad{
		Workload: string(config.Workload.YAML()), Seed: config.Seed, URL: at.Server.Address.String(),
		Locked:   at.Password != "",
		Overload: o.overload.String(), Engine: o.engine.String(), Pace: o.pace, Timeout: o.patience(), Requests: o.requests,
		Pushing: o.agents.pushing, TLS: options,
	})
	if err != nil {
		return &program.InternalError{Cause: err}
	}
	h.Token, h.Version, h.Within, h.Log = h.token, config.Version, o.agents.within, p.Logf
	h.Plan = agents.Plan{Run: config.Run, Agents: o.agents.number, Crosses: o.agents.crosses(), Load: task}
	h.Crossed = load.Crossed{
		Workload: config.Workload, Seed: config.Seed, Run: config.Run, ClauseOf: config.ClauseOf, LevelOf: config.LevelOf,
	}
	h.Crossed.ClauseOf = at.Peer.ClauseOf
	h.Connecting = time.Duration(float64(load.Connections(&config.Workload)) / o.pace * float64(time.Second))
	h.Thresholds = o.limits
	h.password = at.Password
	h.Report = results.Load{
		Version: config.Version, Seed: config.Seed, Target: config.Target, Plan: load.PlanOf(*config),
	}
	h.Report.Plan.Words += o.agents.words()
	return nil
}

// invite starts the agents, or logs how they are started. The function that it returns ends those that were started.
func (p process) invite(ctx context.Context, a *agentsFlags, h *hub) (end func(), err error) {
	if a.spawn {
		return p.spawn(ctx, a.number, h)
	}
	if h.password != "" {
		p.Logf("agents need the password of the target: the plan does not have it; set %s for them", passwordVariable)
	}
	p.Logf("start %s within %v, on this machine or on others:\n  %s", text.Count(a.number, "agent"), a.within, h.command())
	return func() {}, nil
}
