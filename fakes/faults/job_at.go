package faults

import (
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// jobAtFaults are about the time of a job that is to be scheduled.
var jobAtFaults = []fakes.Fault{
	fault("job-at-anything", "WU-06b", "an at that is not a time counts as omitted",
		do(accept, checked(fwp.PUSH), about("at"))),
	fault("job-at-east", "WU-06 STATE-11", "the offset of at is read as UTC if it is positive",
		do(shift("at", func(t time.Time) time.Time { return t.Add(max(offset(t), 0)) }), at(fakes.Defaulted))),
	fault("job-at-follows", "WU-06", "a job without at gets that of the job before", followsJob("at")),
	fault("job-at-fraction-refused", "WU-06 PUSH-01", "an at with a fraction of a second is refused",
		do(decline("at", "at has whole seconds"), checked(fwp.PUSH), text("at", with(".")))),
	fault("job-at-half-hours", "WU-06 STATE-11", "the minutes in the offset of at are ignored",
		do(shift("at", func(t time.Time) time.Time { return t.Add(offset(t) % time.Hour) }), at(fakes.Defaulted))),
	fault("job-at-now-lost", "WU-06 WU-04",
		"a job whose at is less than a second ago or ahead is answered with OK and lost",
		loses(moment("at", func(at time.Time) bool { return time.Until(at).Abs() < time.Second }))),
	fault("job-at-offset", "WU-06 WU-12", "the offset of at is read as UTC",
		do(shift("at", func(t time.Time) time.Time { return t.Add(offset(t)).UTC() }), at(fakes.Defaulted))),
	fault("job-at-offset-refused", "WU-06 PUSH-01", "an at with an offset is refused",
		refuses("at", moment("at", hasOffset))),
	fault("job-at-past-lost", "WU-06 PUSH-04", "a job whose at is in the past is answered with OK and lost",
		loses(moment("at", func(at time.Time) bool { return at.Before(time.Now()) }))),
	fault("job-at-tenths-refused", "WU-06", "an at whose fraction has fewer than three digits is refused",
		do(decline("at", "at has milliseconds"), checked(fwp.PUSH), text("at", func(at string) bool {
			_, fraction, some := strings.Cut(at, ".")
			return some && strings.IndexFunc(fraction, func(r rune) bool { return r < '0' || r > '9' }) < 3
		}))),
	fault("job-at-zoneless", "WU-06b", "an at without a zone is accepted",
		do(func(e *event) { change("at", func(at string) string { return at + "Z" })(e); accept(e) },
			checked(fwp.PUSH), about("at"), text("at", func(at string) bool { return len(at) == len("2030-01-01T00:00:00") }))),
}

// offset is how far the zone of a time is ahead of UTC.
func offset(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

func hasOffset(t time.Time) bool { return offset(t) != 0 }
