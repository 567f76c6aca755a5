package law_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/law"
)

func TestRules(t *testing.T) {
	t.Parallel()
	const text = "# What comes.\norder | job-stays | timed\n  The queues are looked into\n  in their order.\n" +
		"  decided: each job\n  clauses: FETCH-04\n  FETCH-05\n  clauses of faktory: FKT-QUEUE-01\n\n" +
		"foreign\n  A reply is of a kind that its command has.\n  decided: each reply\n  clauses: ACK-01\n"
	order := law.Rule{
		Title: "The queues are looked into in their order", Traits: law.JobStays | law.Timed, Decided: "each job",
		Clauses: "FETCH-04 FETCH-05",
	}
	foreign := law.Rule{
		Title: "A reply is of a kind that its command has", Decided: "each reply", Clauses: "ACK-01",
	}
	assert.Equal(t, map[string]law.Rule{"order": order, "foreign": foreign}, law.Rules(text, ""))
	order.Clauses += " FKT-QUEUE-01"
	assert.Equal(t, order, law.Rules(text, "faktory")["order"])
	assert.Panics(t, func() { law.Rules("order | quick\n  The queues.\n", "") })
}
