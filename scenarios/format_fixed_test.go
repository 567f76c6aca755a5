package scenarios

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fwpsuite/fwp/internal/proof/golden"
)

// same compares scripts without places, comments and empty lines. Forms and formulas are
// those of one grammar, which the text that is compared names.
var same = cmp.Options{
	cmp.Exporter(func(reflect.Type) bool { return true }),
	cmp.FilterPath(func(p cmp.Path) bool {
		switch p.Last().String() {
		case ".Pos", ".Asides", ".After", ".Header", ".Source", ".declared", ".quoted", ".grammar", ".form", ".formula":
			return true
		}
		return false
	}, cmp.Ignore()),
	cmp.Comparer(func(a, b *regexp.Regexp) bool { return a == b || a != nil && b != nil && a.String() == b.String() }),
	cmp.Comparer(func(a, b *time.Location) bool { return fmt.Sprint(a) == fmt.Sprint(b) }),
}

// commentsOf lists the comments of a text, sorted.
func commentsOf(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff")); strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	slices.Sort(all)
	return all
}

// requireFixedPoint checks that a text parses, that its format parses to the same
// script with the same comments, and that formatting it again changes nothing.
func requireFixedPoint(t require.TestingT, text string) {
	s, err := Parse(likeFWP{}, "script", []byte(text))
	require.NoError(t, err)
	output := string(Format(s))
	other, err := Parse(likeFWP{}, "script", []byte(output))
	require.NoError(t, err, output)
	require.Empty(t, cmp.Diff(s, other, same), output)
	require.Equal(t, output, string(Format(other)))
	require.Equal(t, commentsOf(text), commentsOf(output))
	require.NotContains(t, output, "\n\n\n")
}

func TestFormatIsAFixedPointOfWrittenScripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/lint/*.fwp")
	require.NoError(t, err)
	suite, err := filepath.Glob("../protocols/fwp/script/scripts/*/*.fwp")
	require.NoError(t, err)
	require.NotEmpty(t, suite)
	for i, file := range append(files, suite...) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		windows := "\ufeff" + strings.ReplaceAll(string(text), "\n", "\r\n")
		if golden.IsSlow() || i%8 == 0 { // comparing two scripts costs most: an eighth each
			requireFixedPoint(t, string(text))
		}
		if golden.IsSlow() || i%8 == 4 {
			requireFixedPoint(t, windows)
		}
	}
}

// untidy draws scripts that are right, with comments, empty lines and blanks
// wherever they may be.
type untidy struct {
	*rapid.T
	lines []string
}

func (u untidy) draw(texts ...string) string { return rapid.SampledFrom(texts).Draw(u.T, "text") }

// gap draws blanks.
func (u untidy) gap() string { return u.draw(" ", "  ", "\t", " \t ") }

func (u *untidy) line(words ...string) {
	text := u.draw("", " ", "\t") + words[0]
	for _, word := range words[1:] {
		text += u.gap() + word
	}
	u.lines = append(u.lines, text+u.draw("", "", " ", "\t"))
}

// asides draws comments, empty lines and, if wanted, marks.
func (u *untidy) asides(marks bool) {
	for range rapid.IntRange(0, 3).Draw(u.T, "asides") {
		switch u.draw("empty", "comment", "mark") {
		case "empty":
			u.lines = append(u.lines, u.draw("", " ", "\t\t"))
		case "comment":
			u.line(u.draw("#", "# why", "#!x: y", "# C: INFO", "# é "))
		case "mark":
			if marks {
				mark := u.draw("setup", "clause A-1", "clause A-1 B-2", "clause A-1 MUST NOT B-2 SHOULD", "record C-3")
				u.line(strings.Fields(mark)...)
			}
		}
	}
}

