package explore

import (
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/oracle"
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
		return []Step{raw(choose(g, []string{"INFO \xff\r\n", "\xff\xfe\r\n", "BEAT {\"wid\":\"\xc3(\"}\r\n", "PUSH {\"jid\":\"" + g.jid() + "\",\"jobtype\":\"t\",\"args\":[\"\xff\"],\"queue\":\"" + g.queue() + "\"}\r\n"}))}
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

// wire sends a conversation of which some bytes were changed, on a connection that is
// given up after it.
func (g *generator) wire(c *conn, w *oracle.Conn) []Step {
	text := []byte(choose(g, []string{
		"INFO\r\n", `BEAT {"wid":"fwpcheck"}` + "\r\n", `ACK {"jid":"fwpcheck"}` + "\r\n", `HELLO {"v":2}` + "\r\n", "FETCH fwpcheck\r\n",
		`FAIL {"jid":"fwpcheck","errtype":"E","message":"m","backtrace":["l"]}` + "\r\n", "END\r\n",
		`PUSH {"jobtype":"t","args":[1,2.5e3,"x",{"a":null}]}` + "\r\n",
	}))
	for range 1 + g.IntN(4) {
		text = g.mutate(text)
	}
	quoted := strings.ReplaceAll(string(text), "$", "$$")
	if strings.Contains(strings.ToUpper(quoted), "FLUSH") || strings.Contains(quoted, "PUSH ") && strings.Contains(quoted, `"jid"`) {
		quoted = "\r\n"
	}
	_ = w
	return []Step{{Kind: Send, Conn: c.number, Raw: true, Segments: []string{quoted}, Ahead: true},
		{Kind: Wait, For: time.Duration(1+g.IntN(2)) * time.Millisecond}, {Kind: End, Conn: c.number, Ending: scenarios.Closed}}
}

// mutate changes one place.
func (g *generator) mutate(text []byte) []byte {
	if len(text) == 0 {
		return []byte{'\n'}
	}
	at := g.IntN(len(text))
	out := append([]byte{}, text...)
	switch g.IntN(6) {
	case 0:
		out[at] ^= 1 << g.IntN(8)
	case 1:
		out[at] = byte(g.IntN(256))
	case 2:
		out = append(out[:at], text[min(len(text), at+1+g.IntN(4)):]...)
	case 3:
		out = append(out[:at], append([]byte(choose(g, []string{"\r", "\n", "\x00", "\xff", "{", "\"", "\\u0000", "99999999999999999999", " ", "\r\n", "é"})), text[at:]...)...)
	case 4:
		out = append(out, text[:at]...)
	default:
		out = append(out[:at], append([]byte(strings.Repeat(string(text[at]), 1+g.IntN(2000))), text[at:]...)...)
	}
	return out
}
