package fakes

import (
	"fmt"

	"github.com/fwpsuite/fwp/fwp"
)

func okay() fwp.Reply { return fwp.Reply{Kind: fwp.SimpleString, Text: []byte("OK")} }

func bulk(text []byte) fwp.Reply { return fwp.Reply{Kind: fwp.BulkString, Text: text} }

func refused(err error) fwp.Reply {
	return fwp.Reply{Kind: fwp.ErrorReply, Text: fmt.Appendf(nil, "ERR %v", err)}
}

// idle is the answer to a command that a hook keeps from having an effect.
func idle(verb string) fwp.Reply {
	switch verb {
	case fwp.FETCH:
		return fwp.Reply{Kind: fwp.NullBulk}
	case fwp.INFO:
		return bulk([]byte("{}"))
	}
	return okay()
}

// appendReply writes what the server or a hook made; no Kind means nothing.
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
