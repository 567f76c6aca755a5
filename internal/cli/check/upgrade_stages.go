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

	"github.com/fwpsuite/fwp/conformance/upgrade"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/input"
	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/internal/text"
)

// fill fills the server of --url, and writes down with what.
func (p process) fill(ctx context.Context, o *upgradeOptions) error {
	if len(o.reportFlags.Outputs) != 1 {
		return errors.New("upgrade fill writes the jobs to one file: name it with -o FILE")
	}
	return p.atServer(ctx, o, func(ctx context.Context, of *peer.Peer, s *upgrade.Site) error {
		ctx, leave := context.WithCancel(ctx)
		defer leave()
		jobs, err := of.Upgrade.Fill(ctx, s)
		if err != nil {
			return &program.UnreachableError{Cause: err, Advice: "the server could not be filled"}
		}
		p.Logf("%s: fwpcheck upgrade account asks for them", text.Count(len(jobs.Jobs), "job"))
		return program.ReplaceResult("--output", o.reportFlags.Outputs[0], jobs.Save)
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
	return p.atServer(ctx, o, func(ctx context.Context, of *peer.Peer, s *upgrade.Site) error {
		started := time.Now()
		return o.report(ctx, p, of, upgrade.Accounted(ctx, of.Upgrade, s, jobs), known, started)
	})
}

// atServer does something with the server of --url.
func (p process) atServer(
	ctx context.Context, o *upgradeOptions, do func(context.Context, *peer.Peer, *upgrade.Site) error,
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
func (o *upgradeOptions) stages(of *peer.Peer, p *process) ([]upgrade.Stage, func(), error) {
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
	how := stops[o.stop.String()].how
	for _, command := range o.starts {
		at, err := o.targetFlags.Starting(command)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, upgrade.Stage{
			Name: target.Redact(command),
			Stop: func(context.Context) error { now.Stop(how); return nil },
			Start: func(ctx context.Context) (site upgrade.Site, err error) {
				if now == nil {
					now, err = at.Start(ctx, password, o.timeout)
				} else {
					err = at.StartInstead(ctx, now, o.timeout)
				}
				if err != nil {
					return site, err
				}
				name := softwareOf(ctx, at, &now.Server, password, o.timeout)
				return upgrade.Site{Name: name, Target: &now.Server, Password: password, Alone: true}, nil
			},
		})
	}
	return all, func() {
		if now != nil {
			now.End()
		}
	}, nil
}

// softwareOf returns the name and the version that a server tells, "" if it tells none.
func softwareOf(
	ctx context.Context, at program.Endpoint, server *target.Server, password string, timeout time.Duration,
) string {
	name, version, err := at.Software(ctx, server, password, timeout)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(name + " " + version)
}

// stagesAt returns the server of --url, before and after the command of --step.
func (o *upgradeOptions) stagesAt(p *process) ([]upgrade.Stage, func(), error) {
	at, err := o.targetFlags.At(o.url)
	if err != nil {
		return nil, nil, err
	}
	p.Secrets = at.Secrets
	patience := time.Duration(0) // it is there, and after the step it need not be there at once
	start := func(ctx context.Context) (upgrade.Site, error) {
		for until := time.Now().Add(patience); ; time.Sleep(time.Second) {
			_, err := at.Identify(ctx, o.timeout)
			if err == nil || ctx.Err() != nil || time.Now().After(until) {
				patience = o.patience
				name := softwareOf(ctx, at, at.Server, at.Password, o.timeout)
				return upgrade.Site{Name: name, Target: at.Server, Password: at.Password}, err
			}
		}
	}
	step := target.Commands{ByAction: map[target.Action]string{target.Restart: o.step}, Timeout: time.Hour}
	return []upgrade.Stage{
		{Name: at.String(), Start: start, Stop: func(ctx context.Context) error { return step.Do(ctx, target.Restart, "") }},
		{Name: "that of --step", Start: start},
	}, func() {}, nil
}

// stagesEmbedded returns the embedded server twice, on one folder.
func (o *upgradeOptions) stagesEmbedded(of *peer.Peer) ([]upgrade.Stage, func(), error) {
	if o.stop.String() != "order" {
		return nil, nil, errors.New("--stop: the embedded server is a part of this process and is stopped in order; start " +
			"another one with --start 'fwpcheck serve --port {port} --dir {dir}'")
	}
	faults, err := of.UpgradeFaultsNamed(o.fault)
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "fwp-upgrade-*")
	if err != nil {
		return nil, nil, &program.InternalError{Cause: err}
	}
	var now *peer.Server
	stop := func(context.Context) error { now.Close(); return nil }
	start := func(context.Context) (upgrade.Site, error) {
		s, err := of.Start(peer.Config{Dir: dir, Faults: faults})
		if err != nil {
			return upgrade.Site{}, err
		}
		now = s
		return upgrade.Site{Target: s.Target, Alone: true}, nil
	}
	stage := upgrade.Stage{Name: "the embedded server", Start: start, Stop: stop}
	return []upgrade.Stage{stage, stage}, func() {
		if now != nil {
			now.Close()
		}
		_ = os.RemoveAll(dir) // nothing can be done about it
	}, nil
}
