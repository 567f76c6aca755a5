package selftest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

// TestTheLawSeesWhatNoLineIsAbout plays a script that looks at jids alone against faults that change other values: what is
// found is a finding of the law.
func TestTheLawSeesWhatNoLineIsAbout(t *testing.T) {
	t.Parallel()
	script, err := scenarios.Parse(fwpdialect.Dialect{}, "x", []byte(`title: x
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
`))
	require.NoError(t, err)
	check := conformance.Scripts(script)[0]
	for fault, clause := range map[string]string{
		"job-args-reversed": "FWP-WU-03", "job-retry-follows": "FWP-RETRY-04", "job-custom-dropped": "FWP-WU-11",
		"job-custom-follows": "FWP-WU-11",
	} {
		f, err := peer.Default().FaultNamed(fault)
		require.NoError(t, err)
		result := playScript(t, peer.Default(), f, check)
		if assert.Len(t, result.Findings, 1, fault) {
			assert.Equal(t, clause, result.Findings[0].Clause, fault)
			assert.Equal(t, "law/field", result.Findings[0].Evidence.Check, fault)
		}
	}
}
