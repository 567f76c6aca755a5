// Package faults is the catalogue of the ways in which a server of package fakes breaks the specification. What is said
// of each, the clauses, a sentence and the aliases, is a row of faults.txt; the Go files have what each does.
//
// A fault is in the file of the first word of its name: fetch-bare in fetch.go. Words with fewer than ten faults share
// few.go. A test holds this law. So there are ack.go, auth.go, beat.go, end.go, fail.go, fetch.go, flush.go, hello.go,
// hi.go, job.go, line.go, push.go, queue.go, reply.go, reserve.go, restart.go, retry.go, schedule.go, state.go and
// worker.go.
// Those of what Faktory adds to the specification are a list of their own, in faktory.go.
// A fault that breaks the same clause in the same way on the same occasion as another one is an alias of that.
//
// keeping.go has the faults of what a server keeps while it does not run, which are a list of their own. faults.go has
// the list of all others. The hooks are made of the words in condition.go (when), action.go (what then) and
// memory.go (after what); content.go changes the JSON within jobs, hands.go knows which jobs are being worked on,
// hash.go what is wrong with a password's hash, and wait.go has the hooks that wait, or know which FETCHes wait.
package faults
