package selftest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/scenarios"
)

// TestTheLawSeesWhatNoLineIsAbout plays scripts that look at jids, or at kinds of replies, alone against faults that
// change other values: what is found is a finding of the law.
func TestTheLawSeesWhatNoLineIsAbout(t *testing.T) {
	t.Parallel()
	for protocol, test := range map[string]struct {
		script string
		finds  map[string][]string // by faults: the clause of a finding, and its check
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
	} {
		of, err := peer.Named(protocol)
		require.NoError(t, err)
		dialect := of.Protocol.Dialect
		script, err := scenarios.Parse(dialect, "x", []byte("title: x"+test.script))
		require.NoError(t, err)
		check := conformance.Scripts(script)[0]
		for fault, want := range test.finds {
			f, err := of.FaultNamed(fault)
			require.NoError(t, err)
			var found [][]string
			for _, one := range playScript(t, of, f, check).Findings {
				found = append(found, []string{one.Clause, one.Evidence.Check})
			}
			assert.Contains(t, found, want, fault)
		}
	}
}
