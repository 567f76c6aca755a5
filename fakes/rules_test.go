package fakes_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/rule"
)

// ruleTests are rules, with commands of a worker and what comes then. "2s" is a pause; "?" reads what comes without a
// command; "fin" is the end of the connection.
var ruleTests = []struct {
	rule  string
	lines []string // command, reply, command, reply ...
}{
	{"on pushed if jid = a: skip", []string{job("a", ""), "+OK", "FETCH", "$-1", job("b", ""), "+OK", "FETCH", "b"}},
	{"on acked: again", []string{job("a", ""), "+OK", "FETCH", "a", `ACK {"jid":"a"}`, "+OK", "FETCH", "a"}},
	{"on checked PUSH if refused and argument: accept", []string{`PUSH {"jid":"a","jobtype":"t"}`, "+OK"}},
	{"on checked PUSH if reason = args: enact",
		[]string{`PUSH {"jid":"a","jobtype":"t"}`, "-ERR args", "FETCH", `"jid":"a"`}},
	{"on checked FAIL if not refused: refuse 'no more'", []string{`FAIL {"jid":"a"}`, "-ERR no more"}},
	{"on checked FETCH: nothing", []string{job("a", ""), "+OK", "FETCH", "$-1"}},
	{"on checked FETCH: wait 1s", []string{"FETCH", "$-1", "took", "1s"}},
	{"on checked FETCH: wait 9s, sleep", []string{
		job("a", `"at":"2000-01-01T00:00:02Z"`), "+OK", "FETCH", "$-1", "took", "9s"}},
	{"on scheduled: early 24h", []string{
		job("a", `"at":"2000-01-02T00:00:00Z"`), "+OK", "2s", "", "FETCH", "a"}},
	{"on scheduled: late 1h", []string{
		job("a", `"at":"2000-01-01T00:00:01Z"`), "+OK", "2s", "", "FETCH", "$-1", "1h", "", "FETCH", "a"}},
	{"on enqueued if jid = b: front", []string{job("a", ""), "+OK", job("b", ""), "+OK", "FETCH", `"jid":"b"`}},
	{"on checked FETCH if quiet: refuse 'be quiet'", []string{
		"FETCH", "$-1", `BEAT {"wid":"w","current_state":"quiet"}`, "+OK", "FETCH", "-ERR be quiet"}},
	{"on scheduled: until 3s", []string{job("a", `"at":"2100-01-01T00:00:00Z"`), "+OK", "4s", "", "FETCH", "a"}},
	{"on failed: to none", []string{
		job("a", `"retry":5`), "+OK", "FETCH", "a", `FAIL {"jid":"a"}`, "+OK", "2h", "", "FETCH", "$-1"}},
	{"on notified: state quiet", []string{`BEAT {"wid":"w"}`, `{"state":"quiet"}`}},
	{"on notified if rss_kb > 100: state terminate", []string{
		`BEAT {"wid":"w","rss_kb":100}`, "+OK", `BEAT {"wid":"w","rss_kb":101}`, `{"state":"terminate"}`}},
	{"on ran FETCH if reply = '$-1'; each 2: reply '-ERR empty'", []string{
		"FETCH", "$-1", "FETCH", "-ERR empty", "FETCH", "$-1"}},
	{"on ran INFO: silent", []string{"INFO\r\nFETCH", "$-1"}},
	{`on writing ACK: write ":7\r\n"`, []string{`ACK {"jid":"a"}`, ":7"}},
	{"on writing BEAT: twice", []string{`BEAT {"wid":"w"}`, "+OK", "?", "+OK"}},
	{"on writing BEAT: cut 2, close", []string{`BEAT {"wid":"w"}`, "+O"}},
	{"on writing BEAT: pieces 1, pause 1s", []string{`BEAT {"wid":"w"}`, "+OK", "took", "4s"}},
	{"on writing: replace OK 'Fine'", []string{`BEAT {"wid":"w"}`, "+Fine"}},
	{`on writing BEAT: later 30s "+late\r\n"`, []string{`BEAT {"wid":"w"}`, "+OK", "?", "+late", "took", "30s"}},
	{"on writing BEAT: idle 20s", []string{
		`BEAT {"wid":"w"}`, "+OK", "19s", "", `BEAT {"wid":"w"}`, "+OK", "?", "", "took", "20s"}},
	{"on ran BEAT if commands > 2: delay 5s", []string{
		`BEAT {"wid":"w"}`, "+OK", "took", "0s", `BEAT {"wid":"w"}`, "+OK", "took", "5s"}},
	{"on ran INFO: forget", []string{"INFO", "{", "INFO", "-ERR HELLO must come first"}},
	{"on checked HELLO; first 1 by worker: refuse 'not yet'", []string{
		`HELLO {"v":2,"hostname":"h","wid":"x","pid":1,"labels":[]}`, "-ERR not yet",
		`HELLO {"v":2,"hostname":"h","wid":"x","pid":1,"labels":[]}`, "+OK"}},
	{"on ran END: reply '-ERR stay', reset", []string{"END", "-ERR stay"}},
	{`on delivered: set jobtype '"other"', drop args`, []string{job("a", ""), "+OK", "FETCH", `"other"`}},
	{`on checked PUSH if queue ~ "^def" and queues = 0 and not identified: refuse x`, []string{job("a", ""), "+OK"}},
	{"on checked ACK; after delivered by jid, 5s: skip", []string{
		job("a", `"reserve_for":60`), "+OK", "FETCH", "a", "6s", "", `ACK {"jid":"a"}`, "+OK", "2h", "", "FETCH", "a"}},
	{"on ran if worker and protected: silent", []string{`BEAT {"wid":"w"}`, "+OK"}},
	{"on ran if state = quiet or: silent", nil}, // there is no "or"
}

