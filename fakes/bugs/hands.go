package bugs

import (
	"slices"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// heldJob is a job that a connection was given and has not reported.
type heldJob struct {
	jid    string
	connID int64
	worker string
}

// actOnHeldJobs returns hooks that act at some events on those jobs in hand that fit, in the order of their delivery,
// if there are any. They act when the hook has returned, so that they may report jobs themselves.
func actOnHeldJobs(match condition, fits func(*event, heldJob) bool, act func(*event, ...string)) func() func(*event) {
	isReport := isDone(fwp.ACK, fwp.FAIL)
	return withMemory(anyOf(at(fakes.Delivered), isReport, match), func(all *[]heldJob, e *event) {
		switch {
		case e.Point == fakes.Delivered:
			*all = append(*all, heldJob{jid(e), e.Conn.ID, e.Conn.Worker})
		case isReport(e):
			*all = slices.DeleteFunc(*all, func(h heldJob) bool { return h.jid == jid(e) })
		}
		if !match(e) {
			return
		}
		var jids []string
		for _, h := range *all {
			if fits(e, h) {
				jids = append(jids, h.jid)
			}
		}
		if len(jids) > 0 {
			e.AfterHook(func() { act(e, jids...) })
		}
	})
}

// Which jobs: those of the connection, or of its worker.
func isOfConn(e *event, h heldJob) bool   { return h.connID == e.Conn.ID }
func isOfWorker(e *event, h heldJob) bool { return h.worker != "" && h.worker == e.Conn.Worker }

// What becomes of jobs in hand.
func finish(e *event, jids ...string)   { e.Finish(jids...) }
func giveBack(e *event, jids ...string) { e.GiveBack(jids...) }

// setFirstJID makes a report one of the first of them.
func setFirstJID(e *event, jids ...string) { e.Object.SetText("jid", jids[0]) }
