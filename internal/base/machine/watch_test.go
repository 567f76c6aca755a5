package machine_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/machine"
)

func TestAShortageEndsTheRun(t *testing.T) {
	t.Parallel()
	run, stop := machine.Watch(t.Context())
	defer stop()
	play, cancel := context.WithCancel(run)
	defer cancel()
	refused, short := fmt.Errorf("dial: %w", syscall.ECONNREFUSED), fmt.Errorf("dial: %w", syscall.EMFILE)
	assert.Equal(t, refused, machine.Notice(play, refused))
	require.NoError(t, machine.Notice(play, nil))
	require.NoError(t, run.Err(), "the target's answer ends nothing")
	assert.Empty(t, machine.Cause(run))
	assert.Equal(t, short, machine.Notice(play, short))
	require.Error(t, run.Err())
	assert.Equal(t, machine.Explain(short), machine.Cause(run))
	assert.Equal(t, machine.Explain(short), machine.Cause(play))

	interrupted, stop := machine.Watch(t.Context())
	stop()
	assert.Empty(t, machine.Cause(interrupted))
	assert.Equal(t, short, machine.Notice(t.Context(), short), "without Watch")
}
