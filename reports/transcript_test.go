package reports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// said makes lines of "conn C: text".
func said(lines ...string) []Line {
	var all []Line
	for _, line := range lines {
		conn, rest, _ := strings.Cut(line, " ")
		from, words, _ := strings.Cut(rest, " ")
		all = append(all, Line{Conn: strings.TrimPrefix(conn, "-"), Text: words, Own: conn == "cleanup",
			From: map[string]string{"C:": FromClient, "S:": FromServer, "--": FromSuite}[from]})
	}
	return all
}

func TestTheEvidenceIsWhatLeadsToTheFinding(t *testing.T) {
	t.Parallel()
	all := said("a S: +HI", "b S: +HI", "a C: HELLO", "a S: +OK", "b C: HELLO", "b S: +OK", "b C: INFO", "b S: ${}",
		"b C: PUSH fwp-jid-00001", "b S: +OK", "- -- the operator: restart", "a C: FETCH fwp-queue-01", "c C: BEAT",
		"a S: $fwp-jid-00001", "cleanup C: ACK fwp-jid-00001", "cleanup S: +OK")
	shown := func(e Evidence, o PageOptions) string {
		var texts []string
		for _, entry := range transcript(&e, all, o).Entries {
			words := entry.Line.Conn + entry.Line.Text
			if entry.Mark != "" {
				words += " !" + entry.Mark
			}
			if entry.Omitted > 0 {
				words = fmt.Sprint(entry.Omitted)
			}
			texts = append(texts, words)
		}
		return strings.Join(texts, "|")
	}
	assert.Equal(t, "a+HI|aHELLO|a+OK|bPUSH fwp-jid-00001|b+OK|the operator: restart|aFETCH fwp-queue-01|"+
		"a$fwp-jid-00001 !expected null|8", shown(Evidence{Marked: 14, Expected: "null"}, PageOptions{}))
	assert.Contains(t, shown(Evidence{}, PageOptions{}), "cBEAT|", "without a mark, what leads to the end")
	assert.Equal(t, len(all), 1+strings.Count(shown(Evidence{Marked: 14}, PageOptions{Verbose: true}), "|"))
	all = said("- -- started", "a S: +HI", "a -- closed", "b S: +HI", "b -- closed", "- -- exited")
	assert.Equal(t, "started|b+HI|bclosed|exited|2", shown(Evidence{}, PageOptions{}), "the last connection")
	all = all[:0]
	assert.Empty(t, shown(Evidence{Marked: 3}, PageOptions{}))
}

func TestALongConversationIsNarrowed(t *testing.T) {
	t.Parallel()
	lines := []string{"a S: +HI", "a C: HELLO"}
	for i := range 200 {
		lines = append(lines, fmt.Sprintf("a C: PUSH fwp-jid-%05d %s", i, strings.Repeat("z", i%7)), "a S: +OK")
	}
	lines = append(lines, "a C: FETCH fwp-jid-00007")
	all := said(lines...)
	entries := transcript(&Evidence{Marked: len(all)}, all, PageOptions{}).Entries
	assert.LessOrEqual(t, len(entries), 2*mostShown)
	assert.Contains(t, entries[2].Line.Text, "fwp-jid-00007", "what shares the rarest name")
	assert.Equal(t, "FETCH fwp-jid-00007", entries[len(entries)-2].Line.Text)
	assert.Positive(t, entries[len(entries)-1].Omitted)
}

// A job has times, which are no names: what was done with the job is shown, not only where its times stand.
func TestAJobIsFollowedByItsName(t *testing.T) {
	t.Parallel()
	job := func(i int) string {
		return fmt.Sprintf(`{"jid":"fwp-jid-%05d","created_at":"2026-11-21T12:29:38.4729%02dZ"}`, i, i)
	}
	lines := []string{"a S: +HI", "a C: HELLO"}
	for _, verb := range []string{"PUSH", "FETCH", "ACK"} {
		for i := range 10 {
			command, reply := map[string]string{
				"PUSH": "PUSH " + job(i), "FETCH": "FETCH q", "ACK": fmt.Sprintf(`ACK {"jid":"fwp-jid-%05d"}`, i),
			}[verb], "+OK"
			if verb == "FETCH" {
				reply = "$" + job(i)
			}
			lines = append(lines, "a C: "+command, "a S: "+reply)
		}
	}
	all := said(append(lines, "a C: FETCH q", "a S: $"+job(2))...)
	var shown []string
	for _, entry := range transcript(&Evidence{Marked: len(all)}, all, PageOptions{}).Entries {
		if strings.Contains(entry.Line.Text, "fwp-jid-00002") {
			shown = append(shown, strings.Fields(entry.Line.Text)[0])
		}
	}
	assert.Equal(t, []string{"PUSH", "$" + job(2), "ACK", "$" + job(2)}, shown)
}

func TestLinesThatAreAlikeAreCounted(t *testing.T) {
	t.Parallel()
	all := said("a C: FETCH fwp-queue-01", "a S: null", "a S: null", "a S: null", "a S: +OK")
	entries := transcript(&Evidence{Marked: 5, Expected: "x"}, all, PageOptions{}).Entries
	assert.Equal(t, 2, entries[2].More)
	assert.Len(t, entries, 4)
}

func TestAbridged(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 30)
	for s, want := range map[string]string{
		"":                            "",
		"short\nlines":                "short\nlines",
		"a" + strings.Repeat("b", 99): "abbb...bbb",
		long:                          long[:160] + " ... " + long[260:],
		long[:150] + " … (9999 bytes in all) … " + long[:60]: long[:150] + " … (9999 bytes in all) … " + long[20:60],
	} {
		assert.Equal(t, want, abridged(s))
	}
}
