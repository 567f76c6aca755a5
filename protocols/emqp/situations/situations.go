package situations

import (
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
)

// commonClauses are the clauses that every situation is about.
const commonClauses = " WRK-01 WRK-02 WRK-03"

// table has all situations, those first of which workers get most wrong.
func table() []fwpsituations.Situation {
	return []fwpsituations.Situation{
		fwpsituations.Row("heartbeat/idle", "a worker sends HEARTBEATs at the interval after its job (Heartbeating)",
			"BEAT-09 WRK-04 WRK-05"+commonClauses, 15, playWith(2, watchIdle)),
		fwpsituations.Row("heartbeat/working", "a worker sends HEARTBEATs while a job runs, or other messages (Heartbeating)",
			"BEAT-09 WRK-07"+commonClauses, 4, playWith(1, watchJob)),
		fwpsituations.Row("jobs/replies", "a request gets a REPLY with its information only if it asks for one (Headers)",
			"REPLY-05 WRK-06 WRK-07"+commonClauses, 3, playWith(2, requestReplies)),
		fwpsituations.Row("jobs/many", "one request follows the other, also after failed ones (eMQP / Worker)",
			"WRK-06 WRK-07 WRK-08"+commonClauses, 5, playWith(1, manyJobs)),
		fwpsituations.Row("jobs/retries", "a failing job is retried as often as retry-count says (Headers)",
			"HEAD-03 WRK-15", 5, playWith(2, retries)),
		fwpsituations.Row("jobs/timeout", "a job ends after the seconds of timeout, and other jobs do not (Headers)",
			"HEAD-04 WRK-10", 5, playWith(4, timeouts)),
		fwpsituations.Row("jobs/headers", "several headers are read, in any order (Headers)",
			"WRK-09", 5, playWith(2, combineHeaders)),
		fwpsituations.Row("loss/closed", "a worker reconnects after its connection ends (Heartbeating)",
			"BEAT-10", 5, playWith(2, disconnectTwice(0, func(s *session) { s.disconnectAll() }))),
		fwpsituations.Row("loss/restart", "a worker reconnects after the broker was away (Heartbeating)",
			"BEAT-10", 16, playWith(2, disconnectTwice(maxSilence+interval, func(s *session) { s.restart() }))),
		fwpsituations.Row("loss/silent", "a worker reconnects when the broker stops sending HEARTBEATs (Heartbeating)",
			"BEAT-10", 60, playWith(2, disconnectTwice(0, func(s *session) { s.stopSending() }))),
		fwpsituations.Row("disconnect/idle", "a worker sends KBAI after a DISCONNECT, and nothing more (DISCONNECT and KBAI)",
			"WRK-11 WRK-12", 5, playWith(2, disconnect(0))),
		fwpsituations.Row("disconnect/working", "a worker that gets a DISCONNECT completes its jobs (DISCONNECT and KBAI)",
			"WRK-11 WRK-12 WRK-13", 5, playWith(2, disconnect(2*time.Second))),
		fwpsituations.Row("disconnect/kbai", "a worker sends nothing after the broker's KBAI (DISCONNECT and KBAI)",
			"WRK-14", 5, playWith(2, brokerLeaves)),
	}
}

// playWith returns a play that starts the program on a session.
func playWith(concurrency int, act func(*session)) func(*fwpsituations.Play) {
	return func(t *fwpsituations.Play) {
		s := newSession(t)
		defer s.close()
		if err := s.start(concurrency); err != nil {
			t.GiveUp(true, "%s", text.FirstLine(err.Error()))
		}
		if !t.Works() {
			const moment = 8 * time.Second
			s.push(replyRequest(`["fwp.ok"]`), replyRequest(`["fwp.echo","a text"]`))
			s.Pass(s.program, moment)
			t.GiveUpWithoutWork()
		}
		if !s.WaitUntil(s.program, waitLimit, func() bool { return s.count(&s.informs) > 0 }) {
			t.GiveUp(true, "the worker sent no INFORM within %v", waitLimit)
		}
		act(s)
		s.checkInterval()
	}
}
