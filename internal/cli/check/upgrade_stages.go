package check

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/input"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/protocols/fwp/upgrade"
	"github.com/fwpsuite/fwp/reports"
)

// fill fills the server of --url, and writes down with what.
func (p process) fill(ctx context.Context, o *upgradeOptions) error {
	if len(o.reportFlags.Outputs) != 1 {
		return errors.New("upgrade fill writes the jobs to one file: give it with -o FILE")
	}
	return p.visitServer(ctx, o, func(ctx context.Context, entry *registry.Entry, s *upgrade.RunningServer) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		isBroken := false
		s.Tell = func(f upgrade.Fact) {
			isBroken = true
			p.Logf("%s", p.Show(text.OneLine(string(f.State)+": "+f.Actual)))
		}
		jobs, err := upgrade.Fill(ctx, s)
		if err != nil {
			return &shared.UnreachableError{Cause: err, Advice: "the server could not be filled with jobs"}
		}
		p.Logf("%s: fwpcheck upgrade account %s asks for them", text.Count(len(jobs.Jobs), "job"), o.reportFlags.Outputs[0])
		if err := shared.ReplaceResult("--output", o.reportFlags.Outputs[0], jobs.Save); err != nil || !isBroken {
			return err
		}
		return shared.Exit(reports.ExitFindings)
	})
}

// maxJobBytes is how many bytes of a file of jobs are read.
const maxJobBytes = 1 << 30

// account asks the server of --url for the jobs in a file.
func (p process) account(ctx context.Context, o *upgradeOptions, file string) error {
	data, err := input.Read(file, maxJobBytes)
	if err != nil {
		return err
	}
	jobs, err := upgrade.Load(data)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	expected, err := o.expect.read(selection{}, upgrade.Checks()...)
	if err != nil {
		return err
	}
	return p.visitServer(ctx, o, func(ctx context.Context, entry *registry.Entry, s *upgrade.RunningServer) error {
		start := time.Now()
		return o.report(ctx, p, entry, upgrade.AccountFor(ctx, s, jobs), expected, start)
	})
}

// visitServer does something with the server of --url.
func (p process) visitServer(
	ctx context.Context, o *upgradeOptions, do func(context.Context, *registry.Entry, *upgrade.RunningServer) error,
) error {
	entry, err := o.findEntry()
	err = cmp.Or(err, errorIf(o.url == "", "name the server with --url"),
		errorIf(o.plan.LargeJobs < 1, "--large must be 1 or more"))
	if err != nil {
		return err
	}
	at, err := o.targetFlags.EndpointAt(o.url)
	if err != nil {
		return err
	}
	p.Secrets = at.Secrets
	ctx, stop := p.begin(ctx)
	defer stop()
	if _, err := at.Identify(ctx, o.timeout); err != nil {
		return err
	}
	return do(ctx, entry, &upgrade.RunningServer{
		Target: at.Server, Password: at.Password, Filling: o.plan, Step: 1, ReadyTime: time.Now(), Timeout: o.timeout,
		Patience: o.patience, History: history.NewRecorder(),
	})
}

// stages returns the servers of a run, and a function that ends what was started.
func (o *upgradeOptions) stages(entry *registry.Entry, p *process) ([]upgrade.Stage, func(), error) {
	switch {
	case o.url != "":
		return o.stagesByURL(p)
	case len(o.commands) > 0:
		return o.stagesByCommand(p)
	}
	return o.embeddedStages(entry)
}

// stagesByCommand returns servers that commands start, one at the place of the other.
func (o *upgradeOptions) stagesByCommand(p *process) (all []upgrade.Stage, end func(), err error) {
	var server *target.StartedServer
	password := "" // of all of them, if all can have one
	if !slices.ContainsFunc(o.commands, func(command string) bool { return !strings.Contains(command, "{password}") }) {
		password = rand.Text()
		p.Secrets = target.NewSecrets(password)
	}
	action, last := stops[o.stop.String()].action, appearance{}
	for _, command := range o.commands {
		at, err := o.targetFlags.StartEndpoint(command)
		if err = cmp.Or(err, o.operatorFlags.Apply(&at)); err != nil {
			return nil, nil, err
		}
		all = append(all, upgrade.Stage{
			Name: target.RedactCommand(command),
			Stop: func(ctx context.Context) error { return server.Server.Stop(ctx, action) },
			Start: func(ctx context.Context) (site upgrade.RunningServer, err error) {
				if server == nil {
					server, err = at.Start(ctx, password, o.timeout)
				} else {
					err = at.StartReplacement(ctx, server, o.timeout)
				}
				if err != nil {
					return site, err
				}
				site = upgrade.RunningServer{Target: &server.Server, Password: password, IsAlone: true}
				return last.next(&site, observe(ctx, at, &server.Server, password, o.timeout))
			},
		})
	}
	return all, func() {
		if server == nil {
			return
		}
		if ending := server.EndReport(); ending != "" {
			p.Logf("the server of --start ended by itself: %s", p.Show(ending))
		}
		server.End()
	}, nil
}

