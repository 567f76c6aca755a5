package text

import (
	"strings"
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

// Break breaks a line between words into lines of at most so many characters, and a longer word where a line ends. The
// blanks in it stay. The lines after the first begin with so many blanks. Colours (ECMA-48) take no room.
func Break(line string, width, hang int) []string {
	hang = min(hang, width/2)
	var lines []string
	for {
		end := cut(line, width, width-hang)
		if end == len(line) {
			return append(lines, line)
		}
		lines = append(lines, strings.TrimRight(line[:end], " "))
		line = strings.Repeat(" ", hang) + strings.TrimLeft(line[end:], " ")
	}
}

// cut returns where the first of several lines ends: after the last word that fits, or inside a word of more than so
// many characters.
func cut(line string, width, longest int) int {
	columns, blank, words := 0, 0, false
	for i := 0; i < len(line); {
		if skip := color(line[i:]); skip > 0 {
			i += skip
			continue
		}
		r, size := utf8.DecodeRuneInString(line[i:])
		if columns == width {
			word, _, _ := strings.Cut(line[blank+1:], " ")
			if r == ' ' || blank == 0 || utf8.RuneCountInString(word) > longest {
				return i
			}
			return blank
		}
		if r == ' ' && words {
			blank = i
		}
		words = words || r != ' '
		columns++
		i += size
	}
	return len(line)
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