func (u *untidy) header() {
	lines := []string{"title: a  title", "needs: flush alone", "needs: open", "waits: 90s", "waits: 1m0s"}
	for _, line := range rapid.Permutation(lines).Draw(u.T, "header")[:rapid.IntRange(0, len(lines)).Draw(u.T, "keys")] {
		u.asides(false)
		key, value, _ := strings.Cut(line, " ")
		u.lines = append(u.lines, u.draw("", " ")+key+u.draw("", " ", "\t")+value+u.draw("", " "))
	}
}

// transcript draws a C: or an S: line.
func (u *untidy) transcript() {
	conn := u.draw("", "", "[a]", "[b2]")
	switch u.draw("C", "raw", "S") {
	case "C":
		form := u.draw("", "  ") + "C" + conn + u.draw("", " bad", "  bytewise", " bytewise bad")
		u.lines = append(u.lines, form+u.draw(":", ": ", ":  ", ":\t")+
			u.draw("", "INFO", "INFO ", "FE<|>TCH $queue", `PUSH $job{"args":[ 1.50, "é\u00e9" ]}`, "<close>",
				"<half-close> ", "$5 $$ $$jid $jid1", "<|>", "# x", "S: x"))
	case "raw":
		u.lines = append(u.lines, "C"+conn+u.draw(" raw:", " bad  raw:", " raw bytewise:")+
			u.draw(`"INFO\r\n"`, "`a` \"\\x00\\u00e9\"", `"a<|>b"`, `"" "$jid1" "\x24$"`, `"a""b"`))
	case "S":
		form := u.draw("", "\t") + "S" + conn + u.draw("", " ..2s", "  1.50s..", " 1s..90s ")
		u.lines = append(u.lines, form+u.draw(":", ": ", ":   ")+
			u.draw("+OK", "-", "+", "$-1", "$", ":12", "*", "<any>", "<reset>", "+OK |-", `+HI {"v":2}`, `-/a\/b/`, "-/a|b/",
				`${"jid":"$jid1", "a" : absent | int(1..)}`, `${"x":contains("a",!"b")}`, "$=[1,...]", `$"te\u00e9xt"`,
				"+OK\u00a0", "+a\tb", `${"t":$t:time($now-5s..)}`)+
			u.draw("", " | <close>", "|<fin>", " | - | +")+u.draw("", " ", "\t"))
	}
}

func (u *untidy) step() {
	switch u.draw("transcript", "transcript", "transcript", "connect", "silence", "operate") {
	case "connect":
		const consumer = `connect b2 as consumer {"wid":"$wid2","x":[1,{}]}`
		u.line(strings.Fields(u.draw("connect as raw", "connect a as producer", consumer))...)
	case "silence":
		u.line(strings.Fields(u.draw("silence 90s", "silence 300ms on a", "silence 1.0s on a b2"))...)
	case "operate":
		u.line(strings.Fields(u.draw("restart", "kill", "quiet $wid", "terminate x$$"))...)
	default:
		u.transcript()
	}
}

func (u *untidy) block() {
	head := u.draw("repeat 07", "repeat 4 by 2 consumers ..090s", "repeat 4 by 1 producer", "repeat 2 by 2 raw",
		"unordered", "eventually", "eventually 1s..2m", "table")
	u.line(strings.Fields(head)...)
	for range rapid.IntRange(1, 3).Draw(u.T, "body") {
		u.asides(true)
		u.step()
	}
	u.asides(true)
	u.line("end")
}

func TestFormatIsAFixedPoint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		u := &untidy{T: t}
		u.header()
		for range rapid.IntRange(1, 5).Draw(t, "steps") {
			u.asides(true)
			if rapid.IntRange(0, 3).Draw(t, "block") == 0 {
				u.block()
			} else {
				u.step()
			}
		}
		u.asides(true)
		text := u.draw("", "\ufeff") + strings.Join(u.lines, u.draw("\n", "\r\n")) + u.draw("", "\n", "\r\n\r\n")
		requireFixedPoint(t, text)
	})
}
