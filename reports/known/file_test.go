package known

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func parse(t *testing.T, text string) *File {
	t.Helper()
	f, err := Parse("f", []byte(text))
	require.NoError(t, err)
	return f
}

func TestParse(t *testing.T) {
	t.Parallel()
	f := parse(t, "# known\n\n"+
		`push/no-jobtype  FWP-PUSH-02 fails because="+OK \"and\" \\ more" server="Faktory >=1.9 <1.9.5" `+
		"see=https://example.org/1#2 until=2027-03-01 # why\r\n"+
		"\tfetch/* FWP-FETCH-05 flaky rate<=0.2 of=20\n"+
		"my.fwp - crashes")
	require.Len(t, f.Lines, 3)
	l := f.Lines[0]
	assert.Equal(t, 3, l.Number)
	assert.Equal(t, [2]string{"push/no-jobtype", "FWP-PUSH-02"}, [2]string{l.Check, l.Clause})
	assert.Equal(t, Fails, l.Kind)
	assert.Equal(t, `+OK "and" \ more`, l.Because)
	assert.Equal(t, "Faktory >=1.9 <1.9.5", l.Server.String())
	assert.Equal(t, "https://example.org/1#2", l.See)
	assert.Equal(t, time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC), l.Until)
	assert.Equal(t, Line{Number: 4, Check: "fetch/*", Clause: "FWP-FETCH-05", Kind: Flaky, Rate: 0.2, RatePlays: 20,
		col: 2, clauseCol: 10}, f.Lines[1])
	assert.Equal(t, Crashes, f.Lines[2].Kind)
	assert.Empty(t, parse(t, "").Lines)
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"push/x":                          "f:1:1: write CHECK CLAUSE KIND",
		"push/x FWP-A":                    "f:1:8: write CHECK CLAUSE KIND",
		"push/x FWP-A fail":               `f:1:14: "fail" is not one of fails, crashes, warns, flaky, inconclusive`,
		"push/[ FWP-A fails":              `f:1:1: "push/[" is not a valid pattern`,
		`"" FWP-A fails`:                  `f:1:1: "" is not a valid pattern`,
		"a b fails reason=x":              `f:1:11: unknown attribute "reason=x"`,
		"a b fails untli=2027-01-01":      "did you mean until?",
		"a b fails because":               `unknown attribute "because"`,
		"a b fails because=":              "because has no value",
		`a b fails because="x`:            "f:1:19: the closing quote is missing",
		`a b fails because="x\n"`:         `f:1:22: in quotes a backslash`,
		`a b fails because=x because=y`:   "f:1:21: because is given twice",
		"a b fails until=tomorrow":        `f:1:17: "tomorrow" is not a date`,
		"a b fails see=issue-7":           `f:1:15: "issue-7" is not a URL`,
		"a b fails server=<1.9":           `f:1:18: "<1.9": begin with the name`,
		`a b fails server="faktory 1.9"`:  `"1.9": write <, <=`,
		`a b fails server="faktory <new"`: `"<new": "new" is not a version`,
		"a b fails rate<=0.2 of=20":       "f:1:5: rate<= and of= work only with flaky",
		"a b flaky rate<=0.2":             "f:1:5: rate<= and of= belong together",
		"a b flaky rate=0.2 of=20":        "f:1:11: write rate<=0.2",
		"a b flaky rate<=2 of=20":         `f:1:17: "2" is not a valid rate`,
		"a b flaky rate<=NaN of=20":       `"NaN" is not a valid rate`,
		"a b flaky rate<=0.1 of=1001":     `"1001" is not a whole number`,
		"a b inconclusive":                `f:1:5: inconclusive needs because=`,
		"a b \xff":                        "f:1:1: the line is not UTF-8",
		"a b fails\na b fails":            "f:2:1: the same as line 1",
		"a b fails because=x\n# c\nx":     "f:3:1: write CHECK CLAUSE KIND",
		"x\ny": "f:1:1: write CHECK CLAUSE KIND and attributes: push/accepted FWP-PUSH-01 fails\n" +
			"f:2:1: ",
		strings.Repeat("x\n", 1000) + "last fails": "f:20:1: ",
	} {
		_, err := Parse("f", []byte(line))
		if assert.Error(t, err, line) {
			assert.Contains(t, err.Error(), want)
			assert.LessOrEqual(t, strings.Count(err.Error(), "\n"), 20)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	checks, clauses := []string{"push/accepted", "fetch/blocks"}, []string{"FWP-PUSH-01", "FWP-FETCH-05"}
	good := parse(t, "push FWP-PUSH-01 fails\npush/* * fails\n* FWP-*-05 fails\nfetch/blocks - fails\n"+
		"PUSH/ACCEPTED fwp-push-01 warns")
	require.NoError(t, good.Resolve(checks, clauses, nil))
	err := parse(t, "push/acepted FWP-PUSH-01 fails\n  fetch/blocks   FWP-FETCH-99 fails").Resolve(checks, clauses, nil)
	require.EqualError(t, err, "f:1:1: no check matches push/acepted; did you mean push/accepted?\n"+
		"f:2:18: no clause matches FWP-FETCH-99; did you mean FWP-FETCH-05?")
}

func TestConstraint(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		constraint, name, version string
		want                      bool
	}{
		{"faktory", "faktory", "", true},
		{"Faktory", "faktory", "1.9", true},
		{"faktory", "other", "1.9", false},
		{"faktory", "", "", false},
		{"faktory <1.9.5", "faktory", "1.9.4", true},
		{"faktory <1.9.5", "faktory", "1.9.5", false},
		{"faktory <1.9.5", "faktory", "1.10.0", false},
		{"faktory <1.9.5", "faktory", "", false},
		{"faktory <1.9.5", "faktory", "head", false},
		{"faktory <=1.9", "faktory", "1.9.0", true},
		{"faktory =1.9", "faktory", "1.9.0+build7", true},
		{"faktory !=1.9", "faktory", "1.9.1", true},
		{"faktory >=1.9 <1.9.5", "faktory", "1.8.9", false},
		{"faktory >=1.9 <1.9.5", "faktory", "1.9.3", true},
		{"faktory <1.10.0", "faktory", "1.10.0-rc1", true},
		{"faktory >1.10.0-rc1", "faktory", "1.10.0-rc2", true},
		{"faktory >1.10.0-rc.9", "faktory", "1.10.0-rc.10", true},
	} {
		got, err := ParseConstraint(c.constraint)
		require.NoError(t, err)
		assert.Equal(t, c.want, got.Allows(Server{c.name, c.version}), "%s: %s %s", c.constraint, c.name, c.version)
	}
	assert.True(t, Constraint{}.Allows(Server{}))
}

// FuzzParse: what is read is written so that it is read again, and the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`push/x FWP-PUSH-01 fails because="a \"b\" \\" ` +
		`server="faktory <1.9" see=https://x.org until=2027-01-02 # c`))
	f.Add([]byte("fetch/* - flaky rate<=0.25 of=20\n\"#a b\" * warns"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("f", data)
		if err != nil {
			return
		}
		var text []string
		for i := range file.Lines {
			text = append(text, file.Lines[i].String())
		}
		second, err := Parse("f", []byte(strings.Join(text, "\n")))
		require.NoError(t, err)
		require.Len(t, second.Lines, len(file.Lines))
		for i := range file.Lines {
			a, b := file.Lines[i], second.Lines[i]
			a.Number, a.col, a.clauseCol, b.Number, b.col, b.clauseCol = 0, 0, 0, 0, 0, 0
			require.Equal(t, a, b)
		}
	})
}
