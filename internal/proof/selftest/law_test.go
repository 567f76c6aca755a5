package selftest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/scenarios"
)

// TestTheLawSeesWhatNoLineIsAbout plays scripts that look at jids, or at kinds of replies, alone against bugs that
// change other values: what is found is a finding of the law.
func TestTheLawSeesWhatNoLineIsAbout(t *testing.T) {
	t.Parallel()
	for protocol, test := range map[string]struct {
		script string
		finds  map[string][]string // by bugs: the clause of a finding, and its check
	}{
		"fwp": {`
connect as consumer

C: PUSH {"jid":"$jid1","jobtype":"t","args":[1,[2,3]],"queue":"$queue","retry":3,"custom":{"a":"b"}}
S: +OK
C: PUSH {"jid":"$jid2","jobtype":"t","args":[1,2],"queue":"$queue"}
S: +OK
C: FETCH $queue
S: ${"jid":"$jid1"} | ${"jid":"$jid2"}
C: FETCH $queue
S: ${"jid":"$jid1"} | ${"jid":"$jid2"}
C: ACK {"jid":"$jid1"}
S: +OK
C: ACK {"jid":"$jid2"}
S: +OK
`, map[string][]string{
			"job-args-reversed": {"FWP-WU-03", "law/field"}, "job-retry-follows": {"FWP-RETRY-04", "law/field"},
			"job-custom-dropped": {"FWP-WU-11", "law/field"}, "job-custom-follows": {"FWP-WU-11", "law/field"},
		}},
		"workq": {`
protocol: workq
connect worker as consumer

C: add $id1 $name 60000 60000 * -priority=1 -max-fails=2 <- one
S: +OK
C: add $id2 $name 60000 60000 * -priority=2 <- two
S: +OK
C: inspect queue $name
S: +OK 1 ...
C: lease $name 500
S: +OK 1 ...
C: inspect job $id2
S: +OK 1 ...
C: result $id2 9000
C[worker]: complete $id2 * <- pong
S[worker]: +OK
S: +OK 1 ...
C: inspect job $id2
S: +OK 1 ...
`, map[string][]string{
			"add-priority-ignored": {"WORKQ-ADD-15", "law/order"}, "inspect-attempts-zero": {"WORKQ-INSP-03", "law/field"},
			"inspect-state-new": {"WORKQ-INSP-04", "law/field"}, "inspect-queue-empty": {"WORKQ-INSP-10", "law/field"},
			"lease-ttr-seconds": {"WORKQ-LEASE-01", "law/field"}, "complete-result-cut": {"WORKQ-RESULT-01", "law/result"},
		}},
		"emqp": {`
protocol: emqp
connect w as consumer
connect c as producer
connect d as producer

C[w]: ["", "eMQP/1.0", "INFORM", $id1, "[[10,\"$queue\"]]", "worker"]
C[w]: ["", "eMQP/1.0", "READY", $id2]
C[c]: ["", "eMQP/1.0", "REQUEST", $id3, $queue, "reply-requested,timeout:7", $text1]
S[w]: ["", "eMQP/1.0", "REQUEST", ...]
C[w]: ["", "eMQP/1.0", "REPLY", $id4, $text2]
S[c]: ["", "eMQP/1.0", "REPLY", ...]
C[w]: ["", "eMQP/1.0", "READY", $id5]
C[d]: ["", "eMQP/1.0", "REQUEST", $id6, $queue, "", $text3]
S[w]: ["", "eMQP/1.0", "REQUEST", ...]
silence 12s on c
`, map[string][]string{
			"headers-lost": {"EMQP-HEAD-01", "law/request-content"}, "headers-first": {"EMQP-HEAD-01", "law/request-content"},
			"headers-none": {"EMQP-HEAD-02", "law/request-content"}, "reply-true": {"EMQP-REPLY-01", "law/reply-content"},
			"heartbeat-milliseconds": {"EMQP-BEAT-03", "law/timestamp"},
		}},
	} {
		entry, err := registry.Lookup(protocol)
		require.NoError(t, err)
		dialect := entry.Dialect
		script, err := scenarios.Parse(dialect, "x", []byte("title: x"+test.script))
		require.NoError(t, err)
		check := conformance.Scripts(script)[0]
		for bug, want := range test.finds {
			f, err := entry.BugNamed(bug)
			require.NoError(t, err)
			var list [][]string
			for _, finding := range playScript(t, entry, f, check).Findings {
				list = append(list, []string{finding.Clause, finding.Check})
			}
			assert.Contains(t, list, want, bug)
		}
	}
}
