//go:build unix

package target

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStopAndAgain(t *testing.T) {
	t.Parallel()
	s, err := testStarter("exec "+serveCommand()).Start(t.Context(), "")
	require.NoError(t, err)
	defer s.End()
	want := "x"
	assert.Equal(t, want, greeting(t, s)) // it listens before it has counted its first life
	for _, action := range []Action{Stop, Kill, KillServer} {
		require.NoError(t, s.Server.Stop(t.Context(), action))
		_, err := s.Server.Dial(t.Context())
		require.Error(t, err, "%s: nothing serves", action)
		require.NoError(t, s.Server.Start(t.Context()), action)
		want += "x"
		assert.Equal(t, want, greeting(t, s), "%s: the same place, with its folder", action)
	}
}

// What a server has started may end in order when only the server is killed, and is killed with it otherwise.
func TestStopServerOnly(t *testing.T) {
	t.Parallel()
	for action, inOrder := range map[Action]bool{KillServer: true, Kill: false} {
		t.Run(string(action), func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			child := `sh -c 'trap "echo ended > ` + folder + `/child; exit" TERM; while kill -0 $PPID; do sleep 0.02; done; ` +
				`echo ended > ` + folder + `/child' 2>/dev/null & `
			s, err := testStarter(child+"exec "+serveCommand()).Start(t.Context(), "")
			require.NoError(t, err)
			defer s.End()
			require.NoError(t, s.Server.Stop(t.Context(), action))
			if inOrder {
				assert.FileExists(t, filepath.Join(folder, "child"))
			} else {
				assert.NoFileExists(t, filepath.Join(folder, "child"))
			}
		})
	}
}

func TestPauseAndContinue(t *testing.T) {
	t.Parallel()
	s, err := testStarter("exec "+serveCommand()).Start(t.Context(), "")
	require.NoError(t, err)
	defer s.End()
	require.NoError(t, s.Server.Pause(t.Context()))
	nc, err := s.Server.Dial(t.Context()) // the system accepts it
	require.NoError(t, err)
	defer nc.Close()
	require.NoError(t, s.Server.Resume(t.Context()))
	line, err := io.ReadAll(nc)
	require.NoError(t, err)
	assert.Equal(t, " x\n", string(line), "the server answers as soon as it goes on")
}

func TestAPauseThatSomethingElseEnds(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the state of a process is not known here")
	}
	s, err := testStarter("exec "+serveCommand()).Start(t.Context(), "")
	require.NoError(t, err)
	defer s.End()
	require.NoError(t, s.Server.Pause(t.Context()))
	serving := s.Server.instance()[0]
	require.NoError(t, syscall.Kill(serving.pid, syscall.SIGCONT))
	require.Eventually(t, serving.moves, 10*time.Second, lookInterval)
	require.ErrorContains(t, s.Server.Resume(t.Context()), "the server continued before it was resumed")
}

func TestAServerThatStandsStillIsEnded(t *testing.T) {
	t.Parallel()
	s, err := testStarter("exec "+serveCommand()).Start(t.Context(), "")
	require.NoError(t, err)
	require.NoError(t, s.Server.Pause(t.Context()))
	s.End()
	assert.NoDirExists(t, s.place.Dir)
}

func TestFillAndFree(t *testing.T) {
	t.Parallel()
	if err := CanMount(); err != nil {
		t.Skip("this machine does not allow it: ", err)
	}
	starter := testStarter("exec " + serveCommand())
	starter.Disk = 1 << 20
	s, err := starter.Start(t.Context(), "")
	require.NoError(t, err)
	defer s.End()
	file := filepath.Join(s.place.Dir, "file")
	require.NoError(t, s.Fill())
	require.Error(t, os.WriteFile(file, make([]byte, 8<<10), 0o600))
	require.NoError(t, s.Free())
	require.NoError(t, os.WriteFile(file, make([]byte, 8<<10), 0o600))
	s.End()
	assert.NoDirExists(t, s.place.Dir)
}
