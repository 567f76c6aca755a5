package fakes

import (
	"strings"

	"github.com/fwpsuite/fwp/fwp"
)

// characterFaults are about characters in names: those beyond ASCII, quotation marks and backslashes.
func characterFaults() []Fault {
	return []Fault{
		fault("job-id-beyond-ascii", "ACK-01",
			"an ACK whose jid has characters beyond ASCII is refused",
			when(Checked, fwp.ACK, func(e *Event) {
				if e.Err == nil && beyondASCII(e.Object.Text("jid")) {
					e.decline(AboutJob, "no such job")
				}
			})),
		fault("job-id-quotes", "FETCH-01",
			"a quotation mark in a jid is dropped",
			on(Delivered, func(e *Event) {
				e.Object.SetText("jid", strings.ReplaceAll(e.Object.Text("jid"), `"`, ""))
			})),
		fault("job-jobtype-backslash", "FETCH-01",
			"a backslash in a jobtype is dropped",
			on(Delivered, func(e *Event) {
				e.Object.SetText("jobtype", strings.ReplaceAll(e.Object.Text("jobtype"), `\`, ""))
			})),
		fault("beat-wid-beyond-ascii", "BEAT-01",
			"a BEAT whose wid has characters beyond ASCII is refused",
			when(Checked, fwp.BEAT, func(e *Event) {
				if e.Err == nil && beyondASCII(e.Object.Text("wid")) {
					e.decline(AboutWorker, "no such worker")
				}
			})),
	}
}

// beyondASCII reports whether a text has a character that ASCII does not have.
func beyondASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > '~' }) >= 0
}
