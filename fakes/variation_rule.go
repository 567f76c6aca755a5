package fakes

import "github.com/fwpsuite/fwp/fwp"

// nullVariations are about what counts as left out.
func nullVariations() []Variation {
	return []Variation{
		variation("null-is-left-out", "AMB-18",
			"a job is delivered without the fields that the producer sent as null",
			when(Defaulted, fwp.PUSH, func(e *Event) { withoutNullFields(e.Object) })),
		variation("null-for-omitted", "AMB-18",
			"reserve_for, retry, backtrace and at are delivered as null, whatever the producer sent",
			delivered(func(job *Object) {
				for _, name := range [...]string{"reserve_for", "retry", "backtrace", "at"} {
					job.Set(name, "null")
				}
			})),
		variation("null-is-empty-text", "Work units",
			"an empty created_at or queue counts as left out",
			when(Checked, fwp.PUSH, func(e *Event) {
				if about := e.about(); about != "created_at" && about != "queue" {
					return
				}
				for _, name := range [...]string{"created_at", "queue"} {
					if string(e.Object.Get(name)) == `""` {
						e.Object.Delete(name)
					}
				}
				e.checkJobAgain()
			})),
		variation("null-for-defaults", "AMB-18",
			"an optional field of a job that has its default, or was not given, is delivered as null",
			delivered(func(job *Object) {
				for _, f := range spelledOut {
					if value := job.Get(f.Name); value == nil || string(value) == string(f.Value) {
						job.Set(f.Name, "null")
					}
				}
			})),
		variation("null-for-none", "AMB-18",
			"a job without custom, and one that never failed, is delivered with nulls",
			delivered(func(job *Object) {
				setDefault(job, "custom", "null")
				setDefault(job, "failure", "null")
			})),
	}
}

// withoutNullFields removes the fields that are null.
func withoutNullFields(o *Object) {
	for _, f := range o.clone().Fields() {
		if isNull(f.Value) {
			o.Delete(f.Name)
		}
	}
}

// acceptVariations accept what other servers refuse.
func acceptVariations() []Variation {
	return []Variation{
		variation("accepts-unknown-jobs", "AMB-21",
			"an ACK or FAIL of a job that is not held is answered with OK",
			on(Ran, func(e *Event) {
				if e.about() == AboutJob {
					e.Err, e.Reply = nil, okay()
				}
			})),
		variation("accepts-acks-of-waiting-jobs", "AMB-21",
			"an ACK of a job that is in its queue removes it",
			when(Ran, fwp.ACK, func(e *Event) {
				if e.about() == AboutJob && e.Conn.server.store.Purge(e.Object.Text("jid")) {
					e.Err, e.Reply = nil, okay()
				}
			})),
		variation("accepts-short-reservations", "AMB-17",
			"a reserve_for under 60 s counts as 60 s",
			when(Checked, fwp.PUSH, func(e *Event) {
				if _, integer := e.Object.Int("reserve_for"); integer && e.about() == "reserve_for" {
					e.Object.Set("reserve_for", "60")
					e.checkJobAgain()
				}
			})),
		variation("accepts-options-of-any-type", "FWP-WU-14",
			"an optional field of a wrong type counts as left out",
			when(Checked, fwp.PUSH, func(e *Event) {
				switch about := string(e.about()); about {
				case "retry", "backtrace", "created_at", "at":
					e.Object.Delete(about)
					e.checkJobAgain()
				}
			})).AdvisedAgainst("FWP-WU-14", "FWP-WU-06b"),
	}
}

// checkJobAgain accepts a job that was refused if it is valid now.
func (e *Event) checkJobAgain() {
	e.accept()
	if r := checkJob(e.Object, &e.Conn.server.cfg); r != nil {
		e.decline(r.About, r.Text)
	}
}

// refuseVariations refuse what other servers accept.
func refuseVariations() []Variation {
	return []Variation{
		variation("refuses-producers", "AMB-20",
			"FETCH, ACK, FAIL and BEAT are refused to producers",
			on(Checked, func(e *Event) {
				switch e.Command.Verb {
				case fwp.FETCH, fwp.ACK, fwp.FAIL, fwp.BEAT:
					if e.Conn.isProducer() {
						e.decline(AboutState, e.Command.Verb+" is for consumers")
					}
				}
			})),
		statefulVariation("refuses-what-is-anothers", "AMB-21",
			"an ACK or FAIL of a job that another worker holds is refused, and a BEAT with another worker's wid",
			ownJobs),
		variation("refuses-short-failures", "AMB-35",
			"a FAIL without errtype, message and backtrace is refused",
			when(Checked, fwp.FAIL, func(e *Event) {
				for _, name := range [...]string{"errtype", "message", "backtrace"} {
					if e.Object.Get(name) == nil {
						e.decline(About(name), name+" is missing")
					}
				}
			})),
		variation("refuses-unknown-fields", "HELLO Command; BEAT Command",
			"a HELLO, BEAT, ACK or FAIL with a field that the protocol does not define is refused",
			on(Checked, func(e *Event) {
				switch e.Command.Verb {
				case fwp.HELLO:
					onlyKnown(e, "v", "pwdhash", "hostname", "wid", "pid", "labels")
				case fwp.BEAT:
					onlyKnown(e, "wid", "current_state", "rss_kb")
				case fwp.ACK, fwp.FAIL:
					onlyKnown(e, "jid", "errtype", "message", "backtrace")
				}
			})),
		variation("refuses-odd-values", "Work units",
			"an empty jid, jobtype or wid, a retry under -1 and a negative backtrace are refused",
			on(Checked, oddValues)),
	}
}

func oddValues(e *Event) {
	for _, name := range [...]string{"jid", "jobtype", "wid"} {
		if string(e.Object.Get(name)) == `""` {
			e.decline(About(name), name+" is empty")
		}
	}
	for name, least := range map[string]int64{"retry": -1, "backtrace": 0} {
		if n, ok := e.Object.Int(name); ok && n < least {
			e.decline(About(name), name+" is too small")
		}
	}
}

// onlyKnown refuses an argument with other fields than these.
func onlyKnown(e *Event, names ...string) {
	rest := e.Object.clone()
	for _, name := range names {
		rest.Delete(name)
	}
	if len(rest.Fields()) > 0 {
		e.decline(About(rest.Fields()[0].Name), "there is an unknown field")
	}
}

// ownJobs refuses reports about the jobs and the wids of other workers.
func ownJobs() func(*Event) {
	var holder notes[string, string]
	return func(e *Event) {
		switch {
		case e.Point == Delivered:
			holder.put(e.Object.Text("jid"), e.Conn.Worker)
		case e.Point == Checked && (e.Command.Verb == fwp.ACK || e.Command.Verb == fwp.FAIL):
			jid := e.Object.Text("jid")
			worker, held := holder.take(jid)
			if held && worker != e.Conn.Worker {
				holder.put(jid, worker)
				e.decline(AboutJob, "another worker holds the job")
			}
		case e.Point == Checked && e.Command.Verb == fwp.BEAT && e.Object.Text("wid") != e.Conn.Worker:
			e.decline(AboutWorker, "this is another worker's wid")
		}
	}
}
