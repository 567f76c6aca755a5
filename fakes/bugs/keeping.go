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

// Snapshots returns the ways in which a server spoils what it keeps in its folder while it does not run, sorted by
// name. Their hooks are the [fakes.Config.Restored] of a server. No check of the suite has a folder: they are found by
// fwpcheck upgrade.
func Snapshots() []catalogue.Bug[fakes.Snapshot] { return catalogue.SortBugs(snapshotBugs) }

var snapshotBugs = []catalogue.Bug[fakes.Snapshot]{
	// Lost.
	snapshotBug("keeps-no-queues", loseJobs(isInQueue)),
	snapshotBug("keeps-one-queue", func(s *fakes.Snapshot) {
		first := ""
		for _, j := range s.Jobs {
			if isInQueue(&j) && first == "" {
				first = j.Queue
			}
		}
		loseJobs(func(j *storedJob) bool { return isInQueue(j) && j.Queue != first })(s)
	}),
	snapshotBug("keeps-500-jobs", func(s *fakes.Snapshot) {
		counts := map[string]int{}
		loseJobs(func(j *storedJob) bool {
			counts[j.Queue]++
			return isInQueue(j) && counts[j.Queue] > 500
		})(s)
	}),
	snapshotBug("keeps-no-last", func(s *fakes.Snapshot) {
		last := map[string]string{}
		for _, j := range s.Jobs {
			if isInQueue(&j) {
				last[j.Queue] = j.JID
			}
		}
		loseJobs(func(j *storedJob) bool { return isInQueue(j) && last[j.Queue] == j.JID })(s)
	}),
	snapshotBug("keeps-short-jobs", loseJobs(func(j *storedJob) bool { return len(j.Unit) > 1<<16 })),
	snapshotBug("keeps-plain-queues",
		loseJobs(func(j *storedJob) bool { return strings.ContainsFunc(j.Queue, isSpecial) })),
	snapshotBug("keeps-no-schedule", loseJobs(in("scheduled"))),
	snapshotBug("keeps-no-missed",
		loseJobs(func(j *storedJob) bool { return j.Place == "scheduled" && j.Due.Before(time.Now()) })),
	snapshotBug("keeps-no-retries", loseJobs(in("retries"))),
	snapshotBug("keeps-no-held", loseJobs(in("working"))),
	// Doubled.
	snapshotBug("keeps-queues-twice", duplicateEach(isInQueue, nil)),
	snapshotBug("keeps-retries-twice", duplicateEach(in("retries"), nil)),
	snapshotBug("keeps-held-queued",
		duplicateEach(in("working"), func(j *storedJob) { j.Place, j.Due = "queue", time.Time{} })),
	// Altered.
	snapshotBug("keeps-no-custom", changeUnits(deleteField("custom"))),
	snapshotBug("keeps-floats", changeUnits(func(job *object) {
		reshape(job, "args", mapLeaves(func(v any) any {
			if n, ok := v.(json.Number); ok {
				if f, err := n.Float64(); err == nil && !math.IsInf(f, 0) {
					return f
				}
			}
			return v
		}))
	})),
	snapshotBug("keeps-ascii", changeUnits(func(job *object) {
		reshape(job, "args", mapTexts(func(s string) string { return strings.Map(ascii, s) }))
	})),
	snapshotBug("keeps-trimmed-texts", changeUnits(func(job *object) {
		reshape(job, "args",
			mapTexts(strings.TrimSpace))
	})),
	snapshotBug("keeps-no-retry", changeUnits(func(job *object) { job.SetInt("retry", 25) })),
	snapshotBug("keeps-own-created-at", changeUnits(func(job *object) { job.SetTime("created_at", time.Now()) })),
	snapshotBug("keeps-no-failure", changeUnits(deleteField("failure"))),
	snapshotBug("keeps-no-failures", changeEach(in("retries"), func(j *storedJob) { j.Failures = 0 })),
	// Early.
	snapshotBug("keeps-schedule-due", changeEach(in("scheduled"), func(j *storedJob) { j.Due = time.Now() })),
	snapshotBug("keeps-schedule-hour-early",
		changeEach(in("scheduled"), func(j *storedJob) { j.Due = j.Due.Add(-time.Hour) })),
	snapshotBug("keeps-far-due",
		changeEach(func(j *storedJob) bool { return j.Place == "scheduled" && time.Until(j.Due) > 365*24*time.Hour },
			func(j *storedJob) { j.Due = time.Now() })),
	// Never.
	snapshotBug("keeps-schedule-hour-late",
		changeEach(in("scheduled"), func(j *storedJob) { j.Due = j.Due.Add(time.Hour) })),
	snapshotBug("keeps-held-forever", changeEach(in("working"), addTenYears)),
	snapshotBug("keeps-retries-forever", changeEach(in("retries"), addTenYears)),
	// Order and counts.
	snapshotBug("keeps-reversed", func(s *fakes.Snapshot) { slices.Reverse(s.Jobs) }),
	snapshotBug("keeps-no-dead", func(s *fakes.Snapshot) { s.Dead = 0 }),
	snapshotBug("keeps-no-far",
		loseJobs(func(j *storedJob) bool { return j.Place == "scheduled" && time.Until(j.Due) > 365*24*time.Hour })),
}

type storedJob = fakes.StoredJob

// snapshotBug returns the bug of a row of bugs.txt. A clause is broken where there is one; see docs/upgrades.md.
func snapshotBug(name string, change func(*fakes.Snapshot)) catalogue.Bug[fakes.Snapshot] {
	return catalogue.BugOf[fakes.Snapshot](bugsTable(), name, change)
}

func isInQueue(j *storedJob) bool { return j.Place == "queue" }

// in is for jobs in a place.
func in(place string) func(*storedJob) bool {
	return func(j *storedJob) bool { return j.Place == place }
}

func isSpecial(r rune) bool { return r != '-' && !unicode.IsDigit(r) && (r < 'a' || r > 'z') }

// loseJobs removes jobs.
func loseJobs(match func(*storedJob) bool) func(*fakes.Snapshot) {
	return func(s *fakes.Snapshot) {
		s.Jobs = slices.DeleteFunc(s.Jobs, func(j storedJob) bool { return match(&j) })
	}
}

// changeEach changes jobs.
func changeEach(match func(*storedJob) bool, change func(*storedJob)) func(*fakes.Snapshot) {
	return func(s *fakes.Snapshot) {
		for i := range s.Jobs {
			if match(&s.Jobs[i]) {
				change(&s.Jobs[i])
			}
		}
	}
}

// duplicateEach adds jobs a second time, changed.
func duplicateEach(match func(*storedJob) bool, change func(*storedJob)) func(*fakes.Snapshot) {
	return func(s *fakes.Snapshot) {
		for _, j := range slices.Clone(s.Jobs) {
			if !match(&j) {
				continue
			}
			if change != nil {
				change(&j)
			}
			s.Jobs = append(s.Jobs, j)
		}
	}
}

// changeUnits changes the work unit of every job.
func changeUnits(change func(*object)) func(*fakes.Snapshot) {
	return changeEach(func(*storedJob) bool { return true }, func(j *storedJob) {
		job := unit(*j)
		change(job)
		j.Unit = job.Append(nil)
	})
}

func deleteField(field string) func(*object) { return func(job *object) { job.Delete(field) } }

func addTenYears(j *storedJob) { j.Due = j.Due.AddDate(10, 0, 0) }
