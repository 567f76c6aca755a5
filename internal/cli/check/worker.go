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
	"github.com/fwpsuite/fwp/internal/base/jobtype"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/internal/target"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
	"github.com/fwpsuite/fwp/reports"
)

// clientOptions are the flags of `fwpcheck worker` and `fwpcheck client`.
type clientOptions struct {
	runOptions
	producer bool
	named    shared.SubjectFlag
	software reports.Subject
	profile  string
	protocol string
	job      jobtype.Template
	of       *registry.Peer // what both name; set by validate
	start    time.Duration  // the longest that the program under test may take for it
	grace    time.Duration  // from SIGTERM to the kill of a platform
	logFile  string         // of what the program prints
	log      *target.Log
}

// newWorker builds `fwpcheck worker`.
func newWorker(p process) *cobra.Command {
	return newClientCheck(p, &clientOptions{}, &cobra.Command{
		Use:   "worker [flags] -- COMMAND [ARG...]",
		Short: "Test a worker library in the situations that the specification describes",
	})
}

// newClient builds `fwpcheck client`.
func newClient(p process) *cobra.Command {
	return newClientCheck(p, &clientOptions{producer: true}, &cobra.Command{
		Use:   "client [flags] -- COMMAND [ARG...]",
		Short: "Test a client library that pushes jobs in the situations that the specification describes",
	})
}

func newClientCheck(p process, o *clientOptions, cmd *cobra.Command) *cobra.Command {
	example := "worker"
	if o.producer {
		example = "producer"
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		return refuse(len(args) == 0, fmt.Sprintf("%s: no command was given; write it after --, as in: fwpcheck %[1]s "+
			"-- node %s.mjs", cmd.Name(), example))
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return p.checkClient(cmd.Context(), o, args) }
	f := o.flags(cmd)
	f.SetInterspersed(false) // the flags of COMMAND are its own
	o.declareSelection(f)
	o.declareClient(f)
	o.reportFlags.Declare(cmd, "print every conversation while it runs, and all situations in the report")
	shared.CompleteFlags(cmd, map[string]func() []string{
		"check": func() []string { return namesOf(o.harness(nil).Checks()) },
	})
	return cmd
}

