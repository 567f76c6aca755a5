package worker

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEachRowIsUsed(t *testing.T) {
	t.Parallel()
	assert.Len(t, bugsTable(), len(Bugs()))
	assert.Len(t, variationsTable(), len(Variations()))
}
