package emqpworker

import (
	"time"

	"github.com/fwpsuite/fwp/conformance/emqpsuite"
	"github.com/fwpsuite/fwp/conformance/workers/situations"
)

// Side returns the side of workers of eMQP.
func Side() *situations.Side {
	return &situations.Side{
		Protocol: emqpsuite.Protocol(), Variable: "EMQP_URL", Situations: table(), Identify: identify,
	}
}

// identify has the program work three jobs.
func identify(t *situations.Play) (situations.Observed, error) {
	s := newSession(t)
	defer s.close()
	if err := s.start(2); err != nil {
		return situations.Observed{}, err
	}
	s.push(asked(`["fwp.ok"]`), asked(`["fwp.ok"]`), asked(`["fwp.echo","a text"]`))
	const idle = 3 * time.Second
	replied := s.Until(s.program, soon, func() bool { return s.replies() > 0 })
	t.Pass(s.program, idle)
	return situations.Observed{First: s.firstCommand(), Works: replied, Idles: !t.Exited(s.program)}, nil
}
