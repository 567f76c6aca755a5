package bench

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/load/fwpspeaker"
	"github.com/fwpsuite/fwp/load/protocol"
	"github.com/fwpsuite/fwp/load/workqspeaker"
)

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
	if other(*at) != "" && o.history != "" {
		return fmt.Errorf("--history is for fwpcheck recheck, which works with FWP only: %s has no history yet",
			at.Protocol.Title)
	}
	return o.setFault(at, o.fault)
}

// setFault has an endpoint name the fault of its embedded server. It is an error if its protocol does not have it, or
// a flag of the load.
func (o *loadFlags) setFault(at *program.Endpoint, fault string) error {
	if other(*at) == "" {
		if o.requests {
			return errors.New("--requests is about the run command of Workq: FWP has no command that waits for a result")
		}
		_, err := at.SetFault(fault)
		return err
	}
	_, err := program.WorkqFaultNamed(fault)
	if err != nil || fault == "" {
		return err
	}
	if !at.Choice.Embedded {
		return fmt.Errorf("--fault works only with the embedded server, and the target is %s", at)
	}
	at.Choice.How += " with the fault " + fault
	return nil
}

// declareRequests adds --requests.
func (o *loadFlags) declareRequests(f *pflag.FlagSet) {
	f.BoolVar(&o.requests, "requests", false,
		"producers send their jobs with run, and wait for the results (Workq only)")
}

// speaker returns what speaks the protocol of a target.
func (o *loadFlags) speaker(at program.Endpoint) protocol.Protocol {
	if other(at) == "" {
		return fwpspeaker.New(at.Password)
	}
	return workqspeaker.Protocol{Requests: o.requests}
}
