package moves

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
)

// sendBytes sends what are no lines, or lines that are no UTF-8.
func (g *maker) sendBytes(c int, _ *fwplaw.Conn) []explore.Step {
	raw := func(segments ...string) explore.Step { return build().Bytes(c, segments...) }
	switch g.IntN(6) {
	case 0: // a whole line follows, for servers that look for CRLF and nothing else
		return []explore.Step{raw("INFO\n", "INFO\r\n")}
	case 1:
		return []explore.Step{line(c, "%s", choose(g, []string{"INFO\rx", "IN\rFO", "INFO\r", "XY\rZZY"}))}
	case 2:
		push := `PUSH {"jid":"` + g.jid() + `","jobtype":"t","args":["` + "\xff" + `"],"queue":"` + g.queue() + `"}`
		return []explore.Step{raw(choose(g, []string{"INFO \xff", "\xff\xfe", "BEAT {\"wid\":\"\xc3(\"}", push}) + "\r\n")}
	case 3: // only observed for a crash and for too many answers (AMB-06)
		return []explore.Step{raw(strings.Repeat("INFO\r\n", 3))}
	case 4: // the rest never comes
		return []explore.Step{raw(choose(g, []string{"INF", "PUSH {\"jid\":\"", "\r", "FETCH"})), g.ending(c)}
	}
	return []explore.Step{raw("INFO\r\n" + "INFO x\r\n")}
}

// maxBytewise is how long a line may be that is sent byte by byte, which takes a millisecond each.
const maxBytewise = 500

// cutLine sends a line in segments, which mean nothing. (FWP-LINK-02)
func (g *maker) cutLine(c int, _ *fwplaw.Conn) []explore.Step {
	if g.IntN(4) == 0 { // within a character
		jid, queue := g.jid(), g.queue()
		head := fmt.Sprintf(`PUSH {"jid":"%s","jobtype":"t","queue":"%s","retry":0,"args":["`, jid, queue)
		rest := choose(g, []string{"é", "漢", "😀"})
		at := 1 + g.IntN(len(rest)-1)
		return []explore.Step{build().Bytes(c, head, rest[:at], rest[at:]+"\"]}\r\n")}
	}
	text := "INFO"
	if g.IntN(2) == 0 {
		text = "PUSH " + g.job()
	}
	if g.IntN(4) == 0 && len(text) < maxBytewise {
		return []explore.Step{build().Bytewise(c, text)}
	}
	return []explore.Step{build().Bytes(c, g.cutTokens(append(build().Tokenize(text), "\r", "\n"))...)}
}

// lineMoves are the moves whose line is sent at other moments, too.
var lineMoves = []string{"push", "fetch", "ack", "fail", "beat", "info", "hello", "end"}

// atMoment has each verb be sent at each moment once: cut in its verb, in its argument, before and within its end, and
// with an end of the connection before the answer. That takes time, and jobs away that are followed.
func (g *maker) atMoment(name string, conn int, steps []explore.Step) []explore.Step {
	list := "moment of " + name
	isFollowed := g.ways != nil || g.Compared
	if isFollowed || len(steps) != 1 || !slices.Contains(lineMoves, name) || g.HasDealt(list) || g.IntN(12) > 0 {
		return steps
	}
	text := append(build().Tokenize(steps[0].Text()), "\r", "\n")
	cuts := []int{2, len(text) / 2, len(text) - 2, len(text) - 1}
	n := g.Deal(list, len(cuts)+len(endings))
	if n >= len(cuts) {
		return []explore.Step{sendAhead(steps[0]), explore.End(conn, endings[n-len(cuts)])}
	}
	at := cuts[n]
	return []explore.Step{build().Bytes(conn, text[:at].String(), text[at:].String())}
}

// sendFuzz sends bytes that no client would, on a connection that is given up after it. Then
// a new connection in its place and the neighbour show that the server is well: the one
// is greeted and answered, and the other gets what is its own.
func (g *maker) sendFuzz(c int, w *fwplaw.Conn) []explore.Step {
	steps := []explore.Step{sendAhead(build().Bytes(c, g.fuzz(w.State == fwp.NotIdentified)...))}
	switch g.IntN(4) {
	case 0: // no client waits for an answer
	case 1:
		steps = append(steps, explore.Wait(time.Duration(1+g.IntN(3))*time.Millisecond))
	default:
		steps = append(steps, build().Await(c))
	}
	steps = append(steps, g.ending(c), producer(c), line(c, "INFO"))
	return append(steps, g.controlJob()...)
}
