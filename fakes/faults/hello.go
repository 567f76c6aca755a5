package faults

import (
	"cmp"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// helloFaults are about HELLO.
var helloFaults = []fakes.Fault{
	// About the form of a HELLO.
	fault("hello-broken-ok-again", repeated(conn, both(ran(fwp.HELLO), about(fakes.AboutJSON)), okay)),
	fault("hello-not-object", do(accept, checked(fwp.HELLO), about(fakes.AboutObject))),
	fault("hello-order", do(declineForm, valid(fwp.HELLO), has("wid"), begins("v"))),
	// About the fields of a HELLO.
	fault("hello-hostname-required", do(decline("hostname", "hostname must be a string"), checked(fwp.HELLO),
		func(e *event) bool { return len(e.Object.Fields()) == 1 })),
	fault("hello-labels-text", do(accept, checked(fwp.HELLO), about("labels"))),
	// About a HELLO after another one.
	fault("hello-again-forgets", do(func(e *event) { okay(e); forget(e) }, ran(fwp.HELLO), about(fakes.AboutState),
		func(e *event) bool { return e.Object != nil })),
	fault("hello-process-once", keep(process, both(valid(fwp.HELLO), has("wid"), func(e *event) bool {
		return e.Object.Text("hostname") != "fwpcheck" // the workers of the suite are of one process
	}), func(known *string, e *event) {
		if *known != "" && *known != wid(e) {
			e.Decline("pid", "this process has a worker")
			return
		}
		*known = wid(e)
	})),
	fault("hello-wid-once",
		repeated(wid, both(valid(fwp.HELLO), text("wid", longer(0))), decline("wid", "the wid is in use"))),
	fault("hello-worker-once",
		after(func(e *event) string { return cmp.Or(worker(e), wid(e)) }, both(ran(fwp.END), ofWorker),
			valid(fwp.HELLO), decline("wid", "this worker has ended"))),
	// About the reply to a HELLO.
	fault("hello-declined-closes", do(hangUp, ran(fwp.HELLO), about("pwdhash"))),
	fault("hello-other-answer", answer(fwp.HELLO, fakes.Simple("WELCOME"))),
}

// process is the key of the process that a HELLO names.
func process(e *event) string { return e.Object.Text("hostname") + " " + string(e.Object.Get("pid")) }
