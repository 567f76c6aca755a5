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
	return p.atServer(ctx, o, func(ctx context.Context, of *registry.Peer, s *upgrade.Site) error {
		ctx, leave := context.WithCancel(ctx)
		defer leave()
		broken := false
		s.Tell = func(f upgrade.Fact) {
			broken = true
			p.Logf("%s", p.Show(text.OneLine(string(f.State)+": "+f.Actual)))
		}
		jobs, err := upgrade.Fill(ctx, s)
		if err != nil {
			return &shared.UnreachableError{Cause: err, Advice: "the server could not be filled with jobs"}
		}
		p.Logf("%s: fwpcheck upgrade account %s asks for them", text.Count(len(jobs.Jobs), "job"), o.reportFlags.Outputs[0])
		if err := shared.ReplaceResult("--output", o.reportFlags.Outputs[0], jobs.Save); err != nil || !broken {
			return err
		}
		return shared.Exit(reports.ExitFindings)
	})
}

// mostJobs is how many bytes of a file of jobs are read.
const mostJobs = 1 << 30

// account asks the server of --url for the jobs in a file.
func (p process) account(ctx context.Context, o *upgradeOptions, file string) error {
	data, err := input.Read(file, mostJobs)
	if err != nil {
		return err
	}
	jobs, err := upgrade.Load(data)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	known, err := o.expect.read(selection{}, upgrade.Checks()...)
	if err != nil {
		return err
	}
	return p.atServer(ctx, o, func(ctx context.Context, of *registry.Peer, s *upgrade.Site) error {
		started := time.Now()
		return o.report(ctx, p, of, upgrade.Accounted(ctx, s, jobs), known, started)
	})
}

// atServer does something with the server of --url.
func (p process) atServer(
	ctx context.Context, o *upgradeOptions, do func(context.Context, *registry.Peer, *upgrade.Site) error,
) error {
	of, err := o.peer()
	err = cmp.Or(err, refuse(o.url == "", "name the server with --url"),
		refuse(o.plan.Large < 1, "--large must be 1 or more"))
	if err != nil {
		return err
	}
	at, err := o.targetFlags.At(o.url)
	if err != nil {
		return err
	}
	p.Secrets = at.Secrets
	ctx, stop := p.begin(ctx)
	defer stop()
	if _, err := at.Identify(ctx, o.timeout); err != nil {
		return err
	}
	return do(ctx, of, &upgrade.Site{
		Target: at.Server, Password: at.Password, Plan: o.plan, Step: 1, Ready: time.Now(), Timeout: o.timeout,
		Patience: o.patience, History: history.NewRecorder(),
	})
}

// stages returns the servers of a run, and a function that ends what was started.
func (o *upgradeOptions) stages(of *registry.Peer, p *process) ([]upgrade.Stage, func(), error) {
	switch {
	case o.url != "":
		return o.stagesAt(p)
	case len(o.starts) > 0:
		return o.stagesOf(p)
	}
	return o.stagesEmbedded(of)
}

// stagesOf returns servers that commands start, one at the place of the other.
func (o *upgradeOptions) stagesOf(p *process) (all []upgrade.Stage, end func(), err error) {
	var now *target.Started
	password := "" // of all of them, if all can have one
	if !slices.ContainsFunc(o.starts, func(command string) bool { return !strings.Contains(command, "{password}") }) {
		password = rand.Text()
		p.Secrets = target.NewSecrets(password)
	}
	how, last := stops[o.stop.String()].how, appearance{}
	for _, command := range o.starts {
		at, err := o.targetFlags.Starting(command)
		if err = cmp.Or(err, o.operatorFlags.Apply(&at)); err != nil {
			return nil, nil, err
		}
		all = append(all, upgrade.Stage{
			Name: target.RedactCommand(command),
			Stop: func(ctx context.Context) error { return now.Server.Stop(ctx, how) },
			Start: func(ctx context.Context) (site upgrade.Site, err error) {
				if now == nil {
					now, err = at.Start(ctx, password, o.timeout)
				} else {
					err = at.StartInstead(ctx, now, o.timeout)
				}
				if err != nil {
					return site, err
				}
				site = upgrade.Site{Target: &now.Server, Password: password, Alone: true}
				return last.next(&site, look(ctx, at, &now.Server, password, o.timeout))
			},
		})
	}
	return all, func() {
		if now == nil {
			return
		}
		if ending := now.Ending(); ending != "" {
			p.Logf("the server of --start ended by itself: %s", p.Show(ending))
		}
		now.End()
	}, nil
}

