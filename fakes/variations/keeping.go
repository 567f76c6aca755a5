package variations

import (
	"net"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
)

// Snapshots returns the ways in which a server may differ from others that keeps its jobs in a folder while it does not
// run, and conforms. They need a [fakes.Config.Dir]: fwpcheck upgrade finds nothing wrong with them.
func Snapshots() []fakes.Variation {
	return []fakes.Variation{
		snapshotVariation("keeps-reservations-anew",
			changeHeld(func(j *fakes.StoredJob) { j.Due = time.Now().Add(time.Minute) })),
		snapshotVariation("keeps-held-in-queues", changeHeld(func(j *fakes.StoredJob) {
			j.Place, j.Due = "queue",
				time.Time{}
		})),
		snapshotVariation("keeps-held-as-failed",
			changeHeld(func(j *fakes.StoredJob) { j.Place, j.Due = "retries", time.Now().Add(20*time.Second) })),
		snapshotVariation("keeps-lazily", delayPlaces("queue")),
		snapshotVariation("keeps-sets-lazily", delayPlaces("scheduled retries")),
		snapshotVariation("keeps-counts-anew", func(s *fakes.Snapshot) { s.Processed, s.Failures = 0, 0 }),
		snapshotVariation("keeps-enqueuing", changeAll(func(j *fakes.StoredJob, job *fakes.Object) {
			if j.Place == "queue" {
				job.SetTime("enqueued_at", time.Now())
			}
		})),
		snapshotVariation("keeps-no-defaults", changeAll(func(_ *fakes.StoredJob, job *fakes.Object) {
			for field, value := range map[string]string{"retry": "25", "reserve_for": "1800", "custom": "{}", "backtrace": "0"} {
				if string(job.Get(field)) == value {
					job.Delete(field)
				}
			}
		})),
		setting("starts-slowly", func(c *fakes.Config) {
			listen := c.Listen
			c.Listen = func() (net.Listener, error) {
				time.Sleep(5 * time.Second)
				return listen()
			}
		}),
	}
}

func snapshotVariation(name string, change func(*fakes.Snapshot)) fakes.Variation {
	return setting(name, func(c *fakes.Config) { c.Restored = change })
}

// changeHeld changes the jobs that workers held.
func changeHeld(change func(*fakes.StoredJob)) func(*fakes.Snapshot) {
	return func(s *fakes.Snapshot) {
		for i := range s.Jobs {
			if s.Jobs[i].Place == "working" {
				change(&s.Jobs[i])
			}
		}
	}
}

// delayPlaces has jobs of some places read later.
func delayPlaces(places string) func(*fakes.Snapshot) {
	return func(s *fakes.Snapshot) {
		for i := range s.Jobs {
			if strings.Contains(places, s.Jobs[i].Place) {
				s.Jobs[i].After = 10 * time.Second
			}
		}
	}
}

// changeAll changes the work unit of every job.
func changeAll(change func(*fakes.StoredJob, *fakes.Object)) func(*fakes.Snapshot) {
	return func(s *fakes.Snapshot) {
		for i := range s.Jobs {
			job, _ := fakes.ParseObject(s.Jobs[i].Unit) // the server has written it
			change(&s.Jobs[i], job)
			s.Jobs[i].Unit = job.Append(nil)
		}
	}
}
