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
	isProducer   bool
	subjectFlag  shared.SubjectFlag
	software     reports.Subject
	extension    string
	protocol     string
	job          jobtype.Template
	entry        *registry.Entry // what protocol and extension name; set by validate
	startTimeout time.Duration   // the longest that the program under test may take until its HELLO
	grace        time.Duration   // from SIGTERM to the kill of a platform
	logFile      string          // of what the program prints
	log          *target.Log
}

// newWorker builds `fwpcheck worker`.
func newWorker(p process) *cobra.Command {
	return newClientCheck(p, &clientOptions{}, &cobra.Command{
		Use:   "worker [flags] -- COMMAND [ARG...]",
		Short: "Test a worker library, in the situations of the specification",
	})
}

// newClient builds `fwpcheck client`.
func newClient(p process) *cobra.Command {
	return newClientCheck(p, &clientOptions{isProducer: true}, &cobra.Command{
		Use:   "client [flags] -- COMMAND [ARG...]",
		Short: "Test a library that pushes jobs, in the situations of the specification",
	})
}

func newClientCheck(p process, o *clientOptions, cmd *cobra.Command) *cobra.Command {
	example := "worker"
	if o.isProducer {
		example = "producer"
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		return errorIf(len(args) == 0, fmt.Sprintf("%s: no command was given; write it after --, as in: fwpcheck %[1]s "+
			"-- node %s.mjs", cmd.Name(), example))
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return p.checkClient(cmd.Context(), o, args) }
	f := o.bindFlags(cmd)
	f.SetInterspersed(false) // the flags of COMMAND are its own
	o.declareSelection(f)
	o.declareClient(f)
	o.reportFlags.Declare(cmd, "print every conversation while it runs, and all situations in the report")
	o.reportFlags.DeclareDetails(cmd)
	shared.CompleteFlags(cmd, map[string]func() []string{
		"check": func() []string { return namesOf(o.harness(nil).Checks()) },
	})
	return cmd
}

func (o *clientOptions) declareClient(f *pflag.FlagSet) {
	f.DurationVar(&o.startTimeout, "start-timeout", 0, "the longest wait for the HELLO of COMMAND (default: 90s at the "+
		"first start, then 30s, or four times as long as the first start took)")
	f.StringVar(&o.logFile, "worker-log", "",
		"write the output of COMMAND to `FILE`, each line with its time and situation")
	if !o.isProducer {
		f.DurationVar(&o.grace, "grace", 0, "kill COMMAND so long after SIGTERM, as a platform does, and say which jobs "+
			"are lost by that (default: it may take a minute)")
	}
	f.IntVar(&o.parallel, "parallel", 0,
		"play at most `N` situations at once (default: no limit, but only one start of COMMAND for each CPU at once)")
	f.IntVar(&o.repeat, "repeat", 1,
		"play every situation `N` times: the worst verdict counts, and the report lists the differences")
	f.BoolVar(&o.failFast, "fail-fast", false, "stop at the first fail")
	f.Uint64Var(&o.seed, "seed", 0, "seed of the order (default: random; with --expect 1)")
	f.StringVar(&o.extension, "extension", "", "play a server with what an `EXTENSION` adds: "+
		strings.Join(registry.Default().ExtensionNames(), ", "))
	if !o.isProducer {
		shared.DeclareProtocol(f, &o.protocol, "")
		f.Var(&o.job, "job", "how a job is written for a worker of "+strings.Join(templateProtocols(), " or ")+
			" that has its own job format: a `TEMPLATE` with {name} and {args}")
	}
	o.subjectFlag.Declare(f)
}

// parties are those that the program under test is.
func (o *clientOptions) parties() []string {
	if o.isProducer {
		return []string{"C", "P"}
	}
	return []string{"C", "K"}
}

func (o *clientOptions) validate() (err error) {
	if o.entry, err = shared.EntryWith(o.protocol, o.extension); err == nil && !o.isProducer {
		err = cmp.Or(o.entry.Refusal("fwpcheck worker"), o.checkJob())
	}
	return cmp.Or(err, o.subjectFlag.Check(1), errorIf(o.startTimeout < 0, "--start-timeout must not be negative"),
		errorIf(o.grace < 0, "--grace must not be negative"),
		o.validatePlays(func(id string) error {
			if _, ok := o.entry.ClauseByID(id); ok {
				return nil
			}
			return checkRequirable(id)
		}))
}

// templateProtocols are the protocols that do not say how a job is written.
func templateProtocols() (names []string) {
	for _, name := range registry.Names() {
		if entry, err := shared.EntryWith(name, ""); err == nil && entry.Workers != nil {
			names = append(names, name)
		}
	}
	return names
}

// checkJob returns what is wrong with the template for jobs.
func (o *clientOptions) checkJob() error {
	if o.job == "" {
		return nil
	}
	if o.entry.Workers == nil {
		return fmt.Errorf("--job does not work with %s, which defines the form of a job; give --protocol %s", o.entry.Title,
			strings.Join(templateProtocols(), " or "))
	}
	if err := o.entry.Workers().Template(&o.job); err != nil {
		return fmt.Errorf("--job: %w", err)
	}
	return nil
}

func (o *clientOptions) harness(words []string) *fwpsituations.Harness {
	h := &fwpsituations.Harness{
		Launcher: fwpsituations.Command{Words: words}, Patience: o.startTimeout, IsProducer: o.isProducer,
		Extension: o.extension,
		Grace:     o.grace, Log: o.log, IsSequential: o.parallel == 1,
	}
	if o.entry != nil && o.entry.Workers != nil {
		h.OtherProtocol = o.entry.Workers()
		h.OtherProtocol.Job = o.job
	}
	return h
}

