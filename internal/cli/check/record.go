package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	"github.com/fwpsuite/fwp/protocols/fwp/record"
	"github.com/fwpsuite/fwp/reports"
)

// recordOptions are the flags of `fwpcheck record`.
type recordOptions struct {
	testOptions

	listen, upstream, output, metrics string
	passwordFile                      string
	length                            time.Duration
	concurrency                       int
	queues                            []string
	trace                             recordTrace
}

// newRecord builds `fwpcheck record`.
func newRecord(p process) *cobra.Command {
	o := &recordOptions{}
	cmd := &cobra.Command{
		Use:   "record --upstream URL",
		Short: "Forward clients to a server, check both sides, and record the conversation as a script",
		Args:  shared.NoArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return p.record(cmd.Context(), o) },
	}
	f := o.bindFlags(cmd)
	f.StringVar(&o.upstream, "upstream", "",
		"forward clients to the server at `URL`: tcp://[:PASSWORD@]HOST[:PORT] or tcp+tls://...")
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "listen on `ADDRESS`; port 0 means a free port")
	f.StringVarP(&o.output, "output", "o", "", "write the conversation as a script to `FILE`")
	f.StringVar(&o.trace.name, "trace", "", "write the time, queue, type and size of each pushed job to `FILE` (CSV)")
	f.DurationVar(&o.length, "for", 0, "end after `TIME`")
	f.StringVar(&o.metrics, "metrics", "", "serve Prometheus metrics on `ADDRESS`, at /metrics")
	f.StringVar(&o.passwordFile, "password-file", "",
		"read the server's password from `FILE`, to check the clients' password hashes")
	f.IntVar(&o.concurrency, "concurrency", 0, "check that each worker runs `N` jobs at a time")
	f.StringSliceVar(&o.queues, "queues", nil, "check that workers fetch from these `QUEUES`, separated by commas")
	f.DurationVar(&o.timeout, "timeout", 10*time.Second, "the longest wait for the server")
	shared.DeclareExtension(f, &o.targetFlags.Extension)
	o.targetFlags.DeclareTLS(f)
	o.targetFlags.Subject.Declare(f)
	return cmd
}

// maxBreaches is how many breaches of a rule are printed as they pass.
const maxBreaches = 3

// check returns an error if a flag has a value that it cannot have.
func (o *recordOptions) check() error {
	return cmp.Or(errorIf(o.length < 0 || o.timeout <= 0 || o.concurrency < 0,
		"--for and --concurrency cannot be less than 0, and --timeout must be longer than 0"),
		shared.CheckWritable("--output", o.output))
}

// record passes connections on until it is interrupted.
func (p process) record(ctx context.Context, o *recordOptions) error {
	defer o.trace.discard()
	endpoint, err := o.endpoint()
	if err = cmp.Or(err, o.check(), o.trace.open()); err != nil {
		return err
	}
	p.Secrets = target.NewSecrets(endpoint.Password)
	ctx, stop := p.interruptContext(ctx)
	defer stop()
	id, err := registry.Default().Identify(ctx, endpoint.Server, o.timeout)
	if err != nil {
		return shared.InterruptError(ctx, &shared.UnreachableError{Cause: err, Advice: endpoint.Choice.Address.Advice(err)})
	}
	l, err := listen("listen "+o.listen, o.listen)
	if err != nil {
		return err
	}
	defer l.Close()
	ctx, cancel := o.limitTime(ctx)
	defer cancel()
	findings := &findingPrinter{p: p, counts: map[string]int{}}
	r := findings.recorder(record.Config{
		Dial: endpoint.Server.Dial, KeepsScript: o.output != "", Law: endpoint.Entry.Law, Dialect: endpoint.Entry.Dialect,
		OnPush: o.trace.jobWriter(),
		Watch:  clientrules.Config{Password: endpoint.Password, Concurrency: o.concurrency, Queues: o.queues},
	})
	defer r.Close()
	web, err := o.serveMetrics(r)
	if err != nil {
		return err
	}
	defer web.Close() //nolint:errcheck // nothing can be done about it
	if err := p.Print("ready tcp://" + l.Addr().String() + "\n"); err != nil {
		return err
	}
	if err := r.Serve(ctx, l); err != nil {
		return &shared.InternalError{Cause: err}
	}
	r.Close()
	at := endpoint.Introduce(ctx, endpoint.Target(id), endpoint.Server, endpoint.Password, o.timeout)
	at.Chosen = endpoint.DescribeChoice(ctx, at.Chosen)
	return p.finishRecord(o, r, at, findings.shortage())
}

