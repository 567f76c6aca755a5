package worker

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
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// lineVariations are about lines and connections: introductions, heartbeats, ends. (Client Protocol Sender; HELLO;
// Client Lifecycle; BEAT; End State)
var lineVariations = []Variation{
	settingVariation("beat-every-10s", func(c *Config) { c.BeatEvery = 10 * time.Second }),
	settingVariation("beat-every-12s", func(c *Config) { c.BeatEvery = 12 * time.Second }),
	variation("beat-answers-order", answerOrder),
	variation("beat-irregular", beatIrregularly),
	variation("beat-not-at-once", skipFirst(at(Beating))),
	variation("beat-state-empty", actAt(Beating, fill("current_state", ""))),
	variation("beat-without-memory", actAt(Beating, field("rss_kb", nil))),
	variation("beat-without-state", actAt(Beating, field("current_state", nil))),
	variation("connections-renewed", catalogue.ActEveryNth(25, at(Ran), renew)),
	variation("end-reply-unread", actOnSend(fwp.END, func(e *Event) { e.Worker.skipEndReply(e.Conn) })),
	variation("exit-late", actAt(Exiting, func(e *Event) { e.Delay = 3 * time.Second })),
	variation("hash-upper-case", actAt(Introducing, func(e *Event) {
		if hash, ok := e.Fields["pwdhash"].(string); ok {
			e.Fields["pwdhash"] = strings.ToUpper(hash)
		}
	})),
	variation("hello-hash-unasked", actAt(Introducing, func(e *Event) {
		if !e.Hi.Protected {
			e.Fields["pwdhash"] = ""
		}
	})),
	variation("hello-late", actOnSend(fwp.HELLO, func(e *Event) { e.Delay = time.Second })),
	variation("hello-more-fields",
		actAt(Introducing, func(e *Event) { e.Fields["app"], e.Fields["rss_kb"] = "fwp", 1 })),
	variation("hello-no-labels", actAt(Introducing, field("labels", []string{}))),
	variation("info-between",
		actAt(Beating, func(e *Event) { _, _ = e.conn.roundTrip(context.Background(), fwp.INFO, nil) })),
	variation("json-ascii", actOnSend("", func(e *Event) { e.Line = ascii(e.Line) })),
	variation("json-slashes",
		actOnSend("", func(e *Event) { e.Line = bytes.ReplaceAll(e.Line, []byte("/"), []byte(`\/`)) })),
	variation("json-spaces",
		actOnSend("", func(e *Event) { e.Line = replace(`":"`, `" : "`)(replace(`{"`, `{ "`)(e.Line)) })),
	settingVariation("line-in-pieces", func(c *Config) { c.Wrap = func(nc net.Conn) net.Conn { return chunkWriter{nc} } }),
	variation("loss-long-pause", actAt(ConnectionLost, func(e *Event) { e.Delay = 5 * time.Second })),
	variation("quiet-closes", actAt(Fetching, func(e *Event) { e.Close = e.Skip })),
	variation("signal-quiet-ignored", actAt(Ordered, func(e *Event) { e.Skip = e.Skip || e.Signal == "TSTP" })),
	settingVariation("terminate-after-29s", func(c *Config) { c.Grace = 29 * time.Second }),
	settingVariation("terminate-at-once", func(c *Config) { c.Grace = time.Millisecond }),
	variation("unknown-worker-ends",
		catalogue.ActIf(isRefusal(fwp.BEAT), func(e *Event) { e.Exit = bytes.Contains(e.Reply.Text, []byte("Unknown")) })),
	variation("unknown-worker-ignored", catalogue.ActIf(isRefusal(fwp.BEAT), answerOK)),
	settingVariation("wid-odd", func(c *Config) {
		c.WID = rand.Text() + ` ü"\ 日本`
		c.Hostname, c.Labels = `höst "1"`, []string{"", "ünï 🦆", strings.Repeat("x", 300)}
	}),
}

// renew has all connections of the worker greet again.
func renew(e *Event) { e.Worker.renewal.Add(1) }

// beatIrregularly has pauses of 13, 11, 15 and 12 s between BEATs.
func beatIrregularly() func(*Event) {
	pauses := []time.Duration{13 * time.Second, 11 * time.Second, 15 * time.Second, 12 * time.Second}
	return catalogue.WithMemory(at(Beating), func(n *int, e *Event) {
		e.Interval = pauses[*n%len(pauses)]
		*n++
	})()
}

// answerOrder sends a BEAT when the first order has come. That calls the hook, so it waits outside of the memory.
func answerOrder() func(*Event) {
	first := skipFirst(isStateFromBeat)()
	return func(e *Event) {
		if first(e); e.Point == Ordered && e.Skip {
			e.Skip = false
			fields := Fields{"wid": e.Worker.cfg.WID, "current_state": e.State}
			_, _ = e.conn.roundTrip(context.Background(), fwp.BEAT, encode(fields))
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

// chunkWriter is a connection that writes segments of 48 bytes, 20 ms apart, or a hundred of a line that is long.
type chunkWriter struct{ net.Conn }

func (c chunkWriter) Write(p []byte) (n int, err error) {
	for piece := range slices.Chunk(p, max(48, len(p)/100)) {
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
