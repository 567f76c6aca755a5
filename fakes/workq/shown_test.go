package workq_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	fakeworkq "github.com/fwpsuite/fwp/fakes/workq"
)

// TestEveryVariationShows plays a conversation with each variation, and with a server without one: the bytes that the
// table names are there with it and not without it, or the reverse.
func TestEveryVariationShows(t *testing.T) {
	t.Parallel()
	talks := conversations(t)
	for _, v := range fakeworkq.Variations() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			var config fakeworkq.Config
			v.Configure(&config)
			row := shownVariations[v.Name]
			text, isMissing := strings.CutPrefix(row[1], "!")
			output, baseline := play(t, talks[row[0]], config), play(t, talks[row[0]], fakeworkq.Config{})
			assert.Equal(t, isMissing, !strings.Contains(output, text), "in %q with it, %q is there", row[0], text)
			assert.Equal(t, isMissing, strings.Contains(baseline, text), "and without it")
		})
	}
	assert.Len(t, fakeworkq.Variations(), len(shownVariations))
}

// shownVariations has for each variation a conversation, and what is printed of it with the variation and not without
// it; behind a "!", the reverse.
var shownVariations = map[string][2]string{
	"add-again-ok":           {"add", `!is a job`},
	"add-again-server-error": {"add", `-SERVER-ERROR`},
	"error-long-text":        {"add", `so not so`},
	"error-other-text":       {"add", ` and +OK`},
	"eviction-late":          {"live", `0\r\nfails`},
	"expiry-late":            {"expiry", `9.800 s b S: +OK 1\r\n$2 pong 1000 0\r\n`},
	"fail-bare-ok":           {"fail", `S: OK`},
	"finish-again-ok":        {"again", `!-NOT-FOUND`},
	"finish-again-refused":   {"again", ` job has`},
	"inspect-bare-ok":        {"add", `S: OK 0`},
	"inspect-key-id":         {"add", `13\r\nid`},
	"inspect-key-time":       {"add", `13\r\nname`},
	"inspect-keys-more":      {"add", `0\r\nnote`},
	"inspect-keys-reversed":  {"add", ` \r\nttl`},
	"inspect-payload-bytes":  {"add", `0\r\npayload-bytes`},
	"inspect-reversed":       {"again", `+OK 2\r\n$3`},
	"inspect-time-fractions": {"again", `2000-01-01T00:00:00.12`},
	"line-by-line":           {"refused", `"\\n" is`},
	"malformed-closes":       {"too large", `!1\r\nserver`},
	"queue-last-first":       {"live", `S: +OK 1\r\n$2 ping 1000`},
	"queues-stay":            {"again", `1\r\nping`},
	"reply-in-pieces":        {"add", ` \r\n+OK`},
	"reply-in-small-pieces":  {"large", `2000-01-01T00:00:00Z\r\n+OK`},
	"reply-late":             {"elsewhere", `0.300 s a S: -TIMEOUT`},
	"schedule-late-a-little": {"schedule", `5.800 s a S: +OK 1\r\n$1 ping 1000 0\r\n`},
	"server-more-clients":    {"add", `active-clients 4`},
	"wait-limited":           {"long", `invalid wait`},
	"timeout-late":           {"waits", `2.400 s a S: -TIMEOUT`},
}
