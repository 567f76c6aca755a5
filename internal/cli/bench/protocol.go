package bench

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/load/emqpspeaker"
	"github.com/fwpsuite/fwp/load/fwpspeaker"
	"github.com/fwpsuite/fwp/load/protocol"
	"github.com/fwpsuite/fwp/load/workload"
	"github.com/fwpsuite/fwp/load/workqspeaker"
)

// brokers is the protocol of brokers, which push jobs.
const brokers = "emqp"

// other returns the name of the protocol of a target if it is not FWP, else the empty one.
func other(at program.Endpoint) string {
	if at.Protocol == nil || at.Protocol.Name == conformance.FWP().Name {
		return ""
	}
	return at.Protocol.Name
}

// checkProtocol returns an error for flags and parts of a workload that the protocol of a target does not have, and has
// the endpoint name its fault.
func (o *benchOptions) checkProtocol(at *program.Endpoint, w *workload.Workload) error {
	if other(*at) != "" && o.history != "" {
		return fmt.Errorf("--history is for fwpcheck recheck, which works with FWP only: %s has no history yet",
			at.Protocol.Title)
	}
	return cmp.Or(o.setFault(at, o.fault), checkWorkload(*at, w))
}

// setFault has an endpoint name the fault of its embedded server. It is an error if its protocol does not have it, or
// a flag of the load.
func (o *loadFlags) setFault(at *program.Endpoint, fault string) error {
	if other(*at) == "" {
		if o.requests {
			return errors.New("--requests is about the run command of Workq and the REPLY of eMQP: FWP has no command that " +
				"waits for a result")
		}
		_, err := at.SetFault(fault)
		return err
	}
	var err error
	if other(*at) == brokers {
		_, err = program.EMQPFaultNamed(fault)
	} else {
		_, err = program.WorkqFaultNamed(fault)
	}
	if err != nil || fault == "" {
		return err
	}
	if !at.Choice.Embedded {
		return fmt.Errorf("--fault works only with the embedded server, and the target is %s", at)
	}
	at.Choice.How += " with the fault " + fault
	return nil
}

// checkWorkload returns an error for a workload with something that no message of a target's protocol says.
func checkWorkload(at program.Endpoint, w *workload.Workload) error {
	if other(at) != brokers {
		return nil
	}
	for _, no := range []struct {
		has       bool
		what, why string
	}{
		{w.FailShare > 0, "fail_share", "no message says that a job has failed: leave it out"},
		{w.Delay.Max > 0, "delay", "a REQUEST has no time at which it is due: leave it out"},
		{w.QueuePerJob > 0, "queue_per_job", "a worker names its queues once, in its INFORM: leave it out"},
		{w.Topology.Kind == workload.Pool, "topology", "each connection is a worker of its own: use single"},
	} {
		if no.has {
			return fmt.Errorf("%s has no meaning in eMQP: %s", no.what, no.why)
		}
	}
	return nil
}

// declareRequests adds --requests.
func (o *loadFlags) declareRequests(f *pflag.FlagSet) {
	f.BoolVar(&o.requests, "requests", false,
		"producers wait until their jobs are done: the run command of Workq, reply-requested of eMQP")
}

// speaker returns what speaks the protocol of a target.
func (o *loadFlags) speaker(at program.Endpoint) protocol.Protocol {
	switch other(at) {
	case "":
		return fwpspeaker.New(at.Password)
	case brokers:
		return emqpspeaker.Protocol{Requests: o.requests}
	}
	return workqspeaker.Protocol{Requests: o.requests}
}
