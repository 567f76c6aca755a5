package suite

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/reports"
)

func TestClausesAreWellFormed(t *testing.T) {
	t.Parallel()
	id := regexp.MustCompile(`^FWP-[A-Z]+-\d\d[a-z]?$`)
	special := []string{"pw", "wait", "long", "sig", "rst", "env", "adv"}
	ids, statements := map[string]bool{}, map[string]string{}
	for _, c := range Clauses() {
		assert.Regexp(t, id, c.ID)
		assert.False(t, ids[c.ID], "%s occurs twice", c.ID)
		assert.Empty(t, statements[c.Statement], "%s says the same", c.ID)
		ids[c.ID], statements[c.Statement] = true, c.ID
		assert.True(t, c.Level.IsValid(), c.ID)
		for party := range strings.SplitSeq(c.Party, ",") {
			assert.Contains(t, []string{"S", "C", "K", "P"}, party, c.ID)
		}
		for word := range strings.FieldsSeq(c.Special) {
			assert.Contains(t, special, word, c.ID)
		}
		assert.NotEmpty(t, c.Sources, c.ID)
		assert.NotEqual(t, []conformance.Source{{Document: "RESP"}}, c.Sources, "%s: where do the documents refer to RESP?",
			c.ID)
		assert.Equal(t, c.Binds("S"), c.BindsServer(), c.ID)
		if !c.BindsServer() {
			assert.True(t, strings.Contains(c.Special, "adv") || c.Level == reports.LevelMay || c.Binds("P"), c.ID)
		}
	}
}

func TestClausesReadAsSentences(t *testing.T) {
	t.Parallel()
	start := regexp.MustCompile(`^[A-Z]`)
	markdown := regexp.MustCompile("[`*#|<>]|\\[|  |AMB-")
	for _, c := range Clauses() {
		assert.Regexp(t, start, c.Statement, c.ID)
		assert.NotContains(t, strings.TrimSuffix(c.Statement, "."), ". ", "%s: more than one sentence", c.ID)
		assert.True(t, strings.HasSuffix(c.Statement, "."), c.ID)
		assert.NotRegexp(t, markdown, c.Statement, c.ID)
		for _, text := range []string{c.Reading, c.ExclusionReason} {
			if text != "" {
				assert.Regexp(t, start, text, c.ID)
				assert.True(t, strings.HasSuffix(text, "."), c.ID)
				assert.NotRegexp(t, markdown, text, c.ID)
			}
		}
	}
}

// TestClausesAreStable: ids, and whom they bind, change on purpose only.
func TestClausesAreStable(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, c := range Clauses() {
		all.WriteString(c.ID + " " + c.Party + "\n")
	}
	golden.File(t, "testdata/clauses.golden", all.String())
}

func TestClausesAreCopies(t *testing.T) {
	t.Parallel()
	mine := Clauses()
	mine[0].ID = "changed"
	assert.Equal(t, "FWP-LINK-01", Clauses()[0].ID)
	_, ok := ClauseByID("changed")
	assert.False(t, ok)
}

func TestClauseByID(t *testing.T) {
	t.Parallel()
	c, ok := ClauseByID("FWP-AUTH-03")
	require.True(t, ok)
	assert.Equal(t, "S,C", c.Party)
	assert.Equal(t, reports.LevelPlain, c.Level)
	assert.Equal(t, "Required Fields for Protected Server; worker guide: Initial Handshake", c.Section)
	assert.Equal(t, "Required Fields for Protected Server", c.Sources[0].Heading)
	assert.Equal(t, "pw", c.Special)
	assert.Equal(t, "AMB-03", c.Ambiguity)
	assert.True(t, c.Binds("S") && c.Binds("C"))
	assert.False(t, c.Binds("K") || c.Binds(""))
	for _, id := range []string{"", "fwp-auth-03", "FWP-AUTH-3", "FWP-AUTH"} {
		_, ok := ClauseByID(id)
		assert.False(t, ok, id)
	}
}

func TestClauseBreach(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]reports.Verdict{
		"FWP-RESP-02": reports.Fail, "FWP-RESP-05": reports.Fail, "FWP-PUSH-03": reports.Fail, "FWP-PUSH-04": reports.Fail,
		"FWP-FRAME-03": reports.Warn, "FWP-BEAT-07": reports.Warn,
		"FWP-PUSH-05": reports.Observed, "FWP-HELLO-08": reports.Observed,
		"FWP-ACK-04": reports.Observed, "FWP-STATE-23": reports.Observed, // recorded, whatever the level
	} {
		c, ok := ClauseByID(id)
		require.True(t, ok, id)
		assert.Equal(t, want, c.BreachVerdict(), id)
	}
}

