package faults

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// hiFaults are about the greeting.
var hiFaults = []fakes.Fault{
	fault("hi-after-client", recall(conn, at(fakes.Greeting), func(e *event) []byte {
		e.Skip = true
		return fakes.AppendReply(nil, e.Reply)
	}, at(fakes.Writing), func(hi []byte, e *event) { e.Bytes = slices.Concat(hi, e.Bytes) })),
	fault("hi-bulk", do(kind(fwp.BulkString), at(fakes.Greeting))),
	fault("hi-bulk-busy", bulkWhileBusy()),
	fault("hi-iterations-text", do(func(e *event) {
		i := fmt.Sprintf(`"i":%d`, e.Conn.Iterations)
		rewords(i, strings.Replace(i, ":", `:"`, 1)+`"`)(e)
	}, at(fakes.Greeting))),
	fault("hi-salt-missing",
		do(func(e *event) { e.Reply.Text = fmt.Appendf(nil, `HI {"v":2,"i":%d}`, e.Conn.Iterations) },
			at(fakes.Greeting), onProtected)),
	fault("hi-salt-number", every(10, at(fakes.Greeting), on(onProtected, func(e *event) {
		salted(e, "12345678", e.Conn.Iterations)
		rewords(`"12345678"`, `12345678`)(e)
	}))),
	fault("hi-salt-on-open", do(reply(fakes.Simple(`HI {"v":2,"s":"7f1c29aa01d3"}`)), at(fakes.Greeting), onOpen)),
	fault("hi-version-3", do(rewords(`"v":2`, `"v":3`), at(fakes.Greeting))),
	fault("hi-version-text", do(rewords(`"v":2`, `"v":"2"`), at(fakes.Greeting))),
	fault("hi-without-space", do(rewords("HI ", "HI"), at(fakes.Greeting))),
}

func bulkWhileBusy() func() func(*event) {
	events := either(at(fakes.Greeting), checked(fwp.FETCH), ran(fwp.FETCH))
	return keepAll(events, func(waiting *memory[int64, bool], e *event) {
		switch e.Point {
		case fakes.Checked:
			waiting.Of(e.Conn.ID)
		case fakes.Ran:
			waiting.Forget(e.Conn.ID)
		default:
			for range waiting.All {
				e.Reply.Kind = fwp.BulkString
			}
		}
	})
}
