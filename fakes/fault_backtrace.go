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
		fault("backtrace-single", "WU-09",
			"a backtrace of which one line is to be kept is not kept",
			on(Failed, func(e *Event) {
				if lines, _ := asStrings(backtraceOf(e.Object)); len(lines) == 1 {
					withoutBacktrace(e.Object)
				}
			})),
	}
}

func backtraceOf(job *Object) []byte {
	failure, r := parseObject(job.Get("failure"))
	if r != nil {
		return nil
	}
	return failure.Get("backtrace")
}

func withoutBacktrace(job *Object) {
	failure, r := parseObject(job.Get("failure"))
	if r == nil {
		failure.Delete("backtrace")
		job.Set("failure", string(failure.Append(nil)))
	}
}
