package explore

import (
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/oracle"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/scenarios"
)

// bytes sends what are no lines, or lines that are no UTF-8.
func (g *generator) bytes(c *conn, _ *oracle.Conn) []Step {
	raw := func(segments ...string) Step {
		return Step{Kind: Send, Conn: c.number, Raw: true, Segments: segments}
	}
	switch g.IntN(6) {
	case 0: // a whole line follows, for servers that look for CRLF and nothing else
		return []Step{raw("INFO\n", "INFO\r\n")}
	case 1:
		return []Step{line(c.number, "%s", choose(g, []string{"INFO\rx", "IN\rFO", "INFO\r", "XY\rZZY"}))}
	case 2:
		push := `PUSH {"jid":"` + g.jid() + `","jobtype":"t","args":["` + "\xff" + `"],"queue":"` + g.queue() + `"}`
		return []Step{raw(choose(g, []string{"INFO \xff", "\xff\xfe", "BEAT {\"wid\":\"\xc3(\"}", push}) + "\r\n")}
	case 3: // only observed for a crash and for too many answers (AMB-06)
		return []Step{raw(strings.Repeat("INFO\r\n", 3))}
	case 4: // the rest never comes
		return []Step{raw(choose(g, []string{"INF", "PUSH {\"jid\":\"", "\r", "FETCH"})), g.ending(c.number)}
	}
	return []Step{raw("INFO\r\n" + "INFO x\r\n")}
}

// cut sends a line in segments, which mean nothing. (FWP-LINK-02)
func (g *generator) cut(c *conn, _ *oracle.Conn) []Step {
	text := "INFO"
	if g.IntN(2) == 0 {
		text = "PUSH " + strings.Replace(g.job(), "$filler(70KiB)", "x", 1)
	}
	if g.IntN(4) == 0 {
		return []Step{{Kind: Send, Conn: c.number, Segments: []string{text}, Bytewise: true}}
	}
	cuts := []string{text}
	for range 1 + g.IntN(2) {
		last := cuts[len(cuts)-1]
		at := cutAt(last, 1+g.IntN(max(1, min(len(last)-1, 12))))
		if at <= 0 || at >= len(last) {
			break
		}
		cuts = append(cuts[:len(cuts)-1], last[:at], last[at:])
	}
	return []Step{{Kind: Send, Conn: c.number, Segments: cuts}}
}

// cutAt moves a place to cut in front of a name that it would go through.
func cutAt(text string, at int) int {
	if i := strings.LastIndexByte(text[:at], '$'); i >= 0 {
		return i
	}
	return at
}

// wire sends bytes that no client would, on a connection that is given up after it. Then
// a new connection in its place and the neighbour show that the server is well: the one
// is greeted and answered, and the other gets what is its own.
func (g *generator) wire(c *conn, w *oracle.Conn) []Step {
	steps := []Step{{Kind: Send, Conn: c.number, Raw: true, Segments: g.fuzz(w.State == fwp.NotIdentified), Ahead: true}}
	switch g.IntN(4) {
	case 0: // nobody waits for an answer
	case 1:
		steps = append(steps, Step{Kind: Wait, For: time.Duration(1+g.IntN(3)) * time.Millisecond})
	default:
		steps = append(steps, Step{Kind: Await, Conn: c.number})
	}
	steps = append(steps, g.ending(c.number), Step{Kind: Open, Conn: c.number, Role: scenarios.Producer}, line(c.number, "INFO"))
	jid := g.jid()
	return append(steps,
		line(neighbourProducer, `PUSH {"jid":"%s","jobtype":"neighbour","args":[],"queue":"$queue0"}`, jid),
		line(neighbourWorker, `FETCH $queue0`),
		line(neighbourWorker, `ACK {"jid":"%s"}`, jid))
}
