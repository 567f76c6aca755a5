package check

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/conformance/workers/situations"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

// clientOptions are the flags of `fwpcheck worker` and `fwpcheck client`.
type clientOptions struct {
	runOptions
	producer bool
	named    program.SubjectFlag
	software reports.Subject
	profile  string
	protocol string
	of       *peer.Peer    // what both name; set by validate
	start    time.Duration // the longest that the program under test may take for it
}

// newWorker builds `fwpcheck worker`.
func newWorker(p process) *cobra.Command {
	return newClientCheck(p, &clientOptions{}, &cobra.Command{
		Use:   "worker [flags] -- COMMAND [ARG...]",
		Short: "Test a worker library with every situation that the specification has for it",
	})
}

// newClient builds `fwpcheck client`.
func newClient(p process) *cobra.Command {
	return newClientCheck(p, &clientOptions{producer: true}, &cobra.Command{
		Use:   "client [flags] -- COMMAND [ARG...]",
		Short: "Test a client library that pushes jobs with every situation that the specification has for it",
	})
}

func newClientCheck(p process, o *clientOptions, cmd *cobra.Command) *cobra.Command {
	example := "worker"
	if o.producer {
		example = "producer"
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		return refuse(len(args) == 0, fmt.Sprintf("%s: no command was given; write it behind --, as in: "+
			"fwpcheck %[1]s -- node %s.mjs", cmd.Name(), example))
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return p.checkClient(cmd.Context(), o, args) }
	f := o.flags(cmd)
	f.SetInterspersed(false) // the flags of COMMAND are its own
	o.declareSelection(f)
	o.declareClient(f)
	o.reportFlags.Declare(cmd, "print every conversation as it goes, and all situations in the report")
	program.CompleteFlags(cmd, map[string]func() []string{
		"check": func() []string { return namesOf(o.harness(nil).Checks()) },
	})
	return cmd
}

func (o *clientOptions) declareClient(f *pflag.FlagSet) {
	f.DurationVar(&o.start, "start-timeout", 0, "the longest time from the start of COMMAND to its HELLO "+
		"(default: 90s for the first start, then 30s or four times what the first took)")
	f.IntVar(&o.parallel, "parallel", 0,
		"play at most `N` situations at once (default: any number that only wait; starts: one for each CPU)")
	f.IntVar(&o.repeat, "repeat", 1,
		"play every situation `N` times: the worst verdict counts, and the report lists what differs")
	f.BoolVar(&o.failFast, "fail-fast", false, "end the run with the first fail")
	f.Uint64Var(&o.seed, "seed", 0, "draw the order from `N` (random if not given)")
	f.StringVar(&o.profile, "profile", "", "play a server of a `FAMILY`, with what that has beyond the specification: "+
		strings.Join(peer.Default().ProfileNames(), ", "))
	if !o.producer {
		f.StringVar(&o.protocol, "protocol", "", "the `PROTOCOL` that the worker speaks: "+strings.Join(peer.Names(), " or ")+
			" (default: "+peer.Default().Name+")")
	}
	o.named.Declare(f)
}

// parties are those that the program under test is.
func (o *clientOptions) parties() []string {
	if o.producer {
		return []string{"C", "P"}
	}
	return []string{"C", "K"}
}

func (o *clientOptions) validate() (err error) {
	if o.of, err = program.PeerWith(o.protocol, o.profile); err == nil && !o.producer {
		err = o.of.Refusal("fwpcheck worker")
	}
	return cmp.Or(err, o.named.Check(1), refuse(o.start < 0, "--start-timeout must not be negative"),
		o.validatePlays(func(id string) error {
			if _, known := o.of.ClauseByID(id); known {
				return nil
			}
			return requirable(id)
		}))
}

func (o *clientOptions) harness(words []string) *situations.Harness {
	h := &situations.Harness{
		Launcher: situations.Command{Words: words}, Patience: o.start, Producer: o.producer, Like: o.profile,
	}
	if o.of != nil && o.of.Workers != nil {
		h.Side = o.of.Workers()
	}
	return h
}

