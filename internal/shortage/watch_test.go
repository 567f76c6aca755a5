package shortage_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/shortage"
)

func TestAShortageEndsTheRun(t *testing.T) {
	t.Parallel()
	run, stop := shortage.Watch(t.Context())
	defer stop()
	play, cancel := context.WithCancel(run)
	defer cancel()
	refused, short := fmt.Errorf("dial: %w", syscall.ECONNREFUSED), fmt.Errorf("dial: %w", syscall.EMFILE)
	assert.Equal(t, refused, shortage.Notice(play, refused))
	require.NoError(t, shortage.Notice(play, nil))
	require.NoError(t, run.Err(), "the target's answer ends nothing")
	assert.Empty(t, shortage.Cause(run))
	assert.Equal(t, short, shortage.Notice(play, short))
	require.Error(t, run.Err())
	assert.Equal(t, shortage.Explain(short), shortage.Cause(run))
	assert.Equal(t, shortage.Explain(short), shortage.Cause(play))

	interrupted, stop := shortage.Watch(t.Context())
	stop()
	assert.Empty(t, shortage.Cause(interrupted))
	assert.Equal(t, short, shortage.Notice(t.Context(), short), "without Watch")
}
