package text

import (
	"bytes"
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
	if !strings.ContainsFunc(s, special) {
		return s
	}
	quoted := strconv.Quote(s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

// special reports whether a character may take an escape: all but those of printable ASCII text, in which there are
// most.
func special(r rune) bool { return r < ' ' || r > '~' || r == '\\' }

// Printable returns s with escapes for what could move a terminal's cursor or hide text from the reader: control and
// format characters, unusual spaces, and bytes that are not UTF-8. All else stays as it is, backslashes too.
func Printable(s string) string {
	var out strings.Builder
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

const (
	whole = 450 // bytes of a text that Shorten and Excerpt leave whole
	keep  = 200 // bytes of the beginning of a longer one; of its end a quarter of that
)

// Shorten returns s without its middle if it is longer than 450 bytes, and with its length instead.
func Shorten(s string) string {
	if len(s) <= whole {
		return s
	}
	return withoutMiddle(s, s, len(s))
}

// Excerpt is Shorten of Escape. It does not read all of a long text.
func Excerpt(b []byte) string {
	if len(b) > whole {
		first, last := b[:keep+utf8.UTFMax], b[len(b)-keep/4-utf8.UTFMax:]
		return withoutMiddle(Escape(head(string(first), keep)), Escape(tail(string(last), keep/4)), len(b))
	}
	all := Escape(string(b))
	if len(all) <= whole {
		return all
	}
	return withoutMiddle(all, all, len(b))
}

func withoutMiddle(first, last string, size int) string {
	return fmt.Sprintf("%s … (%d bytes in all) … %s", head(first, keep), size, tail(last, keep/4))
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

// Show returns lines from elsewhere as a terminal can show them: each as Printable returns it, without its middle if it
// is very long.
func Show(lines string) string {
	all := strings.Split(lines, "\n")
	for i, line := range all {
		all[i] = Printable(Shorten(strings.TrimSuffix(line, "\r")))
	}
	return strings.Join(all, "\n")
}

// EscapeJSON returns JSON with escapes for what Printable escapes, so that a terminal can show it. Its line ends stay.
func EscapeJSON(b []byte) []byte {
	if !bytes.ContainsFunc(b, hidden) {
		return b
	}
	var out bytes.Buffer
	for _, r := range string(b) {
		switch {
		case !hidden(r):
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

// hidden reports whether a character of JSON could move a terminal's cursor or hide text.
func hidden(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }

// Brief returns s with an ellipsis in the place of the words that do not fit into so many characters.
func Brief(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	runes := []rune(s)[:max(most-1, 0)]
	for at := len(runes) - 1; at >= most/2; at-- {
		if runes[at] == ' ' {
			return strings.TrimRight(string(runes[:at]), " ,;:") + " …"
		}
	}
	return string(runes) + "…"
}
