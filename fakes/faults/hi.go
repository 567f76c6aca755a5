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
	fault("hi-after-client", "HI-01", "HI is sent only together with the first reply",
		recall(conn, at(fakes.Greeting), func(e *event) []byte {
			e.Skip = true
			return fakes.AppendReply(nil, e.Reply)
		}, at(fakes.Writing), func(hi []byte, e *event) { e.Bytes = slices.Concat(hi, e.Bytes) })),
	fault("hi-bulk", "HI-02", "HI is a bulk string", do(kind(fwp.BulkString), at(fakes.Greeting))),
	fault("hi-bulk-busy", "HI-02", "while a FETCH waits, HI is a bulk string", bulkWhileBusy()),
	fault("hi-iterations-text", "HI-05", "i of HI is a string", do(func(e *event) {
		i := fmt.Sprintf(`"i":%d`, e.Conn.Iterations)
		rewords(i, strings.Replace(i, ":", `:"`, 1)+`"`)(e)
	}, at(fakes.Greeting))),
	fault("hi-salt-missing", "HI-04", "a protected server sends iterations and no salt",
		do(func(e *event) { e.Reply.Text = fmt.Appendf(nil, `HI {"v":2,"i":%d}`, e.Conn.Iterations) },
			at(fakes.Greeting), onProtected)),
	fault("hi-salt-number", "HI-05", "every 10th greeting of a protected server has a number as its salt",
		every(10, at(fakes.Greeting), on(onProtected, func(e *event) {
			salted(e, "12345678", e.Conn.Iterations)
			rewords(`"12345678"`, `12345678`)(e)
		}))),
	fault("hi-salt-on-open", "HI-04", "an open server sends a salt",
		do(reply(fakes.Simple(`HI {"v":2,"s":"7f1c29aa01d3"}`)), at(fakes.Greeting), onOpen)),
	fault("hi-version-3", "HI-03", "v of HI is 3", do(rewords(`"v":2`, `"v":3`), at(fakes.Greeting))),
	fault("hi-version-text", "HI-03", "v of HI is a string", do(rewords(`"v":2`, `"v":"2"`), at(fakes.Greeting))),
	fault("hi-without-space", "HI-02", "HI is not followed by a space", do(rewords("HI ", "HI"), at(fakes.Greeting))).
		Also("hi-more-text"),
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
