package faults

import (
	"cmp"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// helloFaults are about HELLO.
var helloFaults = []fakes.Fault{
	// About the form of a HELLO.
	fault("hello-broken-ok", "HELLO-04 HELLO-06 RESP-02",
		"a HELLO with broken JSON is answered with OK and has no effect",
		do(pretend, checked(fwp.HELLO), about(fakes.AboutJSON))),
	fault("hello-broken-ok-again", "HELLO-04 HELLO-06 RESP-02",
		"the second HELLO of a connection with broken JSON is answered with OK",
		repeated(conn, both(ran(fwp.HELLO), about(fakes.AboutJSON)), okay)),
	fault("hello-json-spaces", "HELLO-16 HELLO-15", "a HELLO with a blank behind a colon is declined",
		do(declineForm, valid(fwp.HELLO), arguments(": "))),
	fault("hello-last-comma", "HELLO-06", "a comma behind the last field of a HELLO is ignored",
		do(rearranges(",}", "}"), parsed(fwp.HELLO))),
	fault("hello-not-object", "HELLO-06 RESP-02", "a HELLO whose argument is not an object is accepted",
		do(accept, checked(fwp.HELLO), about(fakes.AboutObject))),
	fault("hello-order", "HELLO-16", "the HELLO of a consumer that begins with v is declined",
		do(declineForm, valid(fwp.HELLO), has("wid"), begins("v"))),
	// About the fields of a HELLO.
	fault("hello-consumer-refused", "HELLO-16", "a HELLO with all the fields of a consumer is declined",
		do(decline("wid", "no more workers are needed"), checked(fwp.HELLO),
			func(e *event) bool { return len(e.Object.Fields()) > 4 })),
	fault("hello-hostname-required", "HELLO-15", "a HELLO with only v is declined",
		do(decline("hostname", "hostname must be a string"), checked(fwp.HELLO),
			func(e *event) bool { return len(e.Object.Fields()) == 1 })),
	fault("hello-labels-text", "HELLO-14", "a HELLO whose labels are not an array is accepted",
		do(accept, checked(fwp.HELLO), about("labels"))).Also("hello-pid-fraction", "hello-pid-text"),
	fault("hello-ten-labels", "HELLO-16", "the HELLO of a consumer with more than ten labels is declined",
		do(decline("labels", "there are too many labels"), checked(fwp.HELLO), func(e *event) bool {
			labels, _ := e.Object.Texts("labels")
			return len(labels) > 10
		})).Also("hello-labels-empty-refused", "hello-pid-large-refused", "hello-wid-plain"),
	// About a HELLO after another one.
	fault("hello-again-deaf", "HELLO-08", "after a second HELLO the FETCHes of its connection find nothing",
		after(conn, both(checked(fwp.HELLO), func(e *event) bool { return e.Conn.Identified }),
			checked(fwp.FETCH), findNone)),
	fault("hello-again-forgets", "HELLO-08",
		"a second HELLO is answered with OK and leaves the connection un-identified",
		do(func(e *event) { okay(e); forget(e) }, ran(fwp.HELLO), about(fakes.AboutState),
			func(e *event) bool { return e.Object != nil })),
	fault("hello-identity-of-the-last", "HELLO-11",
		"a HELLO with a known wid is declined unless its pid is that of the worker that connected last",
		identityOfLast()),
	fault("hello-process-once", "HELLO-16 HELLO-11",
		"a HELLO with the hostname and the pid of another worker is declined",
		keep(process, both(valid(fwp.HELLO), has("wid"), func(e *event) bool {
			return e.Object.Text("hostname") != "fwpcheck" // the workers of the suite are of one process
		}), func(known *string, e *event) {
			if *known != "" && *known != wid(e) {
				e.Decline("pid", "this process has a worker")
				return
			}
			*known = wid(e)
		})),
	fault("hello-wid-once", "HELLO-11", "a second connection with the same wid is declined",
		repeated(wid, both(valid(fwp.HELLO), text("wid", longer(0))), decline("wid", "the wid is in use"))),
	fault("hello-worker-once", "HELLO-16", "a HELLO with the wid of a worker that has sent END is declined",
		after(func(e *event) string { return cmp.Or(worker(e), wid(e)) }, both(ran(fwp.END), ofWorker),
			valid(fwp.HELLO), decline("wid", "this worker has ended"))),
	// About the reply to a HELLO.
	fault("hello-declined-always", "HELLO-16 HELLO-15 HELLO-03 AUTH-03", "every HELLO is declined",
		do(decline(fakes.AboutArguments, "HELLO is not understood"), checked(fwp.HELLO))),
	fault("hello-declined-closes", "HELLO-04",
		"a HELLO without a hash, or with a wrong one, ends the connection without an error",
		do(hangUp, ran(fwp.HELLO), about("pwdhash"))),
	fault("hello-other-answer", "HELLO-03", "an accepted HELLO is answered with another word than OK",
		answer(fwp.HELLO, fakes.Simple("WELCOME"))),
}

// process is the key of the process that a HELLO names.
func process(e *event) string { return e.Object.Text("hostname") + " " + string(e.Object.Get("pid")) }

func identityOfLast() func() func(*event) {
	type identities struct {
		known memory[string, bool]
		last  int64
	}
	return keepAll(both(valid(fwp.HELLO), text("wid", longer(0))), func(i *identities, e *event) {
		pid, _ := e.Object.Int("pid")
		if i.known.Has(wid(e)) && pid != i.last {
			e.Decline("wid", "the wid is in use with another hostname, pid or labels")
			return
		}
		i.known.Of(wid(e))
		i.last = pid
	})
}
