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
func Side() *fwpsituations.OtherProtocol {
	return &fwpsituations.OtherProtocol{
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
func identify(t *fwpsituations.Play) (fwpsituations.Observation, error) {
	s := newSession(t)
	defer s.close()
	if err := s.start(2); err != nil {
		return fwpsituations.Observation{}, err
	}
	s.push(replyRequest(`["fwp.ok"]`), replyRequest(`["fwp.ok"]`), replyRequest(`["fwp.echo","a text"]`))
	const idle = 3 * time.Second
	hasReplied := s.WaitUntil(s.program, waitLimit, func() bool { return s.replyCount() > 0 })
	t.Pass(s.program, idle)
	return fwpsituations.Observation{FirstVerb: s.firstCommand(), Works: hasReplied, Idles: !t.HasExited(s.program)}, nil
}
