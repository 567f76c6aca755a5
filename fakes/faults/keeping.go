package faults

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
)

// Keeping returns the ways in which a server spoils what it keeps in its folder while it does not run, sorted by name.
// Their hooks are the [fakes.Config.Restored] of a server. No check of the suite has a folder: they are found by
// fwpcheck upgrade.
func Keeping() []catalogue.Fault[fakes.Snapshot] { return catalogue.SortFaults(keepingFaults) }

var keepingFaults = []catalogue.Fault[fakes.Snapshot]{
	// Lost.
	keeping("keeps-no-queues", "jobs in queues are lost", lose(inQueue)),
	keeping("keeps-one-queue", "the jobs of all queues but the first are lost", func(s *fakes.Snapshot) {
		first := ""
		for _, j := range s.Jobs {
			if inQueue(&j) && first == "" {
				first = j.Queue
			}
		}
		lose(func(j *storedJob) bool { return inQueue(j) && j.Queue != first })(s)
	}),
	keeping("keeps-500-jobs", "the jobs of a queue from the 501st on are lost", func(s *fakes.Snapshot) {
		seen := map[string]int{}
		lose(func(j *storedJob) bool {
			seen[j.Queue]++
			return inQueue(j) && seen[j.Queue] > 500
		})(s)
	}),
	keeping("keeps-no-last", "the last job of each queue is lost: it was accepted before it was stored",
		func(s *fakes.Snapshot) {
			last := map[string]string{}
			for _, j := range s.Jobs {
				if inQueue(&j) {
					last[j.Queue] = j.JID
				}
			}
			lose(func(j *storedJob) bool { return inQueue(j) && last[j.Queue] == j.JID })(s)
		}),
	keeping("keeps-short-jobs", "jobs of more than 64 KiB are lost",
		lose(func(j *storedJob) bool { return len(j.Unit) > 1<<16 })),
	keeping("keeps-plain-queues", "jobs of queues with other names than small letters, digits and hyphens are lost",
		lose(func(j *storedJob) bool { return strings.ContainsFunc(j.Queue, notPlain) })),
	keeping("keeps-no-schedule", "scheduled jobs are lost", lose(in("scheduled"))),
	keeping("keeps-no-missed", "scheduled jobs whose time came while the server was down are lost",
		lose(func(j *storedJob) bool { return j.Place == "scheduled" && j.Due.Before(time.Now()) })),
	keeping("keeps-no-retries", "jobs that wait for their retry are lost", lose(in("retries"))),
	keeping("keeps-no-held", "jobs that workers held are lost", lose(in("working"))),
	// Doubled.
	keeping("keeps-queues-twice", "jobs in queues are delivered twice", doubling(inQueue, nil)),
	keeping("keeps-retries-twice", "jobs that wait for their retry are there twice", doubling(in("retries"), nil)),
	keeping("keeps-held-queued", "jobs that workers held are in their queues too",
		doubling(in("working"), func(j *storedJob) { j.Place, j.Due = "queue", time.Time{} })),
	// Altered.
	keeping("keeps-no-custom", "jobs come back without custom", altering(without("custom"))),
	keeping("keeps-floats", "numbers in args come back as a float64 has them", altering(func(job *object) {
		reshape(job, "args", leaves(func(v any) any {
			if n, is := v.(json.Number); is {
				if f, err := n.Float64(); err == nil && !math.IsInf(f, 0) {
					return f
				}
			}
			return v
		}))
	})),
	keeping("keeps-ascii", "texts in args come back with question marks for what is not ASCII",
		altering(func(job *object) {
			reshape(job, "args", texts(func(s string) string { return strings.Map(ascii, s) }))
		})),
	keeping("keeps-trimmed-texts", "texts in args come back without spaces around them",
		altering(func(job *object) { reshape(job, "args", texts(strings.TrimSpace)) })),
	keeping("keeps-no-retry", "retry comes back as 25", altering(func(job *object) { job.SetInt("retry", 25) })),
	keeping("keeps-own-created-at", "created_at comes back as the time of the start",
		altering(func(job *object) { job.SetTime("created_at", time.Now()) })),
	keeping("keeps-no-failure", "jobs that failed come back without their failure", altering(without("failure"))),
	keeping("keeps-no-failures", "the failures of a job count anew",
		each(in("retries"), func(j *storedJob) { j.Failures = 0 })),
	// Early.
	keeping("keeps-schedule-due", "scheduled jobs are due at once",
		each(in("scheduled"), func(j *storedJob) { j.Due = time.Now() })),
	keeping("keeps-schedule-hour-early", "scheduled jobs are due an hour early",
		each(in("scheduled"), func(j *storedJob) { j.Due = j.Due.Add(-time.Hour) })),
	keeping("keeps-far-due", "jobs that are scheduled in more than a year are due at once",
		each(func(j *storedJob) bool { return j.Place == "scheduled" && time.Until(j.Due) > 365*24*time.Hour },
			func(j *storedJob) { j.Due = time.Now() })),
	// Never.
	keeping("keeps-schedule-hour-late", "scheduled jobs are due an hour late",
		each(in("scheduled"), func(j *storedJob) { j.Due = j.Due.Add(time.Hour) })),
	keeping("keeps-held-forever", "reservations do not end", each(in("working"), inTenYears)),
	keeping("keeps-retries-forever", "retries do not come due", each(in("retries"), inTenYears)),
	// Order and counts.
	keeping("keeps-reversed", "the jobs of a queue come in reverse", func(s *fakes.Snapshot) { slices.Reverse(s.Jobs) }),
	keeping("keeps-no-dead", "the dead jobs are counted no more", func(s *fakes.Snapshot) { s.Dead = 0 }),
	keeping("keeps-no-far", "jobs that are scheduled in more than a year are lost",
		lose(func(j *storedJob) bool { return j.Place == "scheduled" && time.Until(j.Due) > 365*24*time.Hour })),
}

