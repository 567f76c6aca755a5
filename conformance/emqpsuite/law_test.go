package emqpsuite_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/fakes/fakeemqp"
	"github.com/fwpsuite/fwp/internal/suitetest"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/emqpdialect"
)

// TestTheLawSeesWhatNoLineIsAbout plays a script that looks at the commands of messages alone against faults that change
// other values: what is found is a finding of the law.
func TestTheLawSeesWhatNoLineIsAbout(t *testing.T) {
	t.Parallel()
	script, err := scenarios.Parse(emqpdialect.Dialect{}, "x", []byte(`protocol: emqp
title: x
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
`))
	require.NoError(t, err)
	check := conformance.Scripts(script)
	for fault, want := range map[string][2]string{
		"none":                   {},
		"headers-lost":           {"EMQP-HEAD-01", "law/request-content"},
		"headers-first":          {"EMQP-HEAD-01", "law/request-content"},
		"headers-none":           {"EMQP-HEAD-02", "law/request-content"},
		"reply-true":             {"EMQP-REPLY-01", "law/reply-content"},
		"heartbeat-milliseconds": {"EMQP-BEAT-03", "law/timestamp"},
	} {
		config := conforming
		for _, f := range fakeemqp.Faults() {
			if f.Name == fault {
				config = hooked(f.Hook)
			}
		}
		red, by := suitetest.Red(runChecks(t, config, false, check))
		assert.Equal(t, want, [2]string{first(red), first(by)}, fault)
		assert.LessOrEqual(t, len(red), 1, fault)
	}
}

func first(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

// TestABrokerThatReadsAnotherForm of queues need not do what the checks expect: it is not blamed.
func TestABrokerThatReadsAnotherForm(t *testing.T) {
	t.Parallel()
	config := hooked(func() func(*fakeemqp.Event) {
		return func(e *fakeemqp.Event) {
			const command, queues = 2, 4
			e.Drop = !e.Sent && len(e.Frames) > queues && string(e.Frames[command]) == emqp.INFORM &&
				strings.HasPrefix(string(e.Frames[queues]), "[[")
		}
	})
	picked := slices.DeleteFunc(checks(t), func(c conformance.Check) bool { return c.Describe().ID != "request/delivered" })
	report := runChecks(t, config, false, picked)
	require.Len(t, report.Checks, 1)
	assert.Equal(t, reports.Inconclusive, report.Checks[0].Verdict)
	assert.Contains(t, report.Checks[0].Clauses[0].Why, "this broker reads the queues of an INFORM as [10, 'NAME']")
	assert.Empty(t, report.Checks[0].Findings)
}
