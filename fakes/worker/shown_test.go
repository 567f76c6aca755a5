package worker

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestEveryVariationShows plays a day with each variation, and one with a worker without one: the bytes that the tables
// name are there with it and not without it, or the reverse.
func TestEveryVariationShows(t *testing.T) {
	t.Parallel()
	baselines := map[string]string{}
	for name, d := range days {
		baselines[name] = "\n" + d.play(t, nil)
	}
	check := func(variations []Variation, rows map[string][2]string) {
		for name := range rows {
			assert.True(t, slices.ContainsFunc(variations, func(v Variation) bool { return v.Name == name }), name)
		}
		for _, v := range variations {
			t.Run(v.Name, func(t *testing.T) {
				t.Parallel()
				row, ok := rows[v.Name]
				if !ok {
					assert.Contains(t, exceptions, v.Name, "no table says how it shows")
					return
				}
				text, isMissing := strings.CutPrefix(row[1], "!")
				if text[0] >= '0' && text[0] <= '9' && strings.Contains(text, "s ") { // a time begins the line
					text = "\n" + text
				}
				isShown := false
				for range 5 { // which executor acts first at an instant is up to the scheduler: a few show on most days only
					isShown = isShown || isMissing != strings.Contains("\n"+days[row[0]].play(t, v.Configure), text)
				}
				assert.True(t, isShown, "on the day %q with it, %q is never as the table says", row[0], row[1])
				assert.Equal(t, isMissing, strings.Contains(baselines[row[0]], text), "and on that day without it")
			})
		}
	}
	check(Variations(), shownVariations)
	check(ProducerVariations(), shownProducerVariations)
}

// exceptions are those that tests of their own show.
var exceptions = []string{
	"executors-apart", "json-slashes", "line-in-pieces", "loss-pause-a-minute", "message-short",
	"push-repeated-renamed", "refused-ends-in-order", "refused-exits",
}

func TestEachRowIsUsed(t *testing.T) {
	t.Parallel()
	bugs, variations := map[string]bool{}, map[string]bool{}
	for _, f := range slices.Concat(Bugs(), ProducerBugs()) {
		bugs[f.Name] = true
	}
	for _, v := range slices.Concat(Variations(), ProducerVariations()) {
		variations[v.Name] = true
	}
	assert.Len(t, bugsTable(), len(bugs))
	assert.Len(t, variationsTable(), len(variations))
}

// shownVariations and shownProducerVariations have for each variation of a worker, or of a producer, a day, and what
// the server receives on it with the variation and not without it; behind a "!", the reverse.
var shownVariations = map[string][2]string{
	"report-again-after-error": {"refused-ack", repeatLine(`0.100 s C: ACK {"jid":"job-1"}`)},
	"backtrace-empty":          {"batch", `[],"errtype`},
	"backtrace-long":           {"batch", `at worke`},
	"beat-answers-order":       {"first", `","wid":`},
	"beat-every-10s":           {"again", `10.100 s C: BEAT`},
	"beat-every-12s":           {"again", `12.100 s C: BEAT`},
	"beat-irregular":           {"again", `13.100 s C: BEAT`},
	"beat-not-at-once":         {"again", `!0.100 s C: BEAT`},
	"beat-state-empty":         {"late-end", `,"rss_kb`},
	"beat-without-memory":      {"again", ` {"wid":`},
	"beat-without-state":       {"again", `60.100 s C: BEAT {"rss_kb":20000,"wid":"w-1"}`},
	"connections-renewed":      {"many", `0.100 s C: END`},
	"end-reply-unread":         {"end", `61.100 s exit 0`},
	"errtype-empty":            {"batch", `"","jid"`},
	"exit-late":                {"again", `65.100 s exit 0`},
	"fail-more-fields":         {"batch", `","host"`},
	"fetch-slowly":             {"again", `60.900 s C: END`},
	"hash-upper-case":          {"password", `9D3407F1AE57092B3DD1D175341A6C3D705B68C2AFDC51F099CF8C033DA8F177`},
	"hello-hash-unasked":       {"again", `"pwdhash`},
	"hello-late":               {"errors", `1.100 s C: END`},
	"hello-more-fields":        {"again", ` {"app":`},
	"hello-no-labels":          {"again", `:[],"pid`},
	"holds-one-more":           {"again", repeatLine(repeatLine(hello))},
	"info-between":             {"again", `INFO`},
	"json-ascii":               {"pieces", `job-\\u00fc`},
	"json-spaces":              {"again", ` "host",`},
	"loss-long-pause":          {"losses", `5.200 s C: HELLO`},
	"pushes-jobs":              {"errors", ` {"args"`},
	"queues-in-turn":           {"again", "high\n"},
	"queues-shuffled":          {"again", "high\n"},
	"quiet-closes":             {"late", `16.100 s C: END`},
	"report-later":             {"again", `1.600 s C: ACK`},
	"report-not-repeated":      {"losses", `!0.300 s C: ACK {"jid":"job-1"}`},
	"signal-quiet-ignored":     {"signal", `!"current_state":"quiet"`},
	"terminate-after-29s":      {"terminate", `44.100 s C: END`},
	"terminate-at-once":        {"terminate", `15.101 s C: END`},
	"unknown-worker-ends":      {"errors", `!END`},
	"unknown-worker-ignored":   {"errors", `60.100 s C: END`},
	"wid-odd":                  {"again", `"höst \\`},
}

var shownProducerVariations = map[string][2]string{
	"created-at-added":     {"callers", `","jid":`},
	"defaults-added":       {"callers", `":0,"jid`},
	"digits-lost":          {"pushes", `9007199254740992`},
	"end-reply-unread":     {"end-push", `1.100 s exit 0`},
	"exit-code-3":          {"declined-push", `1.100 s exit 3`},
	"hash-upper-case":      {"declined-push", `8B562789A4A1B1EF647559E327C60F1A83160C9E98C0177820B3B86551C716A3`},
	"hello-as-worker":      {"callers", `":"host"`},
	"hello-late":           {"callers", `1.100 s C: END`},
	"hello-more-fields":    {"callers", ` {"app":`},
	"json-ascii":           {"pushes", `\\u00fc\\r\\n`},
	"json-spaces":          {"callers", ` "args":`},
	"nulls-added":          {"callers", `":null,"`},
	"one-caller":           {"callers", "!" + repeatLine(`0.100 s C: END`)},
	"push-repeated":        {"refused", `pushed j3`},
	"refused-pushed-alone": {"refused", `pushed j1`},
	"times-in-utc":         {"pushes", `2029-12-31T23:00:00.000Z`},
}
