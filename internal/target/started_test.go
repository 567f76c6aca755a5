package target

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/lag"
)

// awaited awaits a server that is ready after so long, on a machine that is late by so much at the first look, in
// virtual time. It returns how long that took, what was told, and the error.
func awaited(t *testing.T, after, late time.Duration) (took time.Duration, told []string, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		begun, meter := time.Now(), new(lag.Meter)
		output := new(lastLines)
		_, _ = output.Write([]byte("reading 9 GB of jobs\n"))
		i := &Started{now: &Running{over: make(chan struct{})}, output: output, starter: &Starter{
			Patience: 30 * time.Second, Ready: func(context.Context, *Server) error {
				meter.Note(time.Now(), late)
				if time.Since(begun) < after {
					return errors.New("connection refused")
				}
				return nil
			},
		}}
		ctx := Telling(t.Context(), func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) })
		err = i.await(ctx, meter)
		took = time.Since(begun)
	})
	return took, told, err
}

// TestSlowServers: a server gets longer on a machine that is late, and the wait is told while it lasts.
func TestSlowServers(t *testing.T) {
	t.Parallel()
	took, told, err := awaited(t, 2*time.Second, 0)
	require.NoError(t, err)
	assert.Empty(t, told)
	assert.Equal(t, 2*time.Second, took)

	took, _, err = awaited(t, 29*time.Second, 0)
	require.NoError(t, err)
	assert.Equal(t, 29*time.Second, took)

	took, told, err = awaited(t, time.Hour, 0)
	assert.InDelta(t, 30*time.Second, took, float64(time.Second))
	_, failed := errors.AsType[*StartError](err)
	assert.True(t, failed)
	assert.EqualError(t, err, "the server that --start started: it does not serve within 30s: connection refused; "+
		"the last lines that it printed:\n  reading 9 GB of jobs")
	assert.Len(t, told, 5)
	assert.Equal(t, "waiting for the server that --start started: it does not serve after 5s, and has 30s: "+
		"connection refused", told[0])

	late := time.Second
	grown := 30*time.Second + lag.Grace(late, 30*time.Second)
	took, told, err = awaited(t, grown-time.Second, late)
	require.NoError(t, err, "the lag may explain it")
	assert.Equal(t, grown-time.Second, took)
	assert.Contains(t, told[0], "has 51s")
	took, _, err = awaited(t, grown+5*time.Second, late)
	require.ErrorContains(t, err, "it does not serve within 51s")
	assert.InDelta(t, grown, took, float64(time.Second))
}
