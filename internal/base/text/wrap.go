package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Wrap breaks a text between words into lines of at most so many characters. A longer
// word has a line for itself; a text without words has no lines.
func Wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Break breaks a line between words into lines of at most so many characters. A longer word is broken where a line
// ends; a name or path behind the last hyphen or slash before that. The blanks in it stay. The lines after the first
// begin with so many blanks. Colours (ECMA-48) take no room.
func Break(line string, width, hang int) []string {
	hang = min(hang, width/2)
	var lines []string
	for {
		end := cut(line, width, width-hang)
		if end == len(line) {
			return append(lines, line)
		}
		if first := strings.TrimRight(line[:end], " "); first != "" {
			lines = append(lines, first)
		}
		line = strings.Repeat(" ", hang) + strings.TrimLeft(line[end:], " ")
	}
}

// cut returns where the first of several lines ends: after the last word that fits, or inside a word of more than so
// many characters.
func cut(line string, width, longest int) int {
	columns, blank, begin, words := 0, 0, 0, false // begin is that of the latest word
	for i := 0; i < len(line); {
		if skip := color(line[i:]); skip > 0 {
			i += skip
			continue
		}
		r, size := utf8.DecodeRuneInString(line[i:])
		if columns == width {
			word, _, _ := strings.Cut(line[begin:], " ")
			switch {
			case r == ' ', !words: // nothing but blanks fits
				return i
			case blank == 0 || utf8.RuneCountInString(word) > longest:
				return begin + joint(word, i-begin)
			}
			return blank
		}
		switch {
		case r == ' ' && words:
			blank = i
		case r != ' ' && i > 0 && line[i-1] == ' ':
			begin = i
		}
		words = words || r != ' '
		columns++
		i += size
	}
	return len(line)
}

// joint returns where a word is broken of which so many bytes fit: in a name or a path behind its last hyphen or slash,
// so that its parts can be read; anything else, such as JSON, there.
func joint(word string, fit int) int {
	isNot := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-/._:=", r)
	}
	if at := strings.LastIndexAny(word[:fit], "-/"); at > 0 && !strings.ContainsFunc(word, isNot) {
		return at + 1
	}
	return fit
}

// color returns the length of the colour that s begins with.
func color(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	return strings.IndexByte(s, 'm') + 1
}

// Continue breaks a shell command before its flags into lines of at most so many characters, where that is possible.
func Continue(command string, width int) []string {
	var lines []string
	line := ""
	for i, part := range strings.Split(command, " --") {
		if i > 0 {
			part = "--" + part
		}
		switch {
		case i == 0:
			line = part
		case utf8.RuneCountInString(line+" "+part) <= width-2:
			line += " " + part
		default:
			lines, line = append(lines, line+` \`), "  "+part
		}
	}
	return append(lines, line)
}
