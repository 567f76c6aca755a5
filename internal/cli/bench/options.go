package bench

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/internal/base/input"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
)

// The limits of --timeout.
const (
	minTimeout = 3 * time.Second
	maxTimeout = time.Hour
)

// loadFlags are the flags about the load itself, which all commands that load a server have.
type loadFlags struct {
	targetFlags      shared.TargetFlags
	bug, variation   string // of the embedded server
	thresholds       []string
	parsedThresholds []validity.Threshold
	reportFlags      shared.ReportFlags

	preset   string
	settings map[string]string // of the workload, by key

	overload      shared.OneOf
	engine        shared.OneOf
	pace          float64
	processors    int
	timeout       time.Duration
	awaitsResults bool // pushes wait for their results
	isSeeded      bool // the seed was given
	allowsKeys    bool // flags may be keys of the workload file
	needsBatch    bool // the server must have the command for several jobs
	flags         *pflag.FlagSet
}

// newLoadFlags returns the flags with their defaults.
func newLoadFlags() loadFlags {
	return loadFlags{
		overload: shared.NewOneOf("queue", "drop", "abort"),
		engine:   shared.NewOneOf(autoEngine, epollEngine, portableEngine),
	}
}

// benchOptions are the flags of `fwpbench run`.
type benchOptions struct {
	loadFlags

	disruptions  disruptFlags
	showsInvalid bool
	segment      segmentFlags
	metrics      metricsFlag

	hlog, hgrm, series, history string
	callLimit                   int64

	abortOn []string // as they were given
	aborts  []validity.Abort

	percentiles      []string // as they were given
	tablePercentiles []results.Percentile
}

func (o *benchOptions) declare(cmd *cobra.Command) {
	f := cmd.Flags()
	o.declareTarget(cmd, "give the embedded server the planted bug `NAME`, to see a report (fwpcheck list --bugs)", "")
	o.declareLoad(cmd)
	o.segment.declare(cmd)
	o.disruptions.declare(cmd)
	o.declareThresholds(cmd)
	o.declareShown(f)
	f.StringVar(&o.history, "history", "",
		"record every PUSH, FETCH, ACK and FAIL, check them, and write them to `FILE` (for fwpcheck recheck)")
	f.Int64Var(&o.callLimit, "history-limit", load.DefaultMaxCalls,
		"record at most `N` calls, about 1 KB of memory each; a longer history is cut")
	f.StringArrayVar(&o.abortOn, "abort-on", nil, "end the load early, with exit code 1, when `'METRIC>SHARE for TIME'` "+
		"holds: 'refused>50% for 10s'; may be repeated (default: nothing but refusals for 30 s)")
	o.metrics.declare(f)
	o.reportFlags.Declare(cmd, "print a line every second")
}

// declareShown adds the flags about what is shown, and written beside the report.
func (o *benchOptions) declareShown(f *pflag.FlagSet) {
	f.StringSliceVar(&o.percentiles, "percentiles", nil,
		"show these `PERCENTILES` in tables, and add them to the seconds of CSV and JSON: p50,p95,p99.5")
	f.BoolVar(&o.showsInvalid, "show-invalid", false,
		"show the rates and times of an INVALID run too, marked as such")
	f.StringVar(&o.hlog, "hlog", "", "write the histograms of every second to `FILE` (HdrHistogram log)")
	f.StringVar(&o.hgrm, "hgrm", "", "write the percentiles of every kind of command to files (.hgrm) in `FOLDER`")
	f.StringVar(&o.series, "csv", "", "write the figures of every second to `FILE` (CSV)")
}

// declareTarget adds the flags about the server; bug is the usage of --bug, server that of
// [shared.DeclareVariation]. Flags are listed as they are declared.
func (o *loadFlags) declareTarget(cmd *cobra.Command, bug, server string) {
	f := cmd.Flags()
	f.SortFlags = false
	o.targetFlags.Declare(f, "load")
	o.targetFlags.DeclareProtocol(f)
	o.targetFlags.Command = "fwpbench " + cmd.Name()
	f.BoolVar(&o.awaitsResults, "requests", false,
		"producers wait until their jobs are done: "+strings.Join(requests(), ", "))
	shared.DeclareBug(cmd, &o.bug, bug)
	shared.DeclareVariation(cmd, &o.variation, server)
}

