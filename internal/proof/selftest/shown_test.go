package selftest

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/registry"
)

// shownRules has for each rule of a law a bug and a script: the conversation of the script with a server that has the
// bug breaks the rule.
var shownRules = map[string]map[string]string{
	"fwp": {
		"block": "fetch-never-blocks fetch/waits-with-several-queues", "closed": "end-error end/reply",
		"delivered": "ack-redelivered ack/is-final", "field": "woken-drops-custom fetch/woken-is-the-job",
		"failure": "reply-error-simple beat/malformed",
		"foreign": "fetch-simple fetch/job", "greeting": "hi-version-3 examples/consumer-open",
		"late":     "fetch-slow-seldom jobs/enqueued-at-once-each",
		"missing":  "fetch-queues-kept fetch/queues-of-each-command",
		"no-error": "state-before-hello-closes states/fetch-before-hello",
		"order":    "fetch-default-first fetch/default-in-queue-order", "queue": "queue-dots names/queues-with-dots",
		"refused": "worker-fail-refused workers/reports-on-another-connection",
		"reply":   "flush-arguments flush/no-argument", "salt": "auth-salts-few auth/replay-over-many",
		"stalled": "fetch-stalls-all fetch/wakes-one-worker",
		"state":   "beat-state-word beat/terminate", "swapped": "reply-swapped resp/own-replies",
		"text":    "reply-error-cut framing/unicode",
		"unknown": "job-id-lower-case names/job-ids",
	},
	"workq": {
		"closed": "line-refused-closes inspect/job", "delivered": "lease-from-add lease/time-starts-with-the-lease",
		"early": "lease-no-wait lease/timeout", "field": "lease-ttr-seconds examples/run",
		"foreign": "run-other-id run/ended", "late": "lease-timeout-late lease/timeout",
		"listed": "inspect-limit-ignored inspect/jobs", "malformed": "refused-size add/size-too-small",
		"missing": "lease-first-name lease/several-names", "order": "add-priority-ignored add/priority",
		"overdue": "schedule-late schedule/due", "reply": "delete-keeps delete/removes",
		"result": "complete-result-cut examples/result", "shown": "inspect-queues-limit examples/inspect-queues",
		"unknown": "lease-other-id examples/run",
	},
	"emqp": {
		"ack-again":         "ack-first-id request/twenty",
		"after-disconnect":  "disconnect-goes-on disconnect/stops",
		"after-kbai":        "kbai-worker-ignored kbai/no-heartbeats",
		"heartbeat-early":   "heartbeat-before-inform heartbeat/before-inform",
		"heartbeat-missing": "heartbeat-ends heartbeat/any-command",
		"id":                "frame-id-same-request frames/acknowledged", "missing": "request-lost request/delivered",
		"reply-content":    "reply-true reply/after-a-long-job",
		"reply-other":      "reply-to-first-client reply/to-the-client-that-asked",
		"reply-unknown":    "reply-not-requested reply/two-clients",
		"reply-unasked":    "reply-not-requested reply/not-requested",
		"request-again":    "request-twice request/one-of-two-workers",
		"request-content":  "request-queue-changed request/delivered",
		"request-queue":    "request-any-worker request/queues-that-are-alike",
		"schedule-content": "schedule-message-changed schedule/passed-on",
		"timestamp":        "heartbeat-milliseconds reply/after-a-long-job",
		"version":          "frame-version-any frames/another-version",
	},
}

// unshownRules are the rules that the conversation of no script with a server of the catalogue breaks, with the reason.
var unshownRules = map[string]string{
	"fwp not-woken":           "scripts push half a second into a wait of two, and the rest is allowed for lag",
	"workq chance":            "the leases of a script are too few; 31 are in the test of the law",
	"emqp closed":             "no broker of the catalogue ends the connection of a worker or scheduler",
	"emqp request-unknown":    "no broker of the catalogue makes up a REQUEST; the test of the law does",
	"emqp unschedule-content": "no broker of the catalogue changes an UNSCHEDULE; the test of the law does",
	"emqp socket":             "the sockets of the brokers are all routers; the test of the law has another one",
}

// TestEachRuleIsShown plays for each rule of each law what breaks it. Each also has what explain tells of it.
func TestEachRuleIsShown(t *testing.T) {
	t.Parallel()
	for _, entry := range registry.All() {
		for _, rule := range slices.Sorted(maps.Keys(entry.Law.Rules)) {
			name, row := entry.Name+" "+rule, entry.Law.Rules[rule]
			assert.NotEmpty(t, row.Decided, name)
			for id := range strings.FieldsSeq(row.Clauses) {
				_, isListed := entry.ClauseByID(entry.Prefix + id)
				assert.True(t, isListed, "%s: %s", name, id)
			}
			bug, script, ok := strings.Cut(shownRules[entry.Name][rule], " ")
			if _, isListed := unshownRules[name]; !ok || isListed {
				assert.NotEqual(t, isListed, ok, "%s: no planted bug shows it", name)
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				assert.Positive(t, brokenBy(t, entry, bugNamed(t, entry.Name, bug), script)[rule])
			})
		}
	}
}

// brokenBy plays a script on servers with a bug, and returns how often it has broken each rule of the law.
func brokenBy(t *testing.T, entry *registry.Entry, bug registry.Bug, script string) map[string]int {
	t.Helper()
	all, err := entry.Scripts()
	require.NoError(t, err)
	i := slices.IndexFunc(all, func(c conformance.Check) bool { return c.Describe().ID == script })
	require.GreaterOrEqual(t, i, 0, script)
	times := map[string]int{}
	synctest.Test(t, func(t *testing.T) {
		p := &pool{fixture: Fixture{Entry: entry, Network: memnet.New()}, config: registry.Config{Bugs: []registry.Bug{bug}}}
		defer p.close()
		runner, err := p.runner(all[i])
		require.NoError(t, err)
		for _, rule := range runner.Run(t.Context()).Law.Rules {
			times[strings.TrimPrefix(rule.ID, "law/")] = rule.Breaches
		}
	})
	return times
}
