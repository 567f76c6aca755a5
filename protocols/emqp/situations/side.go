package situations

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/fwpsuite/fwp/internal/base/jobtype"
	emqpsuite "github.com/fwpsuite/fwp/protocols/emqp/suite"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
)

// Side returns the side of workers of eMQP.
func Side() *fwpsituations.Side {
	return &fwpsituations.Side{
		Protocol: emqpsuite.Protocol(), Variable: "EMQP_URL", Template: template, Situations: table(), Identify: identify,
	}
}

// template returns what is wrong with a template: the message of a REQUEST may be any text, but what begins as JSON is
// meant to be that.
func template(t *jobtype.Template) error {
	if t.LooksLikeJSON() && !json.Valid([]byte(t.Fill("fwp.echo", `["a text"]`))) {
		return errors.New(`the template begins like JSON but is not JSON: {name} stands for a word without quotes, ` +
			`{args} for a JSON array, as in '{"job": "{name}", "args": {args}}'`)
	}
	return nil
}

// identify has the program work three jobs.
func identify(t *fwpsituations.Play) (fwpsituations.Observed, error) {
	s := newSession(t)
	defer s.close()
	if err := s.start(2); err != nil {
		return fwpsituations.Observed{}, err
	}
	s.push(asked(`["fwp.ok"]`), asked(`["fwp.ok"]`), asked(`["fwp.echo","a text"]`))
	const idle = 3 * time.Second
	replied := s.Until(s.program, soon, func() bool { return s.replies() > 0 })
	t.Pass(s.program, idle)
	return fwpsituations.Observed{First: s.firstCommand(), Works: replied, Idles: !t.Exited(s.program)}, nil
}