func TestRules(t *testing.T) {
	t.Parallel()
	acts := map[string]bool{}
	for _, test := range ruleTests {
		r, err := fakes.Rules().Parse(test.rule)
		if test.lines == nil {
			require.Error(t, err, test.rule)
			continue
		}
		require.NoError(t, err, test.rule)
		_, effects, _ := strings.Cut(test.rule, ": ")
		for part := range strings.SplitSeq(effects, ", ") {
			acts[strings.Fields(part)[0]] = true
		}
		t.Run(test.rule, func(t *testing.T) {
			t.Parallel()
			config := fakes.Config{FetchBlock: time.Millisecond, Hook: r.Hook()}
			assert.Empty(t, playRule(t, config, test.lines))
			if !skippedReply[test.rule] {
				config.Hook = nil
				assert.NotEmpty(t, playRule(t, config, test.lines), "the same comes without the rule")
			}
		})
	}
	for _, a := range fakes.Rules().Acts {
		assert.True(t, acts[a.Name], "no rule of the test has the act %s", a.Name)
	}
}

// What is skipped at one step is known at the later ones of the same command, and of no other.
func TestSkippedCommands(t *testing.T) {
	t.Parallel()
	rules, err := fakes.Rules().ParseFile("on checked ACK; from 2; first 1: skip\non ran ACK if skipped: reply +LOST")
	require.NoError(t, err)
	config := fakes.Config{FetchBlock: time.Millisecond, Hook: rule.Hooks(rules...)}
	assert.Empty(t, playRule(t, config, []string{
		job("a", ""), "+OK", "FETCH", "a", `ACK {"jid":"x"}`, "-ERR", `ACK {"jid":"a"}`, "+LOST", `ACK {"jid":"a"}`, "+OK"}))
}

// skippedReply are the rules that change nothing: their conditions do not hold.
var skippedReply = map[string]bool{
	`on checked PUSH if queue ~ "^def" and queues = 0 and not identified: refuse x`: true,
	"on ran if worker and protected: silent":                                        true,
}

// playRule sends the commands of a worker, and returns what else came than was expected.
func playRule(t *testing.T, config fakes.Config, lines []string) (mismatches []string) {
	t.Helper()
	withMemoryServer(t, config, func(t *testing.T, _ *fakes.Server, dial func() *wire) {
		w := dial()
		w.read()
		w.do(strings.Replace(consumer, "%s", "w", 1))
		begin := time.Now()
		for i := 0; i < len(lines); i += 2 {
			send, want := lines[i], lines[i+1]
			if pause, err := time.ParseDuration(send); err == nil {
				time.Sleep(pause)
				continue
			}
			var got string
			switch send {
			case "took":
				got = time.Since(begin).Round(time.Second).String()
			case "?":
				require.NoError(t, w.conn.SetReadDeadline(time.Now().Add(time.Minute)))
				got, _ = w.try()
			default:
				begin = time.Now()
				w.send(send + "\r\n")
				got, _ = w.try()
			}
			if !strings.Contains(got, want) || want != "" && want[0] == '+' && got != want {
				mismatches = append(mismatches, send+": "+got)
			}
		}
	})
	return mismatches
}
