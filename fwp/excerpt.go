package fwp

import "strconv"

// An excerpt is long enough to recognise an HTTP status line or a TLS record.
const (
	excerptAfter  = 32
	excerptBefore = 16
)

// excerpt quotes the first bytes of b as a Go string literal, or returns none if
// there are no bytes.
func excerpt(b []byte, none string) string {
	if len(b) == 0 {
		return none
	}
	if len(b) > excerptAfter {
		return strconv.Quote(string(b[:excerptAfter])) + "..."
	}
	return strconv.Quote(string(b))
}

// excerptAt quotes the bytes of b at offset, and those shortly before it.
func excerptAt(b []byte, offset int, none string) string {
	got := excerpt(b[offset:], none)
	if offset == 0 {
		return got
	}
	if offset > excerptBefore {
		return got + " after ..." + strconv.Quote(string(b[offset-excerptBefore:offset]))
	}
	return got + " after " + strconv.Quote(string(b[:offset]))
}
