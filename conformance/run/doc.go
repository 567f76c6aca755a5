// Package run plays checks on servers, and says what follows for each clause. It knows no protocol: all that differs
// between two of them is in the [conformance.Protocol] of a [Runner].
//
// A Runner takes servers and checks and returns a report. It prints nothing and reads no flags. Every check uses
// connections, queues, jobs and worker ids of its own, so that checks run concurrently; those that touch what all
// clients share run alone, and only where that is allowed. One goroutine, the loop of a run, starts the checks and
// evaluates what they return; each check is played in a goroutine of its own.
//
// The files by idea:
//
//   - a run: runner.go is what users set, schedule.go the loop, task.go one check with its tries, host.go a server that
//     checks share and how many connections it takes, play.go one try, replay.go what another one is for
//   - what ended a server: crash.go, and crash_lent.go where hostile checks had it one after the other; closure.go for
//     a closed connection
//   - verdicts: verdict.go from what a script saw, verdict_cause.go why there is none, verdict_decision.go from a
//     property, and about a client, law.go from the law of the protocol, which judges all conversations of scripts;
//     verdict_finding.go the evidence, and where a client was not let in; reach.go asks whether a passed clause was
//     shown, and whether what the checks take for granted holds, and makes one finding of a verb that is never served;
//     fold.go makes one result of several
package run
