package fakes

import (
	"fmt"

	"github.com/fwpsuite/fwp/fwp"
)

func simple(text string) fwp.Reply { return fwp.Reply{Kind: fwp.SimpleString, Text: []byte(text)} }

func okay() fwp.Reply { return simple("OK") }

func bulk(text []byte) fwp.Reply { return fwp.Reply{Kind: fwp.BulkString, Text: text} }

func integer(n int64) fwp.Reply { return fwp.Reply{Kind: fwp.Integer, Int: n} }

func null() fwp.Reply { return fwp.Reply{Kind: fwp.NullBulk} }

// refused returns the error reply for a reason, which is an error or a text.
func refused(reason any) fwp.Reply {
	return fwp.Reply{Kind: fwp.ErrorReply, Text: fmt.Appendf(nil, "ERR %v", reason)}
}

// idle returns the reply to a command that a hook keeps from having an effect.
func idle(verb string) fwp.Reply {
	switch verb {
	case fwp.FETCH:
		return null()
	case fwp.INFO:
		return bulk([]byte("{}"))
	}
	return okay()
}

// appendReply appends the reply as it is on the wire; one without a Kind appends nothing.
func appendReply(dst []byte, r fwp.Reply) []byte {
	switch r.Kind {
	case fwp.SimpleString:
		return fwp.AppendSimple(dst, string(r.Text))
	case fwp.ErrorReply:
		return fwp.AppendError(dst, string(r.Text))
	case fwp.Integer:
		return fwp.AppendInteger(dst, r.Int)
	case fwp.BulkString:
		return fwp.AppendBulk(dst, r.Text)
	case fwp.NullBulk:
		return fwp.AppendNull(dst)
	case fwp.Array:
		dst = fmt.Appendf(dst, "*%d\r\n", len(r.Array))
		for _, element := range r.Array {
			dst = appendReply(dst, element)
		}
	}
	return dst
}
