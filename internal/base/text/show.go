package text

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// OneLine joins the words of s with single spaces.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// FirstLine returns s up to its first line end, CR LF or LF.
func FirstLine(s string) string {
	first, _, _ := strings.Cut(s, "\n")
	return strings.TrimSuffix(first, "\r")
}

// Escape returns s with the escapes of a Go string for all that is not printable, and for backslashes, without quotes
// around it. Quotation marks in it stay as they are, so that JSON remains readable.
func Escape(s string) string {
	if !strings.ContainsFunc(s, isSpecial) {
		return s
	}
	quoted := strconv.Quote(s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

// isSpecial reports whether a character may take an escape: all but those of printable ASCII text, in which there are
// most.
func isSpecial(r rune) bool { return r < ' ' || r > '~' || r == '\\' }

// Printable returns s with escapes for what could move a terminal's cursor or hide text from the reader: control and
// format characters, unusual spaces, and bytes that are not UTF-8; and for what a CI system takes for a command
// wherever it is in a line of a log. All else stays as it is, backslashes too.
func Printable(s string) string {
	var out strings.Builder
	s = inLog.ReplaceAllString(s, `#\x23$1`)
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, s[0])
		case unicode.IsPrint(r):
			out.WriteString(s[:size])
		case r == '\t' || r == '\r' || r == '\n':
			out.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		case r < utf8.RuneSelf:
			fmt.Fprintf(&out, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			fmt.Fprintf(&out, `\U%08x`, r)
		}
		s = s[size:]
	}
	return out.String()
}

var (
	// inLog is the beginning of commands such as ##[error] and ##vso[task.complete].
	inLog = regexp.MustCompile(`##(\w*\[)`)
	// command is what CI systems take for one at the beginning of a line, behind blanks too.
	command = regexp.MustCompile(`^(?:\x1b\[[0-9;]*m|\s)*()(?:::|##)`)
)

// Inert returns a line of a report or message with "| " behind its indentation if it begins as a command of a CI
// system: where texts of a peer are wrapped, any word of theirs can be the first of a line.
func Inert(line string) string {
	at := command.FindStringSubmatchIndex(line)
	if at == nil {
		return line
	}
	return line[:at[2]] + "| " + line[at[2]:]
}

const (
	shortSize = 450 // bytes of a text that Shorten and Excerpt leave whole
	headSize  = 200 // bytes of the beginning of a longer one; of its end a quarter of that
)

// Shorten returns s without its middle if it is longer than 450 bytes, and with its length and the first 16 digits of
// its SHA-256 hash instead, so that two texts that differ in the middle alone are not shown alike.
func Shorten(s string) string {
	if len(s) <= shortSize {
		return s
	}
	return withoutMiddle(s, s, []byte(s))
}

// Excerpt is Shorten of Escape. The length and the hash are those of b.
func Excerpt(b []byte) string {
	if len(b) > shortSize {
		first, last := b[:headSize+utf8.UTFMax], b[len(b)-headSize/4-utf8.UTFMax:]
		return withoutMiddle(Escape(head(string(first), headSize)), Escape(tail(string(last), headSize/4)), b)
	}
	all := Escape(string(b))
	if len(all) <= shortSize {
		return all
	}
	return withoutMiddle(all, all, b)
}

// Cut matches what stands for the middle of a text that Shorten and Excerpt have cut.
var Cut = regexp.MustCompile(` … \([0-9]+ bytes in all, SHA-256 [0-9a-f]+\) … `)

func withoutMiddle(first, last string, all []byte) string {
	return head(first, headSize) + " … " + Size(all) + " … " + tail(last, headSize/4)
}

// Size returns what a text that was cut is known by: "(999 bytes in all, SHA-256 0123456789abcdef)".
func Size(all []byte) string {
	sum := sha256.Sum256(all)
	return fmt.Sprintf("(%d bytes in all, SHA-256 %x)", len(all), sum[:8])
}

// head returns the beginning of s, about n bytes, without a torn character.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for cut := n; cut > n-utf8.UTFMax; cut-- {
		if utf8.RuneStart(s[cut]) {
			return strings.Clone(s[:cut])
		}
	}
	return strings.Clone(s[:n])
}

// tail returns the end of s, about n bytes, without a torn character.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	from := len(s) - n
	for cut := from; cut < from+utf8.UTFMax; cut++ {
		if utf8.RuneStart(s[cut]) {
			return strings.Clone(s[cut:])
		}
	}
	return strings.Clone(s[from:])
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)

// ShellQuote returns a word as a POSIX shell takes it.
func ShellQuote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Show returns lines from elsewhere as a terminal and a log can show them: each as Printable and Inert return it, and
// without its middle if it is very long.
func Show(lines string) string {
	all := strings.Split(lines, "\n")
	for i, line := range all {
		all[i] = Inert(Printable(Shorten(strings.TrimSuffix(line, "\r"))))
	}
	return strings.Join(all, "\n")
}

// EscapeJSON returns JSON with escapes for what Printable escapes, so that a terminal and a log can show it. Its line
// ends stay. Bytes that are not UTF-8 become U+FFFD: a raw part of a message of a peer may have them.
func EscapeJSON(b []byte) []byte {
	b = inLog.ReplaceAll(b, []byte(`#\u0023$1`))
	if utf8.Valid(b) && !bytes.ContainsFunc(b, isHidden) {
		return b
	}
	var out bytes.Buffer
	for _, r := range string(b) {
		switch {
		case !isHidden(r):
			out.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		}
	}
	return out.Bytes()
}

// isHidden reports whether a character of JSON could move a terminal's cursor or hide text.
func isHidden(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }

// Brief returns s with an ellipsis in the place of the words that do not fit into so many characters.
func Brief(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	runes := []rune(s)[:max(limit-1, 0)]
	for at := len(runes) - 1; at >= limit/2; at-- {
		if runes[at] == ' ' {
			return strings.TrimRight(string(runes[:at]), " ,;:") + " …"
		}
	}
	return string(runes) + "…"
}