// stagesByURL returns the server of --url, before and after the command of --step.
func (o *upgradeOptions) stagesByURL(p *process) ([]upgrade.Stage, func(), error) {
	at, err := o.targetFlags.EndpointAt(o.url)
	if err != nil {
		return nil, nil, err
	}
	p.Secrets = at.Secrets
	last, patience := appearance{}, time.Duration(0) // it is there, and after the step it need not be there at once
	start := func(ctx context.Context) (upgrade.RunningServer, error) {
		for deadline := time.Now().Add(patience); ; time.Sleep(time.Second) {
			_, err := at.Identify(ctx, o.timeout)
			if err != nil && ctx.Err() == nil && time.Now().Before(deadline) {
				continue
			}
			patience = o.patience
			site := upgrade.RunningServer{Target: at.Server, Password: at.Password}
			if err != nil {
				return site, err
			}
			return last.next(&site, observe(ctx, at, at.Server, at.Password, o.timeout))
		}
	}
	at.Server.Operator = target.Commands{ByAction: map[target.Action]string{target.Restart: o.step}, Timeout: time.Hour}
	return []upgrade.Stage{
		{Name: at.String(), Start: start, Stop: at.Server.Restart},
		{Name: "that of --step", Start: start},
	}, func() {}, nil
}

// embeddedStages returns the embedded server twice, on one folder.
func (o *upgradeOptions) embeddedStages(entry *registry.Entry) ([]upgrade.Stage, func(), error) {
	if o.stop.String() != "order" {
		return nil, nil, errors.New("--stop does not work with the embedded server, which runs in this process; use " +
			"--start 'fwpcheck serve --port {port} --dir {dir}'")
	}
	bugs, err := entry.UpgradeBugsNamed(o.bug)
	if err != nil {
		return nil, nil, err
	}
	variation, err := entry.VariationNamed(o.variation)
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "fwp-upgrade-*")
	if err != nil {
		return nil, nil, &shared.InternalError{Cause: err}
	}
	var server *registry.Server
	stop := func(context.Context) error { server.Close(); return nil }
	start := func(context.Context) (upgrade.RunningServer, error) {
		s, err := entry.Start(registry.Config{Dir: dir, Bugs: bugs, Variation: variation})
		if err != nil {
			return upgrade.RunningServer{}, err
		}
		site := upgrade.RunningServer{Target: s.Target, IsAlone: true}
		if server != nil {
			site.Differences = []string{"its start in this process"}
		}
		server = s
		return site, nil
	}
	stage := upgrade.Stage{Name: "the embedded server", Start: start, Stop: stop}
	return []upgrade.Stage{stage, stage}, func() {
		if server != nil {
			server.Close()
		}
		_ = os.RemoveAll(dir) // nothing can be done about it
	}, nil
}

// appearance is what is seen of a server by which another one can be told from it.
type appearance struct {
	serving target.ServingProcess
	name    string // and version, as it reports them; empty: it reports none
	files   []reports.SubjectFile
	isKnown bool // there is a server
}

// observe looks at what serves.
func observe(
	ctx context.Context, at shared.Endpoint, server *target.Server, password string, timeout time.Duration,
) appearance {
	a := appearance{serving: server.ServingProcess(ctx), isKnown: true}
	a.files = shared.ServingFiles(a.serving)
	if name, version, err := at.Software(ctx, server, password, timeout); err == nil {
		a.name = strings.TrimSpace(name + " " + version)
	}
	return a
}

// next makes a later appearance the last one, and completes the site of its server. The error is a
// [target.UnseenError] if it cannot be told from the one before: then it is not known which of them serves.
func (a *appearance) next(site *upgrade.RunningServer, later appearance) (upgrade.RunningServer, error) {
	earlier := *a
	*a, site.Name = later, later.name
	if !earlier.isKnown {
		return *site, nil
	}
	if site.Differences = earlier.differences(later); len(site.Differences) > 0 {
		return *site, nil
	}
	reason := "it is unknown whether this is another server: neither its process nor its program could be seen"
	if later.name != "" {
		reason += fmt.Sprintf("; both report %s", later.name)
	}
	return *site, &target.UnseenError{
		Action: target.Start, Reason: reason, Serves: true,
		Advice: "run fwpcheck on the server's machine, as a user who can see its processes",
	}
}

// differences returns in what a later server differs from this one.
func (a *appearance) differences(later appearance) (list []string) {
	if a.serving.IsReplacedBy(later.serving) {
		list = append(list, "its process")
	}
	if a.name != "" && later.name != "" && a.name != later.name {
		list = append(list, "what it reports ("+later.name+")")
	}
	for i := range min(len(a.files), len(later.files)) { // a program may be that of a script
		if before, after := a.files[i], later.files[i]; before.SHA256 != after.SHA256 {
			return append(list, fmt.Sprintf("its file (%s, SHA-256 %.12s; before %s, %.12s)",
				after.Name, after.SHA256, before.Name, before.SHA256))
		}
	}
	return list
}