// addCertificate gives a harness a certificate for servers with TLS. The folder has a file with it.
func addCertificate(h *fwpsituations.Harness) (folder string, err error) {
	folder, err = os.MkdirTemp("", "fwp-tls-")
	if err != nil {
		return "", &shared.InternalError{Cause: err}
	}
	h.CA = filepath.Join(folder, "ca.pem")
	config, err := makeCertificate(h.CA, "127.0.0.1")
	if err != nil {
		return folder, &shared.InternalError{Cause: err}
	}
	h.Certificate = &config.Certificates[0]
	return folder, nil
}

// checkClient is one run, from the flags to the exit code.
func (p process) checkClient(ctx context.Context, o *clientOptions, words []string) error {
	err := cmp.Or(o.validate(), o.reportFlags.Validate(), target.NeedShell("fwpcheck "+o.reportTarget("").Role))
	if err = cmp.Or(err, o.setSoftware(words)); err == nil {
		err = o.openLog()
	}
	if err != nil {
		return err
	}
	h := o.harness(words)
	folder, err := addCertificate(h)
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // nothing can be done about it
	o.selection.Parties = o.parties()
	picks, expected, err := o.choose(h.Checks(), o.entry)
	if err != nil {
		return err
	}
	bar, command := o.bar(&p), commandLine(words)
	p.Logf("testing %s, seed %d", command, o.seed)
	ctx, stop := p.begin(ctx)
	defer stop()
	start := time.Now()
	observation, err := h.Identify(ctx)
	if err != nil {
		r := o.failureReport(ctx, start, o.reportTarget(command), err)
		if r.Unreachable != "" {
			p.Logf("%s", p.Show(r.Unreachable))
		}
		return o.deliver(p, r)
	}
	o.reportQueues(p, observation)
	if observation.UnknownTypeError != "" {
		return p.reportMissingHandler(ctx, o, start, command, observation.UnknownTypeError)
	}
	plan := playPlan{selection: picks, thing: "situation", start: start, expectations: expected, bar: bar}
	plan = o.situations(ctx, plan, command)
	plan.complete = func(r *reports.Report) {
		r.Target, r.Observations = o.reportTarget(command), append(h.Observations(), o.logTrouble()...)
	}
	return o.deliver(p, p.play(ctx, &o.runOptions, plan))
}

// reportQueues says that a worker does not take the queues that it is told.
func (o *clientOptions) reportQueues(p process, observation fwpsituations.Observation) {
	if !o.isProducer && o.entry.Workers == nil && !observation.TakesQueues() {
		p.Logf("it ignores {queues} and FWP_QUEUES; jobs go to the queue that it fetches from (%s)",
			strings.Join(observation.Queues, " "))
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
func (o *clientOptions) situations(ctx context.Context, plan playPlan, command string) playPlan {
	plan.runner = func(picks selection) *run.Runner { return o.clientRunner(picks, command) }
	plan.replay = func(checks []conformance.Check) []reports.Check {
		return playAlone(ctx, o.clientRunner(selection{checks: checks}, command)).Checks
	}
	return plan
}

// reportMissingHandler reports that a worker does not know the first job type, so that nothing else would say anything
// about it.
func (p process) reportMissingHandler(ctx context.Context, o *clientOptions, start time.Time, command,
	message string) error {
	r := o.failureReport(ctx, start, o.reportTarget(command), nil)
	r.MissReason = "the worker has no handler for fwp.ok (" + message +
		"), the type of its first job; register a handler " +
		"that returns at once, and handlers for the other job types of docs/judging-workers.md#the-job-types"
	p.Logf("%s", p.Show(r.MissReason))
	return o.deliver(p, r)
}

// setSoftware finds out what the program under test is.
func (o *clientOptions) setSoftware(words []string) error {
	o.software = shared.CommandSubject(commandLine(words), words)
	return o.subjectFlag.Apply(0, &o.software)
}

// clientRunner returns what plays the chosen situations.
func (o *clientOptions) clientRunner(picks selection, command string) *run.Runner {
	return &run.Runner{
		Suite:   o.entry.Suite,
		Servers: []run.Server{{Target: fwpsituations.NoServer{}}}, Checks: picks.checks, Omissions: picks.omissions,
		Parties: o.parties(), Parallel: o.parallel, Seed: o.seed, Repeat: o.repeat, FailFast: o.failFast,
		Reproduce: o.reproduceClient(command),
	}
}

// reproduceClient returns a function that returns the command that plays a situation again.
func (o *clientOptions) reproduceClient(command string) func(string) string {
	role := o.reportTarget(command).Role
	if o.protocol != "" {
		role += " --protocol " + o.protocol
	}
	if o.job != "" {
		role += " --job " + text.ShellQuote(string(o.job))
	}
	if o.extension != "" {
		role += " --extension " + o.extension
	}
	return func(check string) string {
		return fmt.Sprintf("fwpcheck %s --check %s -v -- %s", role, text.ShellQuote(check), command)
	}
}

// reportTarget returns the target of a report.
func (o *clientOptions) reportTarget(command string) reports.Target {
	role := "worker"
	if o.isProducer {
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
func (f *explanation) clients(c conformance.Clause) {
	entry := registry.OfClause(c.ID)
	if entry.ClientBreaches != nil {
		for _, breach := range entry.ClientBreaches(c.ID) {
			f.add("rules", breach)
		}
	}
	if entry.Workers != nil {
		for _, s := range entry.Workers().SituationsOf(c.ID) {
			f.add("situations", s.ID+": "+s.Title)
		}
	}
	if c.UnwatchedReason != "" {
		f.add("rules", "none: "+c.UnwatchedReason)
	}
}
