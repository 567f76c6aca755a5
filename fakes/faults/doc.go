// Package faults is the catalogue of the ways in which a server of package fakes breaks the specification.
//
// A fault is in the file of the first word of its name: fetch-bare in fetch.go. A word with more than a hundred faults
// is divided by the second one, where that has at least ten: job-text-html in job_text.go, job-null-dropped in job.go.
// Words with fewer than ten faults share few.go. A test holds this law. So there are ack.go, auth.go, beat.go, end.go,
// fail.go, fetch.go, flush.go, hello.go, hi.go, job.go with job_at.go and job_text.go, line.go, push.go,
// queue.go, reply.go, reserve.go, restart.go, retry.go, schedule.go, state.go and worker.go.
//
// faults.go has the list of all. The hooks are made of the words in condition.go (when), action.go (what then) and
// memory.go (after what); content.go changes the JSON within jobs, hands.go knows which jobs are being worked on,
// hash.go what is wrong with a password's hash, and wait.go has the hooks that wait, or know which FETCHes wait.
package faults