type storedJob = fakes.StoredJob

// keeping returns a row. A clause is broken where there is one; see docs/upgrades.md.
func keeping(name, summary string, change func(*fakes.Snapshot)) catalogue.Fault[fakes.Snapshot] {
	return catalogue.NewFault[fakes.Snapshot](name, "FWP-", "STATE-08", summary, change)
}

func inQueue(j *storedJob) bool { return j.Place == "queue" }

// in is for jobs in a place.
func in(place string) func(*storedJob) bool {
	return func(j *storedJob) bool { return j.Place == place }
}

func notPlain(r rune) bool { return r != '-' && !unicode.IsDigit(r) && (r < 'a' || r > 'z') }

// lose removes jobs.
func lose(is func(*storedJob) bool) func(*fakes.Snapshot) {
	return func(s *fakes.Snapshot) {
		s.Jobs = slices.DeleteFunc(s.Jobs, func(j storedJob) bool { return is(&j) })
	}
}

// each changes jobs.
func each(is func(*storedJob) bool, change func(*storedJob)) func(*fakes.Snapshot) {
	return func(s *fakes.Snapshot) {
		for i := range s.Jobs {
			if is(&s.Jobs[i]) {
				change(&s.Jobs[i])
			}
		}
	}
}

// twice adds jobs a second time, changed.
func doubling(is func(*storedJob) bool, change func(*storedJob)) func(*fakes.Snapshot) {
	return func(s *fakes.Snapshot) {
		for _, j := range slices.Clone(s.Jobs) {
			if !is(&j) {
				continue
			}
			if change != nil {
				change(&j)
			}
			s.Jobs = append(s.Jobs, j)
		}
	}
}

// altering changes the work unit of every job.
func altering(change func(*object)) func(*fakes.Snapshot) {
	return each(func(*storedJob) bool { return true }, func(j *storedJob) {
		job := unit(*j)
		change(job)
		j.Unit = job.Append(nil)
	})
}

func without(field string) func(*object) { return func(job *object) { job.Delete(field) } }

func inTenYears(j *storedJob) { j.Due = j.Due.AddDate(10, 0, 0) }
