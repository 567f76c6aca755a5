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
const retiredChecks = `auth/hash-rounds                           auth/hash-near-misses
auth/hash-type-of-a-worker                 auth/hash-type
auth/password-and-salt                     auth/hash-near-misses
auth/replay                                auth/replay-over-many
auth/unreadable-is-not-served              auth/no-effect-before-hello
beat/alike-worker                          beat/unknown-worker
beat/field-types                           beat/malformed
beat/ok                                    beat/documented-values
beat/on-a-later-connection                 beat/told-to-be-quiet
beat/on-another-connection                 beat/told-to-be-quiet
beat/only-the-signalled-worker             beat/first-of-several
beat/several-workers                       beat/documented-values
beat/told-though-another-connects          beat/told-to-be-quiet
beat/told-though-it-reports-its-state      beat/terminate-after-quiet
beat/told-with-more-fields                 beat/told-to-be-quiet
end/of-one-client                          end/closes
fail/accepted                              fail/documented-values
fail/expiry-after-a-neighbour              fail/texts-of-a-neighbour
fail/texts-come-back                       fail/documented-values-come-back
fetch/order-of-queues                      fetch/order-over-many-commands
fetch/waits-side-by-side                   fetch/many-wait-side-by-side
fetch/waits-two-seconds-at-most            fetch/waits-two-seconds
framing/empty-line                         framing/strict-syntax
framing/lines-of-a-page                    framing/lines-of-other-lengths
hello/argument-is-json                     hello/argument-is-a-hash
hello/consumer-field-kinds                 hello/consumer-field-types
hello/consumer-names                       hello/consumer-values
hello/declined-again                       hello/declined
hello/fields-in-any-order                  hello/consumer-values
hello/hi-comes-first                       hello/hi-version
hello/hi-form                              hello/hi-version
hello/hi-types                             hello/hi-protected
hello/hi-types-of-many                     hello/hi-protected
hello/producer-open                        examples/producer-open
hello/shared-wid                           workers/reports-on-another-connection
hello/twice                                hello/twice-with-a-job
info/contents                              info/bulk-string
jobs/enqueued-at-once                      law/late
jobs/scheduled-is-the-job                  law/field
jobs/scheduled-together                    law/missing
link/any-number-of-jobs                    link/any-number-of-commands
push/by-a-consumer                         push/by-a-busy-worker
push/nothing-is-lost                       push/a-thousand-jobs
push/refused-is-not-enqueued               push/refused-leaves-nothing
push/refused-json                          push/refused
reserve/acknowledged                       ack/of-many-jobs
reserve/runs-out                           law/missing
reserve/worker-goes-away                   workers/gone-with-its-jobs
resp/no-line-break-from-an-escape          resp/no-line-break-in-errors
resp/well-formed-long-and-short            resp/well-formed
retry/after-some-work                      law/missing
retry/comes-back                           retry/exhausted-by-two-workers
retry/exhausted                            retry/exhausted-by-two-workers
retry/once                                 retry/exhausted-by-two-workers
states/identified-by-a-neighbour           states/refused-before-hello
states/info-by-a-consumer                  states/every-command
states/kept-by-refusal                     states/refused-many-times
workers/acknowledged-after-its-connection  workers/reports-on-another-connection
workers/acknowledged-on-another-connection workers/reports-on-another-connection
workers/failed-on-another-connection       workers/reports-on-another-connection
workunit/args-accepted                     workunit/kinds-come-back
workunit/args-come-back                    workunit/kinds-come-back
workunit/args-required                     workunit/required-fields
workunit/at-is-no-other-text               workunit/at-is-a-time
workunit/backtrace-one-line                workunit/backtrace-lines
workunit/created-at-kept                   workunit/documented-values
workunit/created-at-set                    workunit/omitted-after-a-neighbour
workunit/custom-comes-back                 workunit/custom-contents-come-back
workunit/custom-omitted                    workunit/omitted-after-a-neighbour
workunit/custom-type                       workunit/optional-types
workunit/enqueued-at                       workunit/enqueued-at-is-the-servers
workunit/enqueued-at-again                 law/field
workunit/integers-are-exact                workunit/numbers-come-back
workunit/integers-one-by-one               workunit/numbers-come-back
workunit/jid-required                      workunit/required-fields
workunit/jobtype-required                  workunit/required-fields
workunit/jobtype-required-whenever         workunit/required-fields
workunit/reserve-for-type                  workunit/optional-types
`
