package play_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/target"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// stubbornServer is a server that an operator cannot restart or kill so that it is seen.
type stubbornServer struct{ *peer }

func (stubbornServer) Restart(context.Context) error {
	return unseenError{errors.New("it still serves")}
}
func (stubbornServer) Kill(context.Context) error { return unseenError{errors.New("it still serves")} }

type unseenError struct{ error }

func (unseenError) Unseen() bool { return true }

// listeningObserver is an observer that keeps what operators did.
type listeningObserver struct {
	knowingObserver

	actions *[]target.Action
}

func (l listeningObserver) Operated(action target.Action, _ string) {
	*l.actions = append(*l.actions, action)
}

// TestARestartThatWasNotSeen may have been a kill: it decides nothing, and no job is missing behind it.
func TestARestartThatWasNotSeen(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]target.Action{
		"restart": {target.Restart, target.Kill},
		"kill":    {target.Kill},
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			s, err := scenarios.Parse(fwpscript.Dialect{}, "test.fwp", []byte(consumer+line+"\n"+consumer))
			require.NoError(t, err)
			synctest.Test(t, func(t *testing.T) {
				p := &peer{}
				p.serve(t)
				var actions []target.Action
				player := &play.Player{
					Target: stubbornServer{p}, Password: "secret", Meter: new(machine.Meter), Observer: listeningObserver{actions: &actions},
				}
				assert.Equal(t, "2 unsure\n", outcomes(player.Play(t.Context(), s, "fwp-test-0001")))
				assert.Equal(t, want, actions)
			})
		})
	}
}