// Every ambiguity of the inventory is reflected in the readings of the clauses that it speaks about; few name them by
// number.
func TestReadingsReflectTheAmbiguities(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"AMB-01": "RESP-06 STATE-16 END-01 END-02 END-03", "AMB-01b": "STATE-07", "AMB-02": "BEAT-03 BEAT-04 BEAT-13",
		"AMB-03": "AUTH-03", "AMB-04": "STATE-06 STATE-11 RETRY-01 RETRY-02 ACK-02 FAIL-01 INFO-02 FLUSH-02",
		"AMB-05": "FRAME-03 INFO-03 FLUSH-03", "AMB-06": "LINK-02 FRAME-07", "AMB-07": "FRAME-08",
		"AMB-08": "HELLO-05 AUTH-04",
		"AMB-09": "HELLO-08", "AMB-10": "HELLO-13", "AMB-11": "HELLO-04 AUTH-06 STATE-01 STATE-12",
		"AMB-12": "STATE-01 STATE-02",
		"AMB-13": "FRAME-09", "AMB-14": "FRAME-06", "AMB-15": "WU-01", "AMB-16": "WU-03 WU-11", "AMB-17": "WU-05 WU-05b",
		"AMB-18": "WU-04 WU-05 WU-06 WU-07 WU-08 WU-11 WU-14 WU-17", "AMB-19": "FETCH-06 FETCH-07", "AMB-20": "FETCH-12",
		"AMB-21": "ACK-04 FAIL-03", "AMB-22": "WU-09 FAIL-07", "AMB-23": "STATE-13 BEAT-14", "AMB-24": "BEAT-06 BEAT-15",
		"AMB-25": "HELLO-09", "AMB-26": "STATE-21 STATE-22 STATE-25", "AMB-27": "PUSH-01 FETCH-04",
		"AMB-28": "WU-06 STATE-11", "AMB-28a": "RETRY-01 RETRY-02 RETRY-03 RETRY-05", "AMB-29": "FETCH-05",
		"AMB-30": "BEAT-03",
		"AMB-31": "BEAT-01 BEAT-11 BEAT-15", "AMB-32": "STATE-17 STATE-20 FETCH-01", "AMB-33": "WU-01 WU-15",
		"AMB-34": "LINK-03 STATE-14", "AMB-35": "FAIL-02 FAIL-05", "AMB-36": "WU-06 WU-10 WU-12 STATE-11",
		"AMB-37": "STATE-13 STATE-14", "AMB-38": "WU-05 STATE-06 STATE-07 STATE-09 RETRY-03 FAIL-06",
		"AMB-39": "BEAT-01",
	}
	got := map[string]string{}
	for _, c := range Clauses() {
		if c.Ambiguity == "" {
			continue
		}
		assert.NotEmpty(t, c.Reading, c.ID)
		for amb := range strings.SplitSeq(c.Ambiguity, ", ") {
			got[amb] = strings.TrimSpace(got[amb] + " " + strings.TrimPrefix(c.ID, "FWP-"))
		}
	}
	assert.Equal(t, want, got)
}

// Where the inventory says "record" or "accept either", the catalogue makes no failure possible.
func TestRecordedClauses(t *testing.T) {
	t.Parallel()
	var recorded []string
	for _, c := range Clauses() {
		if c.Recorded {
			recorded = append(recorded, strings.TrimPrefix(c.ID, "FWP-"))
		}
		if c.Level == reports.LevelNote {
			assert.NotEmpty(t, c.Reading, "%s: why is it never a failure?", c.ID)
		}
	}
	assert.Equal(t, strings.Fields("HELLO-05 HELLO-07 HELLO-13 HELLO-17 STATE-14 STATE-23 STATE-25 WU-20 "+
		"RETRY-06 FETCH-07 FETCH-12 ACK-04 "+
		"FAIL-03 FAIL-07 BEAT-08 BEAT-14 BEAT-15 INFO-02 WRK-05 WRK-06 WRK-08 WRK-10 WRK-12 WRK-13 WRK-14"), recorded)
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	cases := []struct{ in, want string }{
		{"FWP-PUSH-01", "FWP-PUSH-01"},
		{"fwp-push-03", "FWP-PUSH-03"},
		{"PUSH-03", "FWP-PUSH-03"},
		{" fetch-5 ", "FWP-FETCH-05"},
		{"FWP-FECTH-05", "FWP-FETCH-05"},
		{"FWP-WU-5b", "FWP-WU-05b"},
		{"FWP-HELO-03", "FWP-HELLO-03"},
		{"FWP-NOTHING-77", ""},
		{"FWP-*", ""},
		{"", ""},
	}
	for _, c := range cases {
		assert.Equal(t, c.want, Protocol().Suggest(c.in), c.in)
	}
	for _, c := range Clauses() {
		assert.Equal(t, c.ID, Protocol().Suggest(c.ID))
	}
}
