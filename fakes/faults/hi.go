package faults

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/fakes"
)

// hiFaults are about the greeting.
var hiFaults = []fakes.Fault{
	fault("hi-after-client", recall(conn, at(fakes.Greeting), func(e *event) []byte {
		e.Skip = true
		return fakes.AppendReply(nil, e.Reply)
	}, at(fakes.Writing), func(hi []byte, e *event) { e.Bytes = slices.Concat(hi, e.Bytes) })),
	fault("hi-iterations-text", do(func(e *event) {
		i := fmt.Sprintf(`"i":%d`, e.Conn.Iterations)
		rewords(i, strings.Replace(i, ":", `:"`, 1)+`"`)(e)
	}, at(fakes.Greeting))),
	fault("hi-salt-missing",
		do(func(e *event) { e.Reply.Text = fmt.Appendf(nil, `HI {"v":2,"i":%d}`, e.Conn.Iterations) },
			at(fakes.Greeting), onProtected)),
	fault("hi-salt-on-open", do(reply(fakes.Simple(`HI {"v":2,"s":"7f1c29aa01d3"}`)), at(fakes.Greeting), onOpen)),
	fault("hi-version-3", do(rewords(`"v":2`, `"v":3`), at(fakes.Greeting))),
	fault("hi-version-text", do(rewords(`"v":2`, `"v":"2"`), at(fakes.Greeting))),
	fault("hi-without-space", do(rewords("HI ", "HI"), at(fakes.Greeting))),
}
