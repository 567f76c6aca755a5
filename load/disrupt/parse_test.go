package disrupt_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load/disrupt"
)

const ms = time.Millisecond

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := disrupt.Parse("s.yaml", []byte(`# all of them
- {at: 1s, do: kill, for: 2s}
- {at: 3s, do: kill-server}
- at: 10s
  do: restart
- {at: 20s, do: pause, for: 500ms}
- {at: 30s, do: partition}
- {at: 40s, do: partition, direction: to-server, for: 1s}
- {at: 50s, do: partition, direction: to-clients, for: 1s}
- {at: 60s, do: slow}
- {at: 70s, do: slow, for: 1s, delay: 10ms, jitter: 5ms, rate: 64KiB, segment: 3}
- {at: 80s, do: reset}
- {at: 80s, do: fill}
`))
	require.NoError(t, err)
	s := time.Second
	assert.Equal(t, []disrupt.Disruption{
		{Action: target.Kill, At: s, Length: 2 * s},
		{Action: target.KillServer, At: 3 * s, Length: s},
		{Action: target.Restart, At: 10 * s, Length: s},
		{Action: target.Pause, At: 20 * s, Length: 500 * ms},
		{Action: target.Partition, At: 30 * s, Length: 5 * s},
		{Action: target.Partition, At: 40 * s, Length: s, Direction: disrupt.ToServer},
		{Action: target.Partition, At: 50 * s, Length: s, Direction: disrupt.ToClients},
		{Action: target.Slow, At: 60 * s, Length: 10 * s, Link: disrupt.Link{Delay: 50 * ms, Jitter: 50 * ms}},
		{Action: target.Slow, At: 70 * s, Length: s,
			Link: disrupt.Link{Delay: 10 * ms, Jitter: 5 * ms, Rate: 64 << 10, Segment: 3}},
		{Action: target.Reset, At: 80 * s},
		{Action: target.Fill, At: 80 * s, Length: 10 * s},
	}, got)
	var words []string
	for _, d := range got {
		words = append(words, d.String())
	}
	assert.Equal(t, []string{
		"kill for 2s", "kill-server for 1s", "restart for 1s", "pause for 500ms", "partition for 5s",
		"partition to-server for 1s", "partition to-clients for 1s", "slow by 50ms-100ms for 10s",
		"slow by 10ms-15ms to 65536 B/s in segments of 3 B for 1s", "reset", "fill for 10s",
	}, words)
}

func TestParseNamesThePlaceOfMistakes(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"":                                "s.yaml:1:1: the schedule is empty; expected lines such as - {at: 20s",
		"[]":                              "s.yaml:1:1: the schedule is empty; ",
		"at: 1s\n":                        "s.yaml:1:1: this is a mapping; expected lines such as",
		"- [":                             "s.yaml:1:1: invalid YAML: ",
		"- kill":                          `s.yaml:1:3: this is "kill"; expected a disruption such as {at: 20s, `,
		"- {at: 1s, do: kil}":             `s.yaml:1:16: do: "kil" is not a disruption; expected one of kill, kill-server, `,
		"- {at: 1s, do: explode}":         `s.yaml:1:16: do: "explode" is not a disruption; `,
		"- {at: 1, do: kill}":             `s.yaml:1:8: at: "1" has no unit; expected a duration`,
		"- {at: -1s, do: kill}":           `s.yaml:1:8: at: "-1s" is out of range; `,
		"- {at: 2h, do: kill}":            `s.yaml:1:8: at: "2h" is out of range; expected a duration from 0s to 1h0m0s; `,
		"- {at: 1s}":                      "s.yaml:1:3: do: the key is missing; ",
		"- {do: kill}":                    "s.yaml:1:3: at: the key is missing; ",
		"- {at: 1s, do: kill, when: 3s}":  "s.yaml:1:28: when: unknown key; expected one of at, do, ",
		"- {at: 1s, at: 2s, do: kill}":    "s.yaml:1:12: at: duplicate key; ",
		"- {at: [1s], do: kill}":          "s.yaml:1:8: at: this is a sequence; expected a single value",
		"- {at: 1s, do: kill, for: 0s}":   `s.yaml:1:27: for: "0s" is out of range; expected a duration from 1ms`,
		"- {at: 1s, do: reset, for: 1s}":  "s.yaml:1:23: for: it does not work with reset; expected it with kill,",
		"- {at: 1s, do: kill, delay: 1s}": "s.yaml:1:22: delay: it does not work with kill; expected it with slow; ",
		"- {at: 1s, do: partition, direction: up}":               `s.yaml:1:38: direction: "up" is not a direction; `,
		"- {at: 1s, do: slow, rate: fast}":                       `s.yaml:1:28: rate: "fast" is not a valid size; `,
		"- {at: 1s, do: slow, segment: 0}":                       `s.yaml:1:31: segment: "0" must be above 0; `,
		"- {at: 9s, do: pause, for: 2s}\n- {at: 10s, do: reset}": "s.yaml:2:3: at: 10s is before the end of the ",
	} {
		_, err := disrupt.Parse("s.yaml", []byte(source))
		if assert.Error(t, err, source) {
			assert.True(t, strings.HasPrefix(err.Error(), want), "%s\nwant %s\ngot  %s", source, want, err)
		}
	}
	_, err := disrupt.Parse("s.yaml", []byte(strings.Repeat("- {at: 1s, do: reset}\n", 1001)))
	assert.ErrorContains(t, err, "s.yaml:1001:3: there are too many disruptions; expected at most 1000")
	_, err = disrupt.Parse("s.yaml", []byte("- {at: 1, do: kil}\n- {at: 2, do: kill}\n"))
	assert.Len(t, strings.Split(err.Error(), "\n"), 3, "all mistakes, in the order of their places")
}

func TestParseActions(t *testing.T) {
	t.Parallel()
	got, err := disrupt.ParseActions("kill, slow")
	require.NoError(t, err)
	assert.Equal(t, []target.Action{target.Kill, target.Slow}, got)
	_, err = disrupt.ParseActions("kill,pausw")
	assert.ErrorContains(t, err, `"pausw" is not a disruption; `)
	assert.ErrorContains(t, err, "did you mean pause?")
	_, err = disrupt.ParseActions("kill,kill")
	assert.ErrorContains(t, err, `"kill" is given twice`)
}

// A schedule that is written is read as the same.
func TestDisruptionsAreWritten(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"{at: 20s, do: kill, for: 2s}", "{at: 1m0s, do: reset}", "{at: 40s, do: partition, for: 5s, direction: to-clients}",
		"{at: 1m0s, do: slow, for: 10s, delay: 50ms, jitter: 20ms, rate: 65536, segment: 100}",
	} {
		all, err := disrupt.Parse("x", []byte("- "+line+"\n"))
		require.NoError(t, err)
		assert.Equal(t, line, all[0].YAML())
	}
}
