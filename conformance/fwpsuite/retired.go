package fwpsuite

import "strings"

// retired returns the checks that are no more, and what stands instead of each: a check that also sends what it sent,
// or a rule of the law, which looks at it in every conversation.
func retired() map[string]string {
	all := map[string]string{}
	for row := range strings.Lines(retiredChecks) {
		name, heir, _ := strings.Cut(row, " ")
		all[name] = strings.TrimSpace(heir)
	}
	return all
}

// retiredChecks has a line for each: its name, and what stands instead.
const retiredChecks = `auth/hash-rounds                      auth/hash-near-misses
auth/hash-type-of-a-worker            auth/hash-type
auth/password-and-salt                auth/hash-near-misses
auth/replay                           auth/replay-over-many
beat/alike-worker                     beat/unknown-worker
beat/field-types                      beat/malformed
beat/ok                               beat/documented-values
beat/on-a-later-connection            beat/told-to-be-quiet
beat/on-another-connection            beat/told-to-be-quiet
beat/only-the-signalled-worker        beat/first-of-several
beat/told-though-another-connects     beat/told-to-be-quiet
beat/told-though-it-reports-its-state beat/terminate-after-quiet
beat/told-with-more-fields            beat/told-to-be-quiet
fail/accepted                         fail/documented-values
fetch/order-of-queues                 fetch/order-over-many-commands
fetch/waits-side-by-side              fetch/many-wait-side-by-side
fetch/waits-two-seconds-at-most       fetch/waits-two-seconds
hello/argument-is-json                hello/argument-is-a-hash
hello/consumer-field-kinds            hello/consumer-field-types
hello/consumer-names                  hello/consumer-values
hello/declined-again                  hello/declined
hello/fields-in-any-order             hello/consumer-values
hello/hi-comes-first                  hello/hi-version
hello/hi-form                         hello/hi-version
hello/hi-types                        hello/hi-protected
hello/hi-types-of-many                hello/hi-protected
hello/producer-open                   examples/producer-open
hello/shared-wid                      workers/reports-on-another-connection
hello/twice                           hello/twice-with-a-job
info/contents                         info/bulk-string
jobs/enqueued-at-once                 law/late
push/by-a-consumer                    push/by-a-busy-worker
push/nothing-is-lost                  push/a-thousand-jobs
push/refused-is-not-enqueued          push/refused-leaves-nothing
push/refused-json                     push/refused
reserve/acknowledged                  ack/of-many-jobs
resp/no-line-break-from-an-escape     resp/no-line-break-in-errors
resp/well-formed-long-and-short       resp/well-formed
retry/comes-back                      retry/once
retry/exhausted                       retry/exhausted-by-two-workers
states/info-by-a-consumer             states/every-command
states/kept-by-refusal                states/refused-many-times
workers/failed-on-another-connection  workers/acknowledged-on-another-connection
workunit/args-accepted                workunit/kinds-come-back
workunit/args-come-back               workunit/kinds-come-back
workunit/args-required                workunit/required-fields
workunit/at-is-no-other-text          workunit/at-is-a-time
workunit/backtrace-one-line           workunit/backtrace-lines
workunit/created-at-set               workunit/omitted-after-a-neighbour
workunit/custom-comes-back            workunit/custom-contents-come-back
workunit/custom-omitted               workunit/omitted-after-a-neighbour
workunit/custom-type                  workunit/optional-types
workunit/enqueued-at                  workunit/enqueued-at-is-the-servers
workunit/integers-are-exact           workunit/numbers-come-back
workunit/integers-one-by-one          workunit/numbers-come-back
workunit/jid-required                 workunit/required-fields
workunit/jobtype-required             workunit/required-fields
workunit/jobtype-required-whenever    workunit/required-fields
workunit/reserve-for-type             workunit/optional-types
`
