package moves

import (
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/conformance/explore"
)

// invalidBytes makes up bytes that the grammar does not have.
func (g *maker) invalidBytes() explore.Tokens {
	return build().Tokenize(deal(g, "monster", invalidTexts)(g))
}

// invalidTexts each write one kind of it, as texts stand in steps.
var invalidTexts = []func(g *maker) string{
	(*maker).nestedJSON, (*maker).edgeNumbers, (*maker).serverReplies, (*maker).announcedLengths, (*maker).repeatedVerbs,
	(*maker).controlBytes, (*maker).brokenJSON, (*maker).longLine, (*maker).foreignProtocol, (*maker).lineWithoutEnd,
}

// wrapValue wraps a value in a command that is refused or has no effect, whatever the value.
func (g *maker) wrapValue(value string) string {
	jid := fmt.Sprintf("$jid%d", fuzzedNames+g.Round)
	return choose(g, []string{
		fmt.Sprintf(`BEAT {"wid":"$wid%d","x":%s}`, fuzzedNames, value),
		fmt.Sprintf(`BEAT {"wid":%s}`, value),
		fmt.Sprintf(`ACK {"jid":%s}`, value),
		fmt.Sprintf(`FAIL {"jid":"%s","errtype":"E","message":"m","backtrace":%s}`, jid, value),
		g.fuzzedPush(fmt.Sprintf(`"args":[%s],"retry":0`, value)),
		fmt.Sprintf(`HELLO {"v":%s}`, value),
	}) + "\r\n"
}

// fuzzedPush is a PUSH to a queue that only fuzzed bytes use.
func (g *maker) fuzzedPush(fields string) string {
	n := fuzzedNames + g.Round
	return fmt.Sprintf(`PUSH {"jid":"$jid%d","jobtype":"t","queue":"$queue%d",%s}`, n, n, fields)
}

// nestedJSON is deeper than a parser's stack, and not always closed.
func (g *maker) nestedJSON() string {
	depth := choose(g, []int{60, 600, 6000, 30000})
	begin, end := "[", "]"
	if g.IntN(2) == 0 {
		begin, end = `{"a":`, "}"
	}
	inner := strings.Repeat(begin, depth)
	if g.IntN(3) > 0 { // else nothing is closed
		inner += "1" + strings.Repeat(end, depth)
	}
	return g.wrapValue(inner)
}

// edgeNumbers has numbers at the edges of types.
func (g *maker) edgeNumbers() string {
	n := choose(g, numbers)
	return choose(g, []string{
		g.wrapValue(n), g.wrapValue("[" + n + "," + n + "]"),
		g.fuzzedPush(`"args":[],"reserve_for":60,"retry":`+n) + "\r\n",
		g.fuzzedPush(`"args":[],"retry":0,"backtrace":`+n) + "\r\n",
		fmt.Sprintf(`HELLO {"hostname":"fwpcheck","wid":"$wid%d","pid":%s,"labels":[],"v":2}`, fuzzedNames+1, n) + "\r\n",
	})
}

// serverReplies sends what servers send.
func (g *maker) serverReplies() string {
	reply := deal(g, "reply", []string{
		"+OK\r\n", "-ERR no\r\n", "+HI {\"v\":2}\r\n", "$$-1\r\n", "$$0\r\n\r\n", "$$3\r\nabc\r\n", ":1\r\n",
		"*-1\r\n", "*0\r\n", "*2\r\n$$4\r\nINFO\r\n$$0\r\n\r\n", "_\r\n", "#t\r\n",
	})
	return strings.Repeat(reply, 1+g.IntN(6)) + choose(g, []string{"", "INFO\r\n"})
}

// announcedLengths announces more than it sends.
func (g *maker) announcedLengths() string {
	n := deal(g, "length", []string{
		"1", "65536", "2147483647", "2147483648", "4294967295", "9223372036854775807", "18446744073709551616",
		"-2", "-9223372036854775808", "1e9", "",
	})
	kind := choose(g, []string{"$$", "*", "=", "~", "%"})
	rest := choose(g, []string{"", "INFO\r\n", "$$4\r\nINFO\r\n", "x"})
	return kind + n + "\r\n" + rest
}

// repeatedVerbs sends one verb many times, on one line or many.
func (g *maker) repeatedVerbs() string {
	verb := choose(g, []string{"INFO", "HELLO", "BEAT", "ACK", "FAIL", "END", "PUSH"})
	n := choose(g, []int{2, 20, 2000})
	return choose(g, []string{
		strings.Repeat(verb+" ", n) + "\r\n", strings.Repeat(verb, n) + "\r\n",
		strings.Repeat(verb+"\r\n", n), verb + strings.Repeat(" {}", n) + "\r\n",
	})
}

// controlBytes sends bytes that end lines or texts elsewhere.
func (g *maker) controlBytes() string {
	c := choose(g, []string{"\x00", "\r", "\n", "\n\r", "\x1a", "\x04", "\xff", "\x7f", " ", "\t"})
	n := choose(g, []int{1, 3, 300, 20000})
	run := strings.Repeat(c, n)
	return choose(g, []string{run, "INFO" + run + "\r\n", run + "INFO\r\n", "IN" + c + "FO\r\nINFO\r\n"})
}

// brokenJSON ends lines within strings and objects, or has values that are not JSON.
func (g *maker) brokenJSON() string {
	value := choose(g, []string{
		`"\ud800"`, `"\udc00\ud800"`, "\"\x00\"", "\"\xc0\x80\"", `"\x41"`, `"a" "b"`, `{"a":1,"a":2}`, "/**/1",
		"tru", `{"":""}`, `{1:2}`, "[,]",
		"\ufeff1", `{"__proto__":{"a":1},"constructor":null}`,
	})
	return choose(g, []string{
		"BEAT {\"wid\":\r\n\"x\"}\r\n", "BEAT {\"wid\":\"x\r\ny\"}\r\n", "BEAT\r\n{\"wid\":\"x\"}\r\n",
		"ACK {\"jid\":\"x\"}\n{\"jid\":\"y\"}\r\n", g.wrapValue(value), g.wrapValue(value), g.wrapValue(value),
	})
}

// longLine sends a line that is longer than buffers are, now and then a few megabytes.
func (g *maker) longLine() string {
	size := choose(g, []string{"$filler(4095B)", "$filler(16KiB)", "$filler(64KiB)", "$filler(300KiB)"})
	if g.Round > 1000 && g.IntN(12) == 0 { // not in the first seconds, that is never in a short check
		size = choose(g, []string{"$filler(1024KiB)", "$filler(4096KiB)"})
	}
	return choose(g, []string{
		size + "\r\n", "INFO " + size + "\r\n", size, size + "\r\nINFO\r\n",
		g.wrapValue(`"` + size + `"`), g.wrapValue(`{"` + size + `":1}`), "BEAT {\"wid\":\"" + size,
	})
}

// foreignProtocol is of another protocol.
func (g *maker) foreignProtocol() string {
	return choose(g, []string{
		"GET / HTTP/1.1\r\nHost: fwpcheck\r\n\r\n", "\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03", "PING\r\n",
		"*1\r\n$$4\r\nPING\r\n", "EHLO fwpcheck\r\n", "\x00\x00\x00\x08\x04\xd2\x16\x2f",
	})
}

// lineWithoutEnd is a line without its end.
func (g *maker) lineWithoutEnd() string {
	tokens := build().Tokenize(g.conversation(true))
	return tokens[:1+g.IntN(max(1, len(tokens)-2))].String()
}
