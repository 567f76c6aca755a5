package bugs

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
func Keeping() []catalogue.Bug[fakes.Snapshot] { return catalogue.SortBugs(keepingBugs) }

var keepingBugs = []catalogue.Bug[fakes.Snapshot]{
	// Lost.
	keeping("keeps-no-queues", lose(inQueue)),
	keeping("keeps-one-queue", func(s *fakes.Snapshot) {
		first := ""
		for _, j := range s.Jobs {
			if inQueue(&j) && first == "" {
				first = j.Queue
			}
		}
		lose(func(j *storedJob) bool { return inQueue(j) && j.Queue != first })(s)
	}),
	keeping("keeps-500-jobs", func(s *fakes.Snapshot) {
		seen := map[string]int{}
		lose(func(j *storedJob) bool {
			seen[j.Queue]++
			return inQueue(j) && seen[j.Queue] > 500
		})(s)
	}),
	keeping("keeps-no-last", func(s *fakes.Snapshot) {
		last := map[string]string{}
		for _, j := range s.Jobs {
			if inQueue(&j) {
				last[j.Queue] = j.JID
			}
		}
		lose(func(j *storedJob) bool { return inQueue(j) && last[j.Queue] == j.JID })(s)
	}),
	keeping("keeps-short-jobs", lose(func(j *storedJob) bool { return len(j.Unit) > 1<<16 })),
	keeping("keeps-plain-queues",
		lose(func(j *storedJob) bool { return strings.ContainsFunc(j.Queue, notPlain) })),
	keeping("keeps-no-schedule", lose(in("scheduled"))),
	keeping("keeps-no-missed",
		lose(func(j *storedJob) bool { return j.Place == "scheduled" && j.Due.Before(time.Now()) })),
	keeping("keeps-no-retries", lose(in("retries"))),
	keeping("keeps-no-held", lose(in("working"))),
	// Doubled.
	keeping("keeps-queues-twice", doubling(inQueue, nil)),
	keeping("keeps-retries-twice", doubling(in("retries"), nil)),
	keeping("keeps-held-queued",
		doubling(in("working"), func(j *storedJob) { j.Place, j.Due = "queue", time.Time{} })),
	// Altered.
	keeping("keeps-no-custom", altering(without("custom"))),
	keeping("keeps-floats", altering(func(job *object) {
		reshape(job, "args", leaves(func(v any) any {
			if n, is := v.(json.Number); is {
				if f, err := n.Float64(); err == nil && !math.IsInf(f, 0) {
					return f
				}
			}
			return v
		}))
	})),
	keeping("keeps-ascii", altering(func(job *object) {
		reshape(job, "args", texts(func(s string) string { return strings.Map(ascii, s) }))
	})),
	keeping("keeps-trimmed-texts", altering(func(job *object) { reshape(job, "args", texts(strings.TrimSpace)) })),
	keeping("keeps-no-retry", altering(func(job *object) { job.SetInt("retry", 25) })),
	keeping("keeps-own-created-at", altering(func(job *object) { job.SetTime("created_at", time.Now()) })),
	keeping("keeps-no-failure", altering(without("failure"))),
	keeping("keeps-no-failures", each(in("retries"), func(j *storedJob) { j.Failures = 0 })),
	// Early.
	keeping("keeps-schedule-due", each(in("scheduled"), func(j *storedJob) { j.Due = time.Now() })),
	keeping("keeps-schedule-hour-early",
		each(in("scheduled"), func(j *storedJob) { j.Due = j.Due.Add(-time.Hour) })),
	keeping("keeps-far-due",
		each(func(j *storedJob) bool { return j.Place == "scheduled" && time.Until(j.Due) > 365*24*time.Hour },
			func(j *storedJob) { j.Due = time.Now() })),
	// Never.
	keeping("keeps-schedule-hour-late",
		each(in("scheduled"), func(j *storedJob) { j.Due = j.Due.Add(time.Hour) })),
	keeping("keeps-held-forever", each(in("working"), inTenYears)),
	keeping("keeps-retries-forever", each(in("retries"), inTenYears)),
	// Order and counts.
	keeping("keeps-reversed", func(s *fakes.Snapshot) { slices.Reverse(s.Jobs) }),
	keeping("keeps-no-dead", func(s *fakes.Snapshot) { s.Dead = 0 }),
	keeping("keeps-no-far",
		lose(func(j *storedJob) bool { return j.Place == "scheduled" && time.Until(j.Due) > 365*24*time.Hour })),
}

type storedJob = fakes.StoredJob

// keeping returns the bug of a row of bugs.txt. A clause is broken where there is one; see docs/upgrades.md.
func keeping(name string, change func(*fakes.Snapshot)) catalogue.Bug[fakes.Snapshot] {
	return catalogue.BugOf[fakes.Snapshot](bugsTable(), name, change)
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
