package fwp

import "strconv"

const crlf = "\r\n"

// AppendSimple appends text to dst as a RESP simple string. Such a string cannot
// hold CR or LF, so each of them becomes a space. (Server Protocol Sender; RESP)
func AppendSimple(dst []byte, text string) []byte {
	return appendLine(append(dst, byte(SimpleString)), text)
}

// AppendError appends text to dst as a RESP error. Such a line cannot hold CR or
// LF, so each of them becomes a space. (Server Protocol Sender; RESP)
func AppendError(dst []byte, text string) []byte {
	return appendLine(append(dst, byte(ErrorReply)), text)
}

// AppendInteger appends n to dst as a RESP integer. No response of the protocol is an
// integer; servers that are wrong on purpose send it. (RESP)
func AppendInteger(dst []byte, n int64) []byte {
	dst = strconv.AppendInt(append(dst, byte(Integer)), n, 10)
	return append(dst, crlf...)
}

// AppendBulk appends text to dst as a RESP bulk string; its length counts bytes.
// An empty or nil text becomes $0, which is not the null; see [AppendNull].
// (Server Protocol Sender; RESP)
func AppendBulk(dst, text []byte) []byte {
	dst = strconv.AppendInt(append(dst, byte(BulkString)), int64(len(text)), 10)
	dst = append(dst, crlf...)
	dst = append(dst, text...)
	return append(dst, crlf...)
}

// AppendNull appends the null bulk string, $-1, to dst: the response to a FETCH
// that found no work unit. (FETCH Command; RESP)
func AppendNull(dst []byte) []byte {
	return append(dst, "$-1\r\n"...)
}

func appendLine(dst []byte, text string) []byte {
	for i := range len(text) { // bytes, not characters
		c := text[i]
		if c == '\r' || c == '\n' {
			c = ' '
		}
		dst = append(dst, c)
	}
	return append(dst, crlf...)
}

// An excerpt is long enough to recognise an HTTP status line or a TLS record.
const (
	excerptAfter  = 32
	excerptBefore = 16
)

// excerpt quotes the first bytes of b as a Go string literal, or returns none if
// there are no bytes.
func excerpt(b []byte, placeholder string) string {
	if len(b) == 0 {
		return placeholder
	}
	if len(b) > excerptAfter {
		return strconv.Quote(string(b[:excerptAfter])) + "..."
	}
	return strconv.Quote(string(b))
}

// excerptAt quotes the bytes of b at offset, and those shortly before it.
func excerptAt(b []byte, offset int, placeholder string) string {
	got := excerpt(b[offset:], placeholder)
	if offset == 0 {
		return got
	}
	if offset > excerptBefore {
		return got + " after ..." + strconv.Quote(string(b[offset-excerptBefore:offset]))
	}
	return got + " after " + strconv.Quote(string(b[:offset]))
}
