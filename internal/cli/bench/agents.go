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
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/input"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/agents"
	"github.com/fwpsuite/fwp/load/workload"
	"github.com/fwpsuite/fwp/reports"
)

// tokenVariable is the variable of the environment that may have the token of a coordinator and its agents.
const tokenVariable = "FWPBENCH_TOKEN" //nolint:gosec // its name

// agentsFlags are the flags of a run by agents.
type agentsFlags struct {
	number    int
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
	if a.number == 0 {
		for _, flag := range []string{
			"spawn", "agents-within", "listen", "listen-cert", "listen-key", "nats", "nats-creds", "nats-ca",
		} {
			if o.given.Changed(flag) {
				return fmt.Errorf("--%s is about agents: add --agents N", flag)
			}
		}
		return nil
	}
	for _, flag := range []string{
		"segment", "start-at", "history", "tls-ca", "processors", "disrupt", "disrupt-every",
	} {
		if o.given.Changed(flag) {
			return fmt.Errorf("--%s does not work with --agents: %s", flag, withoutAgents[flag])
		}
	}
	switch {
	case a.number < 1 || a.number > mostAgents:
		return fmt.Errorf("--agents must be from 1 to %d", mostAgents)
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
var withoutAgents = map[string]string{
	"segment":  "each agent gets its segment from the coordinator",
	"start-at": "the load begins when all agents are ready",
	"history":  "a history is what one process has seen",
	"tls-ca":   "agents read no files; add the authority to the system of each",
	"disrupt":  "what is done to the target has to be in the report of one process",

	"disrupt-every": "what is done to the target has to be in the report of one process",

	"processors": "each agent has a flag of its own for that",
}

// loopback reports whether only this machine can reach the embedded NATS server.
func (a *agentsFlags) loopback() bool {
	host, _, err := net.SplitHostPort(a.listen)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// agentLoad is what the command line of the coordinator says of the load, for an agent.
type agentLoad struct {
	Workload string        `json:"workload"` // of the whole load, as YAML
	Seed     uint64        `json:"seed,string"`
	URL      string        `json:"url"`
	Password string        `json:"password,omitempty"`
	Insecure bool          `json:"tls_insecure,omitempty"`
	Server   string        `json:"tls_server_name,omitempty"`
	Overload string        `json:"overload"`
	Engine   string        `json:"engine"`
	Pace     float64       `json:"connect_rate"`
	Timeout  time.Duration `json:"timeout_ns,omitempty"`
	Requests bool          `json:"requests,omitempty"`
}

// hub is where agents meet their coordinator: a NATS server, and what connects to it.
type hub struct {
	agents.Config

	server *agents.Server // nil: one that runs already
	url    string         // for agents, without a token
	token  string
	given  bool // the token was given, and is not printed

	exposed bool // the target's password goes to other machines without encryption
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
		h.Conn, err = agents.Connect(access, "coordinator")
		return h, err
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
	scheme, rest, _ := cutScheme(h.url)
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
	config.Target = reports.LoadTarget{Chosen: at.Choice.How}
	provided, err := provide(ctx, &at, embedding{protocol: other(at), fault: o.fault})
	if err == nil {
		defer provided.end()
		config.Target.URL = at.Server.Address.String()
		_, err = at.Identify(ctx, cmp.Or(o.patience(), greetTimeout))
	}
	if err != nil {
		return p.deliver(o, notReached(ctx, &config, began, err))
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
	if _, err := w.Segment(workload.Segment{Index: a.number - 1, Of: a.number}); err != nil {
		return fmt.Errorf("--agents %d: %w", a.number, asFlags(err))
	}
	return nil
}

// byAgents waits for the agents and their load, and writes the report before the agents and the server are ended.
func (p process) byAgents(
	ctx context.Context, o *benchOptions, h *hub, outputs *benchFiles, live *live, bar *program.Bar,
) error {
	end, err := p.invite(ctx, &o.agents, h)
	if err != nil {
		return err
	}
	defer end()
	h.Watch = func(m load.Moment) {
		outputs.second(m)
		live.show(m)
	}
	bar.Begin(live.state)
	result, err := agents.Coordinate(ctx, h.Config)
	bar.End()
	if err != nil {
		return &program.InternalError{Cause: err}
	}
	if err := outputs.close(result, p.Secrets.Hide); err != nil && result.Report.Internal == "" {
		result.Report.Internal = err.Error()
	}
	return p.deliver(o, result.Report)
}

// prepare fills in what the coordinator needs.
func (h *hub) prepare(p process, o *benchOptions, at *program.Endpoint, config *load.Config) error {
	task, err := json.Marshal(agentLoad{
		Workload: string(config.Workload.YAML()), Seed: config.Seed, URL: at.Server.Address.String(), Password: at.Password,
		Insecure: at.Server.TLS != nil && at.Server.TLS.InsecureSkipVerify, Server: o.serverName(),
		Overload: o.overload.String(), Engine: o.engine.String(), Pace: o.pace, Timeout: o.patience(), Requests: o.requests,
	})
	if err != nil {
		return &program.InternalError{Cause: err}
	}
	h.Token, h.Version, h.Within, h.Log = h.token, config.Version, o.agents.within, p.Logf
	h.Plan = agents.Plan{Run: config.Run, Agents: o.agents.number, Load: task}
	h.Connecting = time.Duration(float64(load.Connections(&config.Workload)) / o.pace * float64(time.Second))
	h.Thresholds = o.limits
	h.exposed = at.Password != "" && h.server != nil && o.agents.cert == "" && !o.agents.loopback()
	h.Report = reports.Load{
		Version: config.Version, Seed: config.Seed, Target: config.Target, Plan: load.PlanOf(*config),
	}
	return nil
}

// serverName returns --tls-server-name.
func (o *benchOptions) serverName() string {
	name, err := o.given.GetString("tls-server-name")
	if err != nil {
		return "" // it has no such flag
	}
	return name
}

// invite starts the agents, or logs how they are started. The function that it returns ends those that were started.
func (p process) invite(ctx context.Context, a *agentsFlags, h *hub) (end func(), err error) {
	if a.spawn {
		return p.spawn(ctx, a.number, h)
	}
	if h.exposed {
		p.Logf("the plan has the password of the target, and is not encrypted on its way: add --listen-cert and --listen-key")
	}
	p.Logf("start %s within %v, on this machine or on others:\n  %s", text.Count(a.number, "agent"), a.within, h.command())
	return func() {}, nil
}
