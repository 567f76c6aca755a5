package fakes

import "github.com/fwpsuite/fwp/fwp"

// backtraceFaults are about how many lines of a backtrace are kept.
func backtraceFaults() []Fault {
	return []Fault{
		fault("job-backtrace-none", "WU-09",
			"no line of a backtrace is kept, whatever the job asks for",
			when(Defaulted, fwp.PUSH, func(e *Event) { e.Object.Set("backtrace", "0") })),
		fault("job-backtrace-all", "WU-08", "a job without backtrace keeps all lines", omitted("backtrace", "30")),
		statefulFault("job-backtrace-follows", "WU-08",
			"a job without backtrace keeps as many lines as the one before",
			follows("backtrace")),
		fault("backtrace-line-short", "WU-09",
			"a backtrace is kept with one line fewer than the job asks for",
			when(Defaulted, fwp.PUSH, func(e *Event) {
				if n, _ := e.Object.Int("backtrace"); n > 1 {
					e.Object.Set("backtrace", itoa(n-1))
				}
			})),
		fault("backtrace-whole", "WU-09",
			"all lines of a backtrace are kept if the job asks for some",
			when(Defaulted, fwp.PUSH, func(e *Event) {
				if n, _ := e.Object.Int("backtrace"); n > 0 {
					e.Object.Set("backtrace", "30")
				}
			})),
	}
}