// stagesAt returns the server of --url, before and after the command of --step.
func (o *upgradeOptions) stagesAt(p *process) ([]upgrade.Stage, func(), error) {
	at, err := o.targetFlags.At(o.url)
	if err != nil {
		return nil, nil, err
	}
	p.Secrets = at.Secrets
	last, patience := appearance{}, time.Duration(0) // it is there, and after the step it need not be there at once
	start := func(ctx context.Context) (upgrade.Site, error) {
		for until := time.Now().Add(patience); ; time.Sleep(time.Second) {
			_, err := at.Identify(ctx, o.timeout)
			if err != nil && ctx.Err() == nil && time.Now().Before(until) {
				continue
			}
			patience = o.patience
			site := upgrade.Site{Target: at.Server, Password: at.Password}
			if err != nil {
				return site, err
			}
			return last.next(&site, look(ctx, at, at.Server, at.Password, o.timeout))
		}
	}
	at.Server.Operator = target.Commands{ByAction: map[target.Action]string{target.Restart: o.step}, Timeout: time.Hour}
	return []upgrade.Stage{
		{Name: at.String(), Start: start, Stop: at.Server.Restart},
		{Name: "that of --step", Start: start},
	}, func() {}, nil
}

// stagesEmbedded returns the embedded server twice, on one folder.
func (o *upgradeOptions) stagesEmbedded(of *registry.Peer) ([]upgrade.Stage, func(), error) {
	if o.stop.String() != "order" {
		return nil, nil, errors.New("--stop does not work with the embedded server, which runs in this process; use " +
			"--start 'fwpcheck serve --port {port} --dir {dir}'")
	}
	bugs, err := of.UpgradeFaultsNamed(o.bug)
	if err != nil {
		return nil, nil, err
	}
	variation, err := of.VariationNamed(o.variation)
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "fwp-upgrade-*")
	if err != nil {
		return nil, nil, &shared.InternalError{Cause: err}
	}
	var now *registry.Server
	stop := func(context.Context) error { now.Close(); return nil }
	start := func(context.Context) (upgrade.Site, error) {
		s, err := of.Start(registry.Config{Dir: dir, Bugs: bugs, Variation: variation})
		if err != nil {
			return upgrade.Site{}, err
		}
		site := upgrade.Site{Target: s.Target, Alone: true}
		if now != nil {
			site.Differs = []string{"its start in this process"}
		}
		now = s
		return site, nil
	}
	stage := upgrade.Stage{Name: "the embedded server", Start: start, Stop: stop}
	return []upgrade.Stage{stage, stage}, func() {
		if now != nil {
			now.Close()
		}
		_ = os.RemoveAll(dir) // nothing can be done about it
	}, nil
}

// appearance is what is seen of a server by which another one can be told from it.
type appearance struct {
	serving target.Serving
	name    string // and version, as it reports them; empty: it reports none
	files   []reports.SubjectFile
	known   bool // there is a server
}

// look looks at what serves.
func look(
	ctx context.Context, at shared.Endpoint, server *target.Server, password string, timeout time.Duration,
) appearance {
	a := appearance{serving: server.Serving(ctx), known: true}
	a.files = shared.Serves(a.serving)
	if name, version, err := at.Software(ctx, server, password, timeout); err == nil {
		a.name = strings.TrimSpace(name + " " + version)
	}
	return a
}

// next makes a later appearance the last one, and completes the site of its server. The error is a
// [target.UnseenError] if it cannot be told from the one before: then it is not known which of them serves.
func (a *appearance) next(site *upgrade.Site, now appearance) (upgrade.Site, error) {
	before := *a
	*a, site.Name = now, now.name
	if !before.known {
		return *site, nil
	}
	if site.Differs = before.differs(now); len(site.Differs) > 0 {
		return *site, nil
	}
	why := "it is unknown whether this is another server: neither its process nor its program could be seen"
	if now.name != "" {
		why += fmt.Sprintf("; both report %s", now.name)
	}
	return *site, &target.UnseenError{
		Action: target.Start, Why: why, Serves: true,
		Advice: "run fwpcheck on the server's machine, as a user who can see its processes",
	}
}

// differs returns in what a later server differs from this one.
func (a *appearance) differs(later appearance) (by []string) {
	if a.serving.IsOther(later.serving) {
		by = append(by, "its process")
	}
	if a.name != "" && later.name != "" && a.name != later.name {
		by = append(by, "what it reports ("+later.name+")")
	}
	for i := range min(len(a.files), len(later.files)) { // a program may be that of a script
		if was, is := a.files[i], later.files[i]; was.SHA256 != is.SHA256 {
			return append(by, fmt.Sprintf("its file (%s, SHA-256 %.12s; before %s, %.12s)",
				is.Name, is.SHA256, was.Name, was.SHA256))
		}
	}
	return by
}