func (o *clientOptions) declareClient(f *pflag.FlagSet) {
	f.DurationVar(&o.start, "start-timeout", 0, "the longest wait for the HELLO of COMMAND (default: 90s at the "+
		"first start, then 30s, or four times as long as the first start took)")
	f.StringVar(&o.logFile, "worker-log", "",
		"write the output of COMMAND to `FILE`, each line with its time and situation")
	if !o.producer {
		f.DurationVar(&o.grace, "grace", 0, "kill COMMAND so long after SIGTERM, as a platform does, and say which jobs "+
			"are lost by that (default: it may take a minute)")
	}
	f.IntVar(&o.parallel, "parallel", 0,
		"play at most `N` situations at once (default: no limit, but only one start of COMMAND for each CPU at once)")
	f.IntVar(&o.repeat, "repeat", 1,
		"play every situation `N` times: the worst verdict counts, and the report lists the differences")
	f.BoolVar(&o.failFast, "fail-fast", false, "stop at the first fail")
	f.Uint64Var(&o.seed, "seed", 0, "seed of the order (default: random; with --expect 1)")
	f.StringVar(&o.profile, "profile", "", "play a server with the extensions of a `FAMILY`: "+
		strings.Join(registry.Default().ProfileNames(), ", "))
	if !o.producer {
		shared.DeclareProtocol(f, &o.protocol, "")
		f.Var(&o.job, "job", "how a job is written for a worker of "+strings.Join(templated(), " or ")+
			" that has its own job format: a `TEMPLATE` with {name} and {args}")
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
	if o.of, err = shared.PeerWith(o.protocol, o.profile); err == nil && !o.producer {
		err = cmp.Or(o.of.Refusal("fwpcheck worker"), o.badJob())
	}
	return cmp.Or(err, o.named.Check(1), refuse(o.start < 0, "--start-timeout must not be negative"),
		refuse(o.grace < 0, "--grace must not be negative"),
		o.validatePlays(func(id string) error {
			if _, known := o.of.ClauseByID(id); known {
				return nil
			}
			return requirable(id)
		}))
}

// templated are the protocols that do not say how a job is written.
func templated() (names []string) {
	for _, name := range registry.Names() {
		if of, err := shared.PeerWith(name, ""); err == nil && of.Workers != nil {
			names = append(names, name)
		}
	}
	return names
}

// badJob returns what is wrong with the template for jobs.
func (o *clientOptions) badJob() error {
	if o.job == "" {
		return nil
	}
	if o.of.Workers == nil {
		return fmt.Errorf("--job does not work with %s, which defines the form of a job; give --protocol %s", o.of.Title,
			strings.Join(templated(), " or "))
	}
	if err := o.of.Workers().Template(&o.job); err != nil {
		return fmt.Errorf("--job: %w", err)
	}
	return nil
}

func (o *clientOptions) harness(words []string) *fwpsituations.Harness {
	h := &fwpsituations.Harness{
		Launcher: fwpsituations.Command{Words: words}, Patience: o.start, Producer: o.producer, Like: o.profile,
		Grace: o.grace, Log: o.log, OneByOne: o.parallel == 1,
	}
	if o.of != nil && o.of.Workers != nil {
		h.Side = o.of.Workers()
		h.Side.Job = o.job
	}
	return h
}

// trusted gives a harness a certificate for servers with TLS. The folder has a file with it.
func trusted(h *fwpsituations.Harness) (folder string, err error) {
	folder, err = os.MkdirTemp("", "fwp-tls-")
	if err != nil {
		return "", &shared.InternalError{Cause: err}
	}
	h.CA = filepath.Join(folder, "ca.pem")
	config, err := selfSigned(h.CA, "127.0.0.1")
	if err != nil {
		return folder, &shared.InternalError{Cause: err}
	}
	h.Certificate = &config.Certificates[0]
	return folder, nil
}

// checkClient is one run, from the flags to the exit code.
func (p process) checkClient(ctx context.Context, o *clientOptions, words []string) error {
	err := cmp.Or(o.validate(), o.reportFlags.Validate(), target.NeedShell("fwpcheck "+o.tested("").Role), o.name(words))
	if err == nil {
		err = o.openLog()
	}
	if err != nil {
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
	o.tellQueues(p, seen)
	if seen.Lacks != "" {
		return p.unable(ctx, o, started, command, seen.Lacks)
	}
	what := o.situations(ctx,
		playing{selection: chosen, thing: "situation", started: started, known: known, bar: bar}, command)
	what.complete = func(r *reports.Report) { r.Target, r.Seen = o.tested(command), append(h.Seen(), o.logTrouble()...) }
	return o.deliver(p, p.play(ctx, &o.runOptions, what))
}

// tellQueues says that a worker does not take the queues that it is told.
func (o *clientOptions) tellQueues(p process, seen fwpsituations.Observed) {
	if !o.producer && o.of.Workers == nil && !seen.TakesQueues() {
		p.Logf("it ignores {queues} and FWP_QUEUES; jobs go to the queue that it fetches from (%s)",
			strings.Join(seen.Queues, " "))
	}
}

// logTrouble says that lines are missing from the file of --worker-log, if some are.
func (o *clientOptions) logTrouble() []string {
	if o.log == nil || o.log.Err() == nil {
		return nil
	}
	return []string{fmt.Sprintf("--worker-log: %v: later output is missing from the file", o.log.Err())}
}

// openLog opens the file of --worker-log, if there is one.
func (o *clientOptions) openLog() error {
	if o.logFile == "" {
		return nil
	}
	file, err := os.Create(o.logFile) // each line is written at once, and the end of the process closes it
	if err != nil {
		return fmt.Errorf("--worker-log: %w", err)
	}
	o.log = target.NewLog(file)
	return nil
}

// situations adds to what is played how that is done with a command.
func (o *clientOptions) situations(ctx context.Context, what playing, command string) playing {
	what.runner = func(chosen selection) *run.Runner { return o.clientRunner(chosen, command) }
	what.alone = func(checks []conformance.Check) []reports.Check {
		return playAlone(ctx, o.clientRunner(selection{in: checks}, command)).Checks
	}
	return what
}

// unable reports that a worker does not know the first job type, so that nothing else would say anything about it.
func (p process) unable(ctx context.Context, o *clientOptions, started time.Time, command, says string) error {
	r := o.untested(ctx, started, o.tested(command), nil)
	r.Unseen = "the worker has no handler for fwp.ok (" + says + "), the type of its first job; register a handler " +
		"that returns at once, and handlers for the other job types of docs/judging-workers.md#the-job-types"
	p.Logf("%s", p.Show(r.Unseen))
	return o.deliver(p, r)
}

// name finds out what the program under test is.
func (o *clientOptions) name(words []string) error {
	o.software = shared.Started(commandLine(words), words)
	return o.named.Name(0, &o.software)
}

// clientRunner returns what plays the chosen situations.
func (o *clientOptions) clientRunner(chosen selection, command string) *run.Runner {
	return &run.Runner{
		Protocol: o.of.Protocol,
		Servers:  []run.Server{{Target: fwpsituations.Target{}}}, Checks: chosen.in, Skipped: chosen.out,
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
	if o.job != "" {
		role += " --job " + text.ShellQuote(string(o.job))
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
	of := registry.OfClause(c.ID)
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