// declareThresholds adds the flag of thresholds.
func (o *loadFlags) declareThresholds(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&o.thresholds, "threshold", nil,
		"exit with code 1 unless `'METRIC OP VALUE'` holds: 'push.response.p99<20ms', 'errors<0.1%', 'lost==0'; may be "+
			"repeated; fwpbench metrics lists the metrics")
	shared.CompleteFlags(cmd, map[string]func() []string{
		"threshold": func() []string { return results.MetricNames(load.Ops()...) },
	})
}

// declareLoad adds the flags about the load.
func (o *loadFlags) declareLoad(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.preset, "preset", "", "start from the preset `NAME`; fwpbench presets lists them")
	o.declareWorkload(f)
	f.Var(&o.overload, "overload", "what to do with an arrival if no connection is free")
	f.Float64Var(&o.pace, "connect-rate", 1000, "open at most `N` connections a second")
	f.DurationVar(&o.timeout, "timeout", client.DefaultPatience, "close a connection whose reply takes longer")
	f.IntVar(&o.processors, "processors", 0,
		"use `N` CPUs (GOMAXPROCS) (default: all, or half of them if the server is on this machine)")
	f.Var(&o.engine, "engine", "the network engine: epoll (Linux, no TLS) takes less CPU; auto is epoll where possible")
	shared.CompleteFlags(cmd, map[string]func() []string{"preset": plan.Presets})
}

// declareWorkload adds a flag for every setting of a workload, or for those with these keys. A value is checked at once
// and applied later, on top of the preset or the file.
func (o *loadFlags) declareWorkload(f *pflag.FlagSet, keys ...string) {
	o.settings = map[string]string{}
	base, err := plan.Preset("")
	if err != nil {
		panic(err) // it is always there
	}
	base = base.WithDefaults()
	defaults := base.Settings()
	for i, s := range new(plan.Workload).Settings() {
		if len(keys) > 0 && !slices.Contains(keys, s.Key) {
			continue
		}
		f.Var(&textValue{s.Value, func(text string) { o.settings[s.Key] = text }}, s.Flag(), s.Usage)
		flag := f.Lookup(s.Flag())
		if flag.DefValue = defaults[i].Value.String(); flag.DefValue == s.Value.String() {
			flag.DefValue = "" // the usage has the meaning of none
		}
		if s.Value.Type() == "bool" {
			flag.NoOptDefVal = "true"
		}
	}
}

// textValue is the value of a flag that is also kept as it was written.
type textValue struct {
	plan.Value
	keep func(text string)
}

func (k *textValue) Set(text string) error {
	if err := k.Value.Set(text); err != nil {
		return err
	}
	k.keep(text)
	return nil
}

// workload returns the workload of the file or the preset, with the flags applied.
func (o *loadFlags) workload(args []string) (plan.Workload, error) {
	w, err := o.base(args)
	if err != nil {
		return w, err
	}
	for _, s := range w.Settings() {
		text, ok := o.settings[s.Key]
		if !ok {
			continue
		}
		if err := s.Value.Set(text); err != nil {
			return w, fmt.Errorf("--%s: %w", s.Flag(), err)
		}
	}
	if o.isSeeded = o.flags.Changed("seed") || w.Seed != 0; !o.isSeeded {
		w.Seed = rand.Uint64()
	}
	if w.Trace != "" {
		if w.TraceData, err = readTrace(w.Trace); err != nil {
			return w, fmt.Errorf("--trace: %w", err)
		}
	}
	return w, flagErrors(w.Check())
}

// readTrace reads the file of a recorded load.
func readTrace(name string) (*plan.Trace, error) {
	f, err := input.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	return plan.ReadTrace(filepath.ToSlash(name), f)
}

// flagErrors returns problems of a workload in the words of the command line: a problem that is not from a file names
// settings as YAML has them.
func flagErrors(err error) error {
	list := []error{err}
	if errs, ok := err.(interface{ Unwrap() []error }); ok {
		list = errs.Unwrap()
	}
	dashes := strings.NewReplacer(keyFlags()...)
	for i, err := range list {
		p, ok := errors.AsType[*plan.Problem](err)
		if !ok || p.File != "" {
			continue
		}
		problem := *p
		problem.Key = ""
		words := dashes.Replace(problem.Error())
		if p.Key != "" {
			words = "--" + strings.ReplaceAll(p.Key, "_", "-") + ": " + words
		}
		list[i] = errors.New(words)
	}
	return errors.Join(list...)
}

