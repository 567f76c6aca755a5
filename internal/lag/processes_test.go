package lag

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestHowLongAThreadHasWaited(t *testing.T) {
	t.Parallel()
	p := new(peer)
	for i, step := range []struct {
		now  map[int]time.Duration
		want time.Duration
	}{
		{map[int]time.Duration{1: time.Hour}, 0}, // before it was followed
		{map[int]time.Duration{1: time.Hour + time.Second, 2: 3 * time.Second}, 3 * time.Second},
		{map[int]time.Duration{1: time.Hour + 2*time.Second, 2: 3 * time.Second}, time.Second},
		{nil, 0},
	} {
		assert.Equal(t, step.want, p.longest(step.now), i)
	}
}

func TestAProcessThatIsFollowed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "linux" {
		assert.Contains(t, waits(os.Getpid()), os.Getpid())
		assert.Contains(t, waits(os.Getppid()), os.Getpid(), "what a process has started counts too")
	}
	assert.Empty(t, waits(1<<30))
	m, start := new(Meter), time.Now()
	stop := m.Follow(os.Getpid)
	m.peers[0].waited = map[int]time.Duration{os.Getpid(): -time.Hour}
	assert.Equal(t, runtime.GOOS == "linux", m.sample(time.Now()))
	if runtime.GOOS == "linux" {
		assert.GreaterOrEqual(t, m.Lag(start), time.Hour)
		assert.Zero(t, m.Own(start))
	}
	m.Note(time.Now(), time.Second)
	assert.Equal(t, time.Second, m.Own(start))
	stop()
	assert.Empty(t, m.peers)
}

// Where nothing is known of the peer's processes, more is in doubt; a meter that has measured nothing doubts nothing.
func TestAPeerOfWhichNothingIsKnown(t *testing.T) {
	t.Parallel()
	m := new(Meter)
	doubt := func() time.Duration { _, doubt := m.Slack(time.Now()); return doubt }
	assert.Zero(t, doubt())
	m.expect(time.Now().Add(time.Hour))
	assert.Equal(t, unseen, doubt())
	stop := m.Follow(func() int { return 0 })
	assert.Zero(t, doubt())
	stop()
	assert.Equal(t, unseen, doubt())
}
