package worker

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEachRowIsUsed(t *testing.T) {
	t.Parallel()
	assert.Len(t, faultsTable(), len(Faults()))
	assert.Len(t, variationsTable(), len(Variations()))
}