// trusted gives a harness a certificate for servers with TLS. The folder has a file with it.
func trusted(h *situations.Harness) (folder string, err error) {
	folder, err = os.MkdirTemp("", "fwp-tls-")
	if err != nil {
		return "", &program.InternalError{Cause: err}
	}
	h.CA = filepath.Join(folder, "ca.pem")
	config, err := localhostTLS(h.CA)
	if err != nil {
		return folder, &program.InternalError{Cause: err}
	}
	h.Certificate = &config.Certificates[0]
	return folder, nil
}

// checkClient is one run, from the flags to the exit code.
func (p process) checkClient(ctx context.Context, o *clientOptions, words []string) error {
	if err := cmp.Or(o.validate(), o.reportFlags.Validate(), o.name(words)); err != nil {
		return err
	}
	h := o.harness(words)
	folder, err := trusted(h)
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // nothing can be done about it
	o.selection.Parties = o.parties()
	chosen, known, err := o.choose(h.Checks(), o.of)
	if err != nil {
		return err
	}
	bar := o.bar(&p)
	command := commandLine(words)
	p.Logf("testing %s, seed %d", command, o.seed)
	ctx, stop := p.begin(ctx)
	defer stop()
	started := time.Now()
	seen, err := h.Identify(ctx)
	if err != nil {
		r := o.untested(ctx, started, o.tested(command), err)
		if r.Unreachable != "" {
			p.Logf("%s", p.Show(r.Unreachable))
		}
		return o.deliver(p, r)
	}
	if fetched := strings.Join(seen.Queues, " "); !o.producer && h.Side == nil && !seen.TakesQueues() {
		p.Logf("it does not take {queues} or FWP_QUEUES: the jobs go to the queue that it fetches from (%s)", fetched)
	}
	r := p.play(ctx, &o.runOptions, playing{
		selection: chosen, thing: "situation", known: known, bar: bar,
		runner:   func(chosen selection) *run.Runner { return o.clientRunner(chosen, command) },
		complete: func(r *reports.Report) { r.Target = o.tested(command) },
		alone: func(checks []conformance.Check) []reports.Check {
			return playAlone(ctx, o.clientRunner(selection{in: checks}, command)).Checks
		},
	})
	return o.deliver(p, r)
}

// name finds out what the program under test is.
func (o *clientOptions) name(words []string) error {
	o.software = program.Started(commandLine(words), words)
	return o.named.Name(0, &o.software)
}

// clientRunner returns what plays the chosen situations.
func (o *clientOptions) clientRunner(chosen selection, command string) *run.Runner {
	return &run.Runner{
		Protocol: o.of.Protocol,
		Servers:  []run.Server{{Target: situations.Target{}}}, Checks: chosen.in, Skipped: chosen.out,
		Parties: o.parties(), Parallel: o.parallel, Seed: o.seed, Repeat: o.repeat, FailFast: o.failFast,
		Reproduce: o.reproduceClient(command),
	}
}

// reproduceClient returns a function that returns the command that plays a situation again.
func (o *clientOptions) reproduceClient(command string) func(string) string {
	role := o.tested(command).Role
	if o.protocol != "" {
		role += " --protocol " + o.protocol
	}
	if o.profile != "" {
		role += " --profile " + o.profile
	}
	return func(check string) string {
		return fmt.Sprintf("fwpcheck %s --check %s -v -- %s", role, text.ShellQuote(check), command)
	}
}

// tested returns the target of a report.
func (o *clientOptions) tested(command string) reports.Target {
	role := "worker"
	if o.producer {
		role = "client"
	}
	return reports.Target{Subject: o.software, Command: command, Role: role}
}

// commandLine returns a command as a shell takes it.
func commandLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		if quoted[i] = text.ShellQuote(word); strings.Trim(word, "{}") != word && !strings.ContainsAny(word, " '\"$`") {
			quoted[i] = word // {url}
		}
	}
	return strings.Join(quoted, " ")
}

// clients adds what decides a clause about clients, or why nothing does.
func (f *explained) clients(c conformance.Clause) {
	of := peer.OfClause(c.ID)
	if of.ClientBreaches != nil {
		for _, breach := range of.ClientBreaches(c.ID) {
			f.add("rules", breach)
		}
	}
	if of.Workers != nil {
		for _, s := range of.Workers().Deciding(c.ID) {
			f.add("situations", s.ID+": "+s.Title)
		}
	}
	if c.Unwatched != "" {
		f.add("rules", "none: "+c.Unwatched)
	}
}