// limitTime returns a context that ends after --for, if that is given.
func (o *recordOptions) limitTime(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.length > 0 {
		return context.WithTimeout(ctx, o.length)
	}
	return ctx, func() {}
}

// endpoint returns the server that the flags name.
func (o *recordOptions) endpoint() (shared.Endpoint, error) {
	if o.upstream == "" {
		return shared.Endpoint{}, errors.New(
			"--upstream is missing: give the URL of the server, as in --upstream tcp://localhost:7419")
	}
	o.targetFlags.Command = "fwpcheck record"
	endpoint, err := o.targetFlags.EndpointAt(o.upstream)
	if err != nil {
		return endpoint, fmt.Errorf("--upstream: %w", err)
	}
	err = cmp.Or(o.targetFlags.Subject.Check(1), o.targetFlags.ApplySubject(&endpoint, 0))
	if err != nil || o.passwordFile == "" {
		return endpoint, err
	}
	endpoint.Password, err = target.SinglePassword(endpoint.Password, "in --upstream", o.passwordFile)
	return endpoint, err
}

// serveMetrics serves the counts, if they are asked for.
func (o *recordOptions) serveMetrics(r *record.Recorder) (*http.Server, error) {
	web := shared.WebServer(nil)
	if o.metrics == "" {
		return web, nil
	}
	l, err := listen("metrics "+o.metrics, o.metrics)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", r.Metrics(clauseID))
	web.Handler = mux
	go func() { _ = web.Serve(shared.LimitListener(l)) }()
	return web, nil
}

// findingPrinter prints breaches as they pass, the first few of each name.
type findingPrinter struct {
	p         process
	mu        sync.Mutex
	counts    map[string]int
	hasFailed bool
	cause     string // what this process ran out of, and what to do
}

// recorder returns what passes connections on, and prints the breaches that pass.
func (s *findingPrinter) recorder(config record.Config) *record.Recorder {
	config.OnBreach, config.OnError = s.print, s.reportFailure
	return record.New(config)
}

func (s *findingPrinter) print(b clientrules.Breach) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[b.Name]++
	if s.counts[b.Name] > maxBreaches {
		return
	}
	text := breachText(b)
	if s.counts[b.Name] == maxBreaches {
		text += "  (further ones of this rule are only counted)\n"
	}
	if err := s.p.Print(s.p.Show(text)); err != nil {
		s.p.Logf("%v", err)
	}
}

func (s *findingPrinter) reportFailure(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cause := machine.Explain(err)
	if !s.hasFailed {
		s.p.Logf("a client's connection could not be forwarded, and later ones may fail too: %s",
			cmp.Or(cause, text.OfError(err)))
	}
	s.hasFailed = true // it is said once
	s.cause = cmp.Or(s.cause, cause)
}

// shortage returns an error if connections were not passed on for want of something here.
func (s *findingPrinter) shortage() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cause == "" {
		return nil
	}
	return &shared.InternalError{Cause: errors.New("connections were not forwarded: " + s.cause)}
}

