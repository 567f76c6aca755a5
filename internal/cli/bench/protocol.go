package bench

import (
	"errors"
	"fmt"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/load/fwpspeaker"
	"github.com/fwpsuite/fwp/load/protocol"
	"github.com/fwpsuite/fwp/load/workqspeaker"
)

// loadable is the protocol beside FWP that loads speak.
const loadable = "workq"

// other returns the name of the protocol of a target if it is not FWP, else the empty one.
func other(at program.Endpoint) string {
	if at.Protocol == nil || at.Protocol.Name == conformance.FWP().Name {
		return ""
	}
	return at.Protocol.Name
}

// checkProtocol returns an error for flags that the protocol of a target does not have, and has the endpoint name its
// fault.
func (o *benchOptions) checkProtocol(at *program.Endpoint) error {
	if name := other(*at); name != "" && name != loadable {
		return fmt.Errorf("fwpbench works with FWP and Workq only: %s has no load yet, but fwpcheck run tests its servers",
			at.Protocol.Title)
	}
	if other(*at) == "" {
		if o.requests {
			return errors.New("--requests is about the run command of Workq: FWP has no command that waits for a result")
		}
		_, err := at.SetFault(o.fault)
		return err
	}
	if o.history != "" {
		return fmt.Errorf("--history is for fwpcheck recheck, which works with FWP only: %s has no history yet",
			at.Protocol.Title)
	}
	_, err := program.WorkqFaultNamed(o.fault)
	if err != nil || o.fault == "" {
		return err
	}
	if !at.Choice.Embedded {
		return fmt.Errorf("--fault works only with the embedded server, and the target is %s", at)
	}
	at.Choice.How += " with the fault " + o.fault
	return nil
}

// speaker returns what speaks the protocol of a target.
func (o *loadFlags) speaker(at program.Endpoint) protocol.Protocol {
	if other(at) == "" {
		return fwpspeaker.New(at.Password)
	}
	return workqspeaker.Protocol{Requests: o.requests}
}
