package scenarios

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	longest = 450 // bytes of a text that is shown whole
	keep    = 200 // of the beginning of a longer one, and a quarter of it of its end
)

// shorten keeps texts readable: long ones lose their middle, and say so.
func shorten(s string) string {
	if len(s) <= longest {
		return s
	}
	return withoutMiddle(s, s, len(s))
}

// excerpt makes what came or was sent readable, without going through all of what
// is long.
func excerpt(b []byte) string {
	if len(b) > longest {
		first, last := b[:keep+utf8.UTFMax], b[len(b)-keep/4-utf8.UTFMax:]
		return withoutMiddle(escaped(head(string(first), keep)), escaped(tail(string(last), keep/4)), len(b))
	}
	all := escaped(string(b))
	if len(all) <= longest {
		return all
	}
	return withoutMiddle(all, all, len(b))
}

func withoutMiddle(first, last string, size int) string {
	return fmt.Sprintf("%s … (%d bytes in all) … %s", head(first, keep), size, tail(last, keep/4))
}

// head is the beginning of a text, about n bytes, without a torn character.
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

// tail is the end of a text, about n bytes, without a torn character.
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
