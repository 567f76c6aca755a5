// Package situations tests workers of Workq: it plays the server in situations that are written as tables, and has
// rules look at every command. How a program is started and judged is in protocols/fwp/situations.
package situations

import (
	"errors"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/base/jobtype"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
	workqsuite "github.com/fwpsuite/fwp/protocols/workq/suite"
)

// Side returns the side of workers of Workq.
func Side() *fwpsituations.OtherProtocol {
	return &fwpsituations.OtherProtocol{
		Protocol: workqsuite.Protocol(), Variable: "WORKQ_URL", Template: template, Situations: table(),
		Identify: identify,
	}
}

// template returns what is wrong with a template: a payload may have any bytes.
func template(t *jobtype.Template) error {
	if t.LooksLikeJSON() {
		return errors.New("a payload of Workq may have any bytes, which JSON cannot represent: {args} stands for the " +
			"raw bytes, as in '{name} {args}'")
	}
	return nil
}

// identify has the program work three jobs.
func identify(t *fwpsituations.Play) (fwpsituations.Observation, error) {
	s := newSession(t)
	defer s.close()
	if err := s.start(2); err != nil {
		return fwpsituations.Observation{}, err
	}
	jobs := s.pushMany(3, job{name: okJob, payload: "1"})
	s.awaitReports(jobs...)
	observed := fwpsituations.Observation{FirstVerb: s.firstVerb(), Works: slices.ContainsFunc(jobs, s.isCompleted)}
	const idle = 3 * time.Second
	t.Pass(s.program, idle)
	observed.Idles = !t.HasExited(s.program)
	return observed, nil
}
