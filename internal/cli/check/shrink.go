package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/protocols/fwp/record"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// shrinkOptions are the flags of `fwpcheck shrink`.
type shrinkOptions struct {
	testOptions

	finding, output string
	length          time.Duration
}

// newShrink builds `fwpcheck shrink`.
func newShrink(p process) *cobra.Command {
	o := &shrinkOptions{}
	cmd := &cobra.Command{
		Use:   "shrink FILE",
		Short: "Shorten a script while it still shows its finding",
		Args: func(_ *cobra.Command, args []string) error {
			return errorIf(len(args) != 1,
				fmt.Sprintf("give one script, the one with the finding: got %d files", len(args)))
		},
		RunE: func(cmd *cobra.Command, args []string) error { return p.shrink(cmd.Context(), o, args[0]) },
	}
	f := o.bindFlags(cmd)
	o.targetFlags.Declare(f, "play on")
	o.targetFlags.DeclareProtocol(f)
	f.StringVar(&o.finding, "finding", "", "keep the finding `NAME` (the names are listed at the first play)")
	f.StringVarP(&o.output, "output", "o", "", "write the script to `FILE`")
	f.DurationVar(&o.length, "for", 5*time.Minute, "stop after `TIME` with the script so far")
	f.DurationVar(&o.timeout, "timeout", 5*time.Second, "the longest wait for a reply")
	shared.DeclareBug(cmd, &o.bug, "give the embedded server the planted bug `NAME` (see fwpcheck list --bugs)")
	shared.DeclareVariation(cmd, &o.variation, "")
	return cmd
}

// shrink makes a script smaller.
func (p process) shrink(ctx context.Context, o *shrinkOptions, file string) error {
	script, protocol, err := p.loadScript(file, o.targetFlags.Protocol())
	if err = cmp.Or(err,
		errorIf(o.length <= 0 || o.timeout <= 0, "--for and --timeout must be longer than 0")); err != nil {
		return err
	}
	o.targetFlags.SetProtocol(protocol)
	if err := shared.CheckWritable("--output", o.output); err != nil {
		return err
	}
	ctx, stop := p.AnnounceInterrupt(ctx)
	defer stop()
	s := &record.Shrinker{Timeout: o.timeout, IsUnwatched: !protocol.HasClientRules, Law: protocol.Law}
	if protocol.Alphabet != nil {
		s.Simplify = protocol.Alphabet().Simplify
	}
	return shared.InterruptError(ctx, p.shrinkWith(ctx, o, s, script))
}

// shrinkWith has a Shrinker make a script smaller, and writes what is left when that is done or ctx has ended.
func (p process) shrinkWith(
	ctx context.Context, o *shrinkOptions, s *record.Shrinker, script *scenarios.Script,
) error {
	end, err := p.shrinkTarget(ctx, o, s)
	if err != nil {
		return err
	}
	defer end()
	found, err := s.Findings(ctx, script)
	if err != nil {
		return &shared.InternalError{Cause: err}
	}
	for _, name := range found {
		p.Logf("found: %s", p.Show(name))
	}
	if len(found) == 0 {
		p.Logf("the script has no finding on this server, so it cannot be shortened")
		return shared.Exit(reports.ExitInconclusive)
	}
	finding := found[0]
	if o.finding != "" {
		if !slices.Contains(found, o.finding) {
			return fmt.Errorf("--finding %s: the script does not have this finding; it has %s", o.finding, strings.Join(found,
				", "))
		}
		finding = o.finding
	}
	shrinkCtx, cancel := context.WithTimeout(ctx, o.length)
	defer cancel()
	p.Logf("shrinking, keeping this finding: %s", p.Show(finding))
	small := s.Shrink(shrinkCtx, script, finding)
	small.Title = "shrunk: " + text.OneLine(finding)
	p.Logf("%d of %s are left, after %s", len(small.Steps), text.Count(len(script.Steps), "statement"),
		text.Count(s.Plays, "play"))
	source := scenarios.Format(small)
	if o.output == "" {
		return p.Print(string(source))
	}
	return shared.ReplaceResult("--output", o.output, shared.WriteBytes(source))
}

// loadScript reads one script that can be played, and returns its protocol, too. name is that of --protocol, if any.
func (p process) loadScript(file, name string) (
	script *scenarios.Script, protocol *registry.Entry, err error,
) {
	files, err := p.read([]string{file})
	if err != nil {
		return nil, nil, err
	}
	if protocol, err = protocolOf(files, name, ""); err != nil {
		return nil, nil, err
	}
	scripts, found := examine(files, protocol)
	if errs := mistakes(found); len(errs) > 0 {
		return nil, nil, errors.New(p.Show(errs[0].Error()))
	}
	if len(scripts) != 1 {
		return nil, nil, fmt.Errorf("%s: expected one script, got %d", file, len(scripts))
	}
	return scripts[0], protocol, nil
}

// shrinkTarget sets the server of a Shrinker.
func (p process) shrinkTarget(ctx context.Context, o *shrinkOptions, s *record.Shrinker) (end func(), err error) {
	endpoint, err := o.targetFlags.Endpoint(o.flags, p.LookupEnv, nil)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(endpoint.SetVariation(o.variation), endpoint.SetBug(o.bug)); err != nil {
		return nil, err
	}
	if endpoint.IsPrivate() {
		server, end, err := testTarget{Endpoint: endpoint}.start(ctx, registry.Config{}, o.timeout)
		s.Target = server.Target
		return end, err
	}
	s.Target, s.Password = endpoint.Server, endpoint.Password
	_, err = endpoint.Identify(ctx, o.timeout)
	return func() {}, err
}
