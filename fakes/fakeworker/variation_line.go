package fakeworker

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// lineVariations are about lines and connections: introductions, heartbeats, ends. (Client Protocol Sender; HELLO;
// Client Lifecycle; BEAT; End State)
var lineVariations = []Variation{
	configured("beat-every-10s", "Client Lifecycle", "It sends a BEAT every 10 s.",
		func(c *Config) { c.BeatEvery = 10 * time.Second }),
	configured("beat-every-12s", "Client Lifecycle", "It sends a BEAT every 12 s.",
		func(c *Config) { c.BeatEvery = 12 * time.Second }),
	variation("beat-answers-order", "FWP-BEAT-11", "It says at once in another BEAT that it obeys an order.", answerOrder),
	variation("beat-irregular", "Client Lifecycle", "The pauses between its BEATs are of 11 to 15 s.", beatIrregularly),
	variation("beat-not-at-once", "Client Lifecycle", "It sends its first BEAT after 15 s.", skipFirst(at(Beating))),
	variation("beat-state-empty", "FWP-BEAT-11", "The current_state of its BEATs is empty, unless it has one.",
		on(Beating, fill("current_state", ""))),
	variation("beat-without-memory", "FWP-BEAT-12", "Its BEATs have no rss_kb.", on(Beating, field("rss_kb", nil))),
	variation("beat-without-state", "FWP-BEAT-11", "Its BEATs never have current_state.",
		on(Beating, field("current_state", nil))),
	variation("connections-renewed", "FWP-WRK-09", "It opens all its connections anew after each tenth job.",
		catalogue.Every(10, at(Ran), renew)),
	variation("end-reply-unread", "AMB-01", "It closes its connections behind END without waiting for a reply.",
		sent(fwp.END, func(e *Event) { e.Worker.hurry(e.Conn) })),
	variation("exit-late", "End State", "Its process ends three seconds after its last connection.",
		on(Exiting, func(e *Event) { e.Delay = 3 * time.Second })),
	variation("hash-upper-case", "AMB-03", "It writes the password hash in capitals.", on(Introducing, func(e *Event) {
		if hash, is := e.Fields["pwdhash"].(string); is {
			e.Fields["pwdhash"] = strings.ToUpper(hash)
		}
	})),
	variation("hello-hash-unasked", "HELLO", "Its HELLO to a server without a password has an empty pwdhash.",
		on(Introducing, func(e *Event) {
			if !e.Hi.Protected {
				e.Fields["pwdhash"] = ""
			}
		})),
	variation("hello-late", "HELLO", "It sends HELLO a second after it has read HI.",
		sent(fwp.HELLO, func(e *Event) { e.Delay = time.Second })),
	variation("hello-more-fields", "HELLO-07", "Its HELLO has fields that the specification does not have.",
		on(Introducing, func(e *Event) { e.Fields["app"], e.Fields["rss_kb"] = "fwp", 1 })),
	variation("hello-no-labels", "HELLO", "The list of its labels is empty.",
		on(Introducing, field("labels", []string{}))),
	variation("info-between", "FWP-STATE-03", "It sends INFO before each BEAT.",
		on(Beating, func(e *Event) { _, _ = e.conn.ask(context.Background(), fwp.INFO, nil) })),
	variation("json-ascii", "JSON", "It escapes all characters beyond ASCII.",
		sent("", func(e *Event) { e.Line = ascii(e.Line) })),
	variation("json-slashes", "JSON", "It escapes the slashes in its JSON.",
		sent("", func(e *Event) { e.Line = bytes.ReplaceAll(e.Line, []byte("/"), []byte(`\/`)) })),
	variation("json-spaces", "JSON", "White space stands in its JSON.",
		sent("", func(e *Event) { e.Line = replace(`":"`, `" : "`)(replace(`{"`, `{ "`)(e.Line)) })),
	configured("line-in-pieces", "LINK-02", "It writes its lines slowly, in segments of 48 bytes.",
		func(c *Config) { c.Wrap = func(nc net.Conn) net.Conn { return inPieces{nc} } }),
	variation("loss-long-pause", "FWP-WRK-05", "It waits for 5 s before it opens another connection.",
		on(Lost, func(e *Event) { e.Delay = 5 * time.Second })),
	variation("quiet-closes", "Quiet State", "A quiet worker ends the connections on which it fetched.",
		on(Fetching, func(e *Event) { e.Close = e.Skip })),
	variation("signal-quiet-ignored", "FWP-BEAT-11", "It goes on at SIGTSTP.",
		on(Ordered, func(e *Event) { e.Skip = e.Skip || e.Signal == "TSTP" })),
	configured("terminate-after-29s", "Terminating State",
		"It reports running jobs as failed 29 s after it was told to terminate.",
		func(c *Config) { c.Grace = 29 * time.Second }),
	configured("terminate-at-once", "Terminating State",
		"It reports running jobs as failed as soon as it has the order to terminate.",
		func(c *Config) { c.Grace = time.Millisecond }),
	variation("unknown-worker-ends", "FWP-WRK-12", "It ends when the server does not know it any more.",
		catalogue.On(refused(fwp.BEAT), func(e *Event) { e.Exit = bytes.Contains(e.Reply.Text, []byte("Unknown")) })),
	variation("unknown-worker-ignored", "FWP-WRK-12", "It works on when the server does not know it any more.",
		catalogue.On(refused(fwp.BEAT), okay)),
	configured("wid-odd", "HELLO", "Its wid, host name and labels have unusual characters.", func(c *Config) {
		c.WID = rand.Text() + ` ü"\ 日本`
		c.Hostname, c.Labels = `höst "1"`, []string{"", "ünï 🦆", strings.Repeat("x", 300)}
	}),
}

// renew has all connections of the worker greet again.
func renew(e *Event) { e.Worker.renewal.Add(1) }

// beatIrregularly has pauses of 13, 11, 15 and 12 s between BEATs.
func beatIrregularly() func(*Event) {
	pauses := []time.Duration{13 * time.Second, 11 * time.Second, 15 * time.Second, 12 * time.Second}
	return catalogue.Keep(at(Beating), func(n *int, e *Event) {
		e.Every = pauses[*n%len(pauses)]
		*n++
	})()
}

// answerOrder sends a BEAT when the first order has come. That calls the hook, so it waits outside of the memory.
func answerOrder() func(*Event) {
	first := skipFirst(isOrder)()
	return func(e *Event) {
		if first(e); e.Point == Ordered && e.Skip {
			e.Skip = false
			fields := Fields{"wid": e.Worker.cfg.WID, "current_state": e.State}
			_, _ = e.conn.ask(context.Background(), fwp.BEAT, encode(fields))
		}
	}
}

// ascii escapes the characters beyond ASCII in a line.
func ascii(line []byte) []byte {
	var out []byte
	for _, r := range string(line) {
		switch {
		case r < 0x80:
			out = append(out, byte(r))
		case r < 0x10000:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
	}
	return out
}

// inPieces is a connection that writes segments of 48 bytes, 20 ms apart.
type inPieces struct{ net.Conn }

func (c inPieces) Write(p []byte) (n int, err error) {
	for piece := range slices.Chunk(p, 48) {
		if n > 0 {
			time.Sleep(20 * time.Millisecond)
		}
		m, err := c.Conn.Write(piece)
		if n += m; err != nil {
			return n, err
		}
	}
	return n, nil
}