// keyFlags returns the keys of YAML that contain an underscore, each followed by its flag.
func keyFlags() []string {
	var pairs []string
	for _, s := range new(plan.Workload).Settings() {
		if strings.Contains(s.Key, "_") {
			pairs = append(pairs, s.Key, "--"+s.Flag())
		}
	}
	return pairs
}

// base returns the workload without the flags.
func (o *loadFlags) base(args []string) (plan.Workload, error) {
	if len(args) == 0 {
		w, err := plan.Preset(o.preset)
		return w, flagErrors(err)
	}
	if shared.IsURL(args[0]) {
		return plan.Workload{}, errors.New("use --url for a server: fwpbench run --url URL")
	}
	if slices.Contains(plan.Presets(), args[0]) {
		return plan.Workload{}, fmt.Errorf("use --preset for a preset: fwpbench run --preset %s", args[0])
	}
	if o.preset != "" {
		return plan.Workload{}, fmt.Errorf("--preset %s and the file %s: a file names its preset itself (preset: %s)",
			o.preset, args[0], o.preset)
	}
	source, err := input.Read(args[0], plan.MaxSource)
	if err != nil {
		return plan.Workload{}, fmt.Errorf("read workload: %w", err)
	}
	return plan.ParseWith(filepath.ToSlash(args[0]), source, o.otherKeys())
}

// otherKeys returns the flags that a workload file may have as keys beside its settings: all of the command that has
// one file. A flag on the command line overrides the file.
func (o *loadFlags) otherKeys() (keys plan.ExtraKeys) {
	if !o.allowsKeys {
		return keys
	}
	names := map[string]bool{}
	o.flags.Visit(func(f *pflag.Flag) { names[f.Name] = true })
	settings := map[string]bool{"preset": true, "help": true}
	for _, s := range new(plan.Workload).Settings() {
		settings[s.Flag()] = true
	}
	o.flags.VisitAll(func(f *pflag.Flag) {
		if !settings[f.Name] {
			keys.Keys = append(keys.Keys, strings.ReplaceAll(f.Name, "-", "_"))
		}
	})
	keys.Set = func(key, value string) error {
		flag := strings.ReplaceAll(key, "_", "-")
		if names[flag] {
			return nil
		}
		return shared.SetFlag(o.flags, flag, value)
	}
	return keys
}

// read reads the workload, and with it the flags that are keys of its file: before these are checked.
func (o *loadFlags) read(args []string) (w plan.Workload, err error) {
	o.allowsKeys = true
	return o.workload(args)
}

// validate checks the values that no flag checks by itself.
func (o *loadFlags) validate() error {
	switch {
	case o.flags.Changed("processors") && (o.processors < 1 || o.processors > runtime.NumCPU()):
		return fmt.Errorf("--processors must be from 1 to %d, which is how many this machine has", runtime.NumCPU())
	case o.flags.Changed("connect-rate") && o.pace <= 0:
		return errors.New("--connect-rate must be more than 0")
	case o.timeout < minTimeout || o.timeout > maxTimeout:
		return fmt.Errorf("--timeout must be from %v, because a FETCH may take two seconds, to %v", minTimeout, maxTimeout)
	}
	return nil
}

// validate checks the values that no flag checks by itself.
func (o *benchOptions) validate() (err error) {
	if err := o.loadFlags.validate(); err != nil {
		return err
	}
	if err := o.segment.validate(time.Now()); err != nil {
		return err
	}
	if o.parsedThresholds, err = parseThresholds(o.thresholds); err != nil {
		return err
	}
	if o.aborts, err = parseEach("abort-on", o.abortOn, validity.ParseAbort); err != nil {
		return err
	}
	if o.tablePercentiles, err = parsePercentiles(o.percentiles); err != nil {
		return err
	}
	switch {
	case o.callLimit < minCalls:
		return fmt.Errorf("--history-limit %d: it is %d or more", o.callLimit, minCalls)
	case o.flags.Changed("history-limit") && o.history == "":
		return errors.New("--history-limit: there is no history; use it with --history FILE")
	}
	return cmp.Or(o.metrics.validate(), o.disruptions.validate(o.flags))
}

// minCalls is the smallest limit of a history: some for each loop.
const minCalls = 1000

// parsePercentiles reads the values of --percentiles.
func parsePercentiles(names []string) (all []results.Percentile, err error) {
	for _, name := range names {
		p, err := results.ParsePercentile(strings.TrimSpace(name))
		if err != nil {
			return nil, fmt.Errorf("--percentiles: %w", err)
		}
		all = append(all, p)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}