// breachText returns a breach in a few lines.
func breachText(b clientrules.Breach) string {
	c := clauseOf(b.Name)
	party := "client"
	if strings.HasPrefix(b.Name, record.LawPrefix) || !c.BindsClient() { // the law judges what the server sends
		party = "server"
	}
	place := ""
	if b.Conn > 0 {
		place = fmt.Sprintf(" connection %d", b.Conn)
	}
	if b.Worker != "" {
		place += " worker " + b.Worker
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s: %s%s: %s\n", c.BreachVerdict(), party, b.Name, place, b.Text)
	fmt.Fprintf(&text, "  %s (%s): %s\n", c.ID, c.Level, c.Statement)
	for _, m := range b.Evidence {
		text.WriteString("  " + m.String() + "\n")
	}
	return text.String()
}

// finishRecord writes the script and prints the results. err is why the recording is incomplete; nil if it is not.
func (p process) finishRecord(o *recordOptions, r *record.Recorder, server reports.Target, err error) error {
	s := r.Summary()
	if o.output != "" && s.Counts.Connections > 0 {
		err = errors.Join(p.saveScript(o.output, r, s), err)
	}
	err = errors.Join(o.trace.close(p), err)
	code := recordExit(s)
	if err != nil {
		code = reports.ExitInternal
	}
	var page reports.Page
	page.Target("server", server, version())
	page.Add(recordPage(s, code).Blocks...)
	return cmp.Or(p.PrintPage(page), err, shared.ExitError(code))
}

func (p process) saveScript(name string, r *record.Recorder, s record.Summary) error {
	text, scriptErr := r.Script()
	// Clients may send secrets in the wrong place.
	if err := shared.ReplaceResult("--output", name, p.Secrets.Hidden(shared.WriteBytes(text))); err != nil {
		return &shared.InternalError{Cause: err} // it could be opened before the recording
	}
	if scriptErr != nil {
		return &shared.InternalError{Cause: scriptErr}
	}
	p.Logf("the conversation is in %s; replay it with fwpcheck run %[1]s --url URL", name)
	if s.CutReason != "" {
		p.Logf("it is incomplete: %s", s.CutReason)
	}
	return nil
}

// recordExit returns the exit code of a recording.
func recordExit(s record.Summary) int {
	for name := range s.Counts.Breaches {
		if clauseOf(name).BreachVerdict() == reports.Fail {
			return reports.ExitFindings
		}
	}
	if len(s.Counts.Commands) == 0 {
		return reports.ExitInconclusive
	}
	return reports.ExitWell
}

// clauseOf returns the clause of a breach, which has one.
func clauseOf(breach string) conformance.Clause {
	c, _ := registry.Clause(clauseID(breach)) // a test knows that there is one
	return c
}

// clauseID returns the id of the clause of a breach. The name of one that the law has found ends with it.
func clauseID(breach string) string {
	if _, id, ok := strings.Cut(breach, " "); ok {
		return id
	}
	return registry.Default().ClauseOf(breach)
}

// recordPage returns what a recording has seen. Code is the exit code.
func recordPage(s record.Summary, code int) reports.Page {
	blocks := []reports.Block{reports.Heading{Level: 1, Text: reports.PlainText("RECORDED")}, recordCounts(s)}
	if len(s.Counts.Breaches) > 0 {
		blocks = append(blocks, recordBreaches(s))
	}
	rules, undecided := []string{}, 0
	for _, r := range s.Results {
		switch r.State() {
		case clientrules.StateHeld:
			rules = append(rules, r.Rule.Breach)
		case clientrules.StateInconclusive:
			undecided++
		}
	}
	blocks = append(blocks, reports.Prose{Lines: []reports.Text{reports.PlainText(fmt.Sprintf(
		"%s passed; the situation of %s did not occur, so they are inconclusive.",
		text.Count(len(rules), "rule"), text.Count(undecided, "rule")))}})
	words := "no violations of the specification"
	switch {
	case code == reports.ExitInternal:
		words = "the recording is incomplete"
	case s.Counts.Connections == 0:
		words = "no client connected: nothing was evaluated"
	case recordExit(s) == reports.ExitFindings:
		words = "the specification was violated"
	case len(s.Counts.Commands) == 0: // a health check
		words = "no client sent a command: nothing was evaluated"
	case slices.ContainsFunc(slices.Collect(maps.Keys(s.Counts.Breaches)), func(name string) bool {
		return clauseOf(name).BreachVerdict() == reports.Warn
	}):
		words = "only recommendations were violated"
	}
	return reports.Page{Blocks: append(blocks, reports.Conclusion{
		Facts: fmt.Sprintf("%s; exit code %d", s.Duration.Round(time.Millisecond), code), Words: reports.PlainText(words),
	})}
}

func recordCounts(s record.Summary) reports.Block {
	var commands []string
	for _, verb := range slices.Sorted(maps.Keys(s.Counts.Commands)) {
		commands = append(commands, fmt.Sprintf("%d %s", s.Counts.Commands[verb], verb))
	}
	var counts reports.Fields
	add := func(label, words string) {
		counts.Fields = append(counts.Fields, reports.Field{Label: label, Lines: []reports.Text{reports.PlainText(words)}})
	}
	add("connections", fmt.Sprint(s.Counts.Connections))
	add("bytes", fmt.Sprintf("%d from clients, %d from the server", s.Counts.ClientBytes, s.Counts.ServerBytes))
	add("error replies", fmt.Sprint(s.Counts.Errors))
	if len(commands) > 0 {
		add("commands", strings.Join(commands, ", "))
	}
	if n := int(s.Counts.UnjudgedConnections); n > 0 {
		add("not judged", text.Count(n, "connection")+" that sent bytes faster than they could be checked")
	}
	return counts
}

func recordBreaches(s record.Summary) reports.Block {
	t := reports.Table{Columns: []reports.Column{
		{Title: "verdict"}, {Title: "times", AlignRight: true}, {Title: "breach"}, {Title: "clause"},
		{Title: "what the clause requires"},
	}, Wrap: true}
	for _, name := range slices.Sorted(maps.Keys(s.Counts.Breaches)) {
		c := clauseOf(name)
		t.Rows = append(t.Rows,
			reports.Cells(c.BreachVerdict().String(), fmt.Sprint(s.Counts.Breaches[name]), name, c.ID, c.Statement))
	}
	return t
}
