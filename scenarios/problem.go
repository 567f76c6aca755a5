package scenarios

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// Pos is a place in a script: Line and Col count from 1, Col and Width in
// characters.
type Pos struct {
	Line, Col, Width int
}

// Problem is something wrong in a script, with its place.
type Problem struct {
	File string
	Pos
	Source  string // the line, without its end
	Message string // what is wrong and what was expected
	Help    string // what to do about it, empty if there is no useful advice
	Advice  bool   // a matter of style: the script can be played all the same
}

// Error gives "file:line:col: message", the line, a caret under the place, and
// the help.
func (p *Problem) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: %s\n", p.File, p.Line, p.Col, text.Shorten(p.Message))
	line, caret := p.excerpt()
	fmt.Fprintf(&b, "    %s\n    %s", line, caret)
	if p.Help != "" {
		fmt.Fprintf(&b, "\n    %s", p.Help)
	}
	return b.String()
}

// excerpt returns the line as a terminal can show it, without what is far from the place, and the line of carets below.
func (p *Problem) excerpt() (line, caret string) {
	const around = 200 // characters
	source := []rune(strings.ReplaceAll(p.Source, "\t", " "))
	at := min(max(p.Col-1, 0), len(source))
	end := min(at+max(p.Width, 1), len(source), at+around)
	from, to := max(at-around, 0), min(end+around, len(source))
	before, place := text.Printable(string(source[from:at])), text.Printable(string(source[at:end]))
	if from > 0 {
		before = "…" + before
	}
	line = before + place + text.Printable(string(source[end:to]))
	if to < len(source) {
		line += "…"
	}
	blanks, width := utf8.RuneCountInString(before), utf8.RuneCountInString(place)
	return line, Caret(Pos{Col: blanks + 1, Width: width})
}

// Caret returns the line of blanks and ^ that stands under the place p.
func Caret(p Pos) string {
	return strings.Repeat(" ", max(p.Col-1, 0)) + strings.Repeat("^", max(p.Width, 1))
}

// Problems is what is wrong in one script, in the order of its lines. As an
// error it prints them one after the other, the first [ProblemsShown] of them.
type Problems []*Problem

// ProblemsShown is how many problems are worth printing: a file with more is probably not a script.
const ProblemsShown = 20

func (ps Problems) Error() string {
	list := ps[:min(len(ps), ProblemsShown)]
	var texts []string
	for _, p := range list {
		texts = append(texts, p.Error())
	}
	if rest := len(ps) - len(list); rest > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(texts, "\n")
}

// column turns a byte offset into a column in characters, from 1.
func column(line string, offset int) int {
	return utf8.RuneCountInString(line[:min(max(offset, 0), len(line))]) + 1
}

// knownWordsHelp begins the help that lists words; each list is printed once a script.
const knownWordsHelp = "known here: "

// didYouMean is the help that goes with an unknown word.
func didYouMean(word string, list []string) string {
	const longest = 64 // a longer word is not a typing mistake
	if len(word) <= longest {
		mistakes := min(max(2, len(word)/3), len(word)-1) // at least one character must be right
		if w := text.Nearest(word, list, mistakes); w != "" {
			return fmt.Sprintf("did you mean %q?", w)
		}
	}
	return knownWordsHelp + strings.Join(list, ", ")
}
