// Package client is the clients of a load run: producers that push jobs, workers that take,
// finish and report them and send heartbeats, observers, and short-lived connections. It
// knows no protocol: a wire.Speaker writes the commands and reads the replies.
//
// All clients are state machines driven by a loop of package engine: an event and the time
// go in, bytes and the next wake come out. There are no goroutines and no clocks, and no
// lock but that of [Shared]. What the connections of one loop share is a [Shard]; a run has
// one for each loop, each with its part of the connections and of the jobs.
//
// Every command is timed in the shard's recorder, and every job is booked in the run's
// ledger. With Config.History every call that moves a job is recorded, to be examined
// afterwards.
//
// The methods of a shard lead it through a run, in this order: Connect, Prefill, Start,
// then StopPushing, Drain and Stop, or Abandon instead of waiting longer.
// [Shard.Status] reports the progress.
//
// Files: shard.go has what there is, phases.go the order of a run, status.go how far it is. conn.go is a connection and
// the interface of its role, connecting.go how it opens and ends, conn_reply.go what arrives, breach.go unanswered.go
// and trouble.go what is wrong with it. The roles are producer.go, churn.go, and worker.go with duty.go, fetch.go,
// receive.go, late.go, report.go, beat.go (heartbeats and observers) and expiry.go. dispatch.go hands out arrivals,
// backlog.go holds closed loops. disconnect.go and record.go are what a workload may add. queues.go has a
// queue and a timetable.
package client
