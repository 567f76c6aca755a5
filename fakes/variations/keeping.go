package variations

import (
	"net"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
)

// Keeping returns the ways in which a server may differ from others that keeps its jobs in a folder while it does not
// run, and conforms. They need a [fakes.Config.Dir]: fwpcheck upgrade finds nothing wrong with them.
func Keeping() []fakes.Variation {
	return []fakes.Variation{
		keeping("keeps-reservations-anew", "FWP-STATE-07", "reservations begin anew at the start",
			held(func(j *fakes.StoredJob) { j.Due = time.Now().Add(time.Minute) })),
		keeping("keeps-held-in-queues", "STATE-08", "jobs that workers held are in their queues again",
			held(func(j *fakes.StoredJob) { j.Place, j.Due = "queue", time.Time{} })),
		keeping("keeps-held-as-failed", "AMB-01b", "the reservations of held jobs have ended, and they wait for a retry",
			held(func(j *fakes.StoredJob) { j.Place, j.Due = "retries", time.Now().Add(20*time.Second) })),
		keeping("keeps-lazily", "AMB-38", "jobs in queues are read 10 s after the start", late("queue")),
		keeping("keeps-sets-lazily", "AMB-04", "scheduled and failed jobs are read, and counted, 10 s after the start",
			late("scheduled retries")),
		keeping("keeps-counts-anew", "AMB-04", "what was done before is counted no more",
			func(s *fakes.Snapshot) { s.Processed, s.Failures = 0, 0 }),
		keeping("keeps-enqueuing", "FWP-WU-12", "jobs in queues are enqueued again at the start",
			all(func(j *fakes.StoredJob, job *fakes.Object) {
				if j.Place == "queue" {
					job.SetTime("enqueued_at", time.Now())
				}
			})),
		keeping("keeps-no-defaults", "AMB-18", "fields that have their default are left out",
			all(func(_ *fakes.StoredJob, job *fakes.Object) {
				for field, value := range map[string]string{"retry": "25", "reserve_for": "1800", "custom": "{}", "backtrace": "0"} {
					if string(job.Get(field)) == value {
						job.Delete(field)
					}
				}
			})),
		{
			Name: "starts-slowly", Summary: "it takes five seconds to start", Reading: "not stated",
			Configure: func(c *fakes.Config) {
				listen := c.Listen
				c.Listen = func() (net.Listener, error) {
					time.Sleep(5 * time.Second)
					return listen()
				}
			},
		},
	}
}

func keeping(name, reading, summary string, change func(*fakes.Snapshot)) fakes.Variation {
	return fakes.Variation{
		Name: name, Summary: summary, Reading: reading, Configure: func(c *fakes.Config) { c.Restored = change },
	}
}

// held changes the jobs that workers held.
func held(change func(*fakes.StoredJob)) func(*fakes.Snapshot) {
	return func(s *fakes.Snapshot) {
		for i := range s.Jobs {
			if s.Jobs[i].Place == "working" {
				change(&s.Jobs[i])
			}
		}
	}
}

// late has jobs of some places read later.
func late(places string) func(*fakes.Snapshot) {
	return func(s *fakes.Snapshot) {
		for i := range s.Jobs {
			if strings.Contains(places, s.Jobs[i].Place) {
				s.Jobs[i].After = 10 * time.Second
			}
		}
	}
}

// all changes the work unit of every job.
func all(change func(*fakes.StoredJob, *fakes.Object)) func(*fakes.Snapshot) {
	return func(s *fakes.Snapshot) {
		for i := range s.Jobs {
			job, _ := fakes.ParseObject(s.Jobs[i].Unit) // the server has written it
			change(&s.Jobs[i], job)
			s.Jobs[i].Unit = job.Append(nil)
		}
	}
}
