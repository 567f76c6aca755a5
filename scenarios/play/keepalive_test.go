package play_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/scenarios/play"
)

// A consumer that fetches all the time has to beat all the same.
func TestABusyConsumerBeatsToo(t *testing.T) {
	t.Parallel()
	p := &peer{answers: map[string]string{"FETCH": "$-1\r\n"}, delay: map[string]time.Duration{"FETCH": 2 * time.Second}}
	playScript(t, p, consumer+"eventually ..65s\nC: FETCH $queue\nS: ${}\nend\n", func(t *testing.T, _ *play.Run) {
		beats := strings.Count(strings.Join(p.lines(), "\n"), `BEAT {"wid":"fwp-test-0001-wid-1"}`)
		assert.Equal(t, 4, beats)
	})
}

// The suite's own BEAT is not needed where the script has just sent one.
func TestABeatOfTheScriptCounts(t *testing.T) {
	t.Parallel()
	p := &peer{}
	playScript(t, p, consumer+"silence 10s\nC: BEAT {\"wid\":\"$wid\"}\nS: +OK\nsilence 10s\n",
		func(t *testing.T, _ *play.Run) {
			assert.Equal(t, 1, strings.Count(strings.Join(p.lines(), "\n"), "BEAT"))
		})
}
