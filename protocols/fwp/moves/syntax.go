package moves

import (
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
)

// slips break the syntax of a line with a JSON argument that is right otherwise, each in one place.
var slips = []func(line string) string{
	func(s string) string { return strings.Replace(s, " ", "  ", 1) }, // two spaces
	func(s string) string { return strings.Replace(s, " ", "\t", 1) }, // a tab
	func(s string) string { return s + " " },                          // a space behind
	func(s string) string { return " " + s },                          // a space before
	func(s string) string { // small letters
		verb, rest, _ := strings.Cut(s, " ")
		return strings.ToLower(verb) + " " + rest
	},
	func(s string) string { return s[:len(s)-1] + ",}" },                            // a comma behind the last field
	func(s string) string { return s + "{}" },                                       // a second object
	func(s string) string { return s + " {}" },                                      // a second object behind a space
	func(s string) string { return strings.Replace(s, "{", "{/* a comment */", 1) }, // a comment
	func(s string) string { return strings.ReplaceAll(s, `"`, "'") },                // apostrophes
	func(s string) string { return addField(s, `"retry":05`) },                      // a leading zero
	func(s string) string { return addField(s, `"retry":NaN`) },                     // no number
	func(s string) string { return addField(s, `"jobtype":"a`+"\t"+`b"`) },          // a tab in a text
	func(s string) string { return s + "\x00" },                                     // NUL
	func(s string) string { return s[:len(s)-1] },                                   // no brace
}

// addField puts one more member in front of those of the argument of a line.
func addField(line, member string) string { return strings.Replace(line, "{", "{"+member+",", 1) }

// badSyntax is a command that would be carried out but for one slip.
func (g *maker) badSyntax(c int, w *fwplaw.Conn) []explore.Step {
	text := g.legalCommand(w)
	if !strings.HasSuffix(text, "}") {
		bad := deal(g, "slip of "+text, []string{text + " ", text + " x", " " + text, strings.ToLower(text)})
		return []explore.Step{line(c, "%s", bad)}
	}
	verb, _, _ := strings.Cut(text, " ")
	return []explore.Step{line(c, "%s", deal(g, "slip of "+verb, slips)(text))}
}

// legalCommand is a command that is right, with all fields of its argument.
func (g *maker) legalCommand(w *fwplaw.Conn) string {
	jid, worker := g.anyHeldJID(), w.WID != ""
	switch verb := deal(g, "legal", []string{fwp.PUSH, fwp.ACK, fwp.FAIL, fwp.BEAT, fwp.INFO}); {
	case verb == fwp.PUSH:
		return fmt.Sprintf(`PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"%s"}`, g.jid(), g.queue())
	case verb == fwp.INFO || !worker && verb == fwp.BEAT:
		return fwp.INFO
	case verb == fwp.ACK:
		return `ACK {"jid":"` + jid + `"}`
	case verb == fwp.FAIL:
		return "FAIL " + g.failure(jid)
	}
	return `BEAT {"wid":"` + g.spellName(w.WID) + `","rss_kb":1}`
}

// jsonForm is a legal command in another form of JSON: blanks and tabs between its tokens, its members in another
// order, or names with escapes.
func (g *maker) jsonForm(c int, w *fwplaw.Conn) []explore.Step {
	const end = "-x"
	jid, queue := g.jid()+end, g.freshQueue()+end
	pushStep, fetch := push(c, jid, queue, `,"retry":0`), line(c, "FETCH %s", queue)
	jidMember := member{"jid", `"` + jid + `"`}
	write := func(verb string, fields ...member) explore.Step {
		return line(c, "%s {%s}", verb, g.writeMembers(verb, fields))
	}
	switch deal(g, "form", []string{fwp.PUSH, fwp.ACK, fwp.FAIL, fwp.BEAT}) {
	case fwp.PUSH:
		return []explore.Step{write(fwp.PUSH, jidMember, member{"jobtype", `"t"`}, member{"args", "[1,2]"},
			member{"queue", `"` + queue + `"`}, member{"retry", "3"}), fetch, ack(c, jid)}
	case fwp.ACK:
		return []explore.Step{pushStep, fetch, write(fwp.ACK, jidMember)}
	case fwp.FAIL:
		return []explore.Step{pushStep, fetch, write(fwp.FAIL, jidMember, member{"errtype", `"E"`}, member{"message", `"m"`},
			member{"backtrace", `["a line"]`})}
	}
	return []explore.Step{write(fwp.BEAT, member{"wid", `"` + g.spellName(w.WID) + `"`}, member{"rss_kb", "54176"})}
}

// writeMembers writes members in an order of its own, with blanks or a tab around their colons, or with escapes.
func (g *maker) writeMembers(verb string, fields []member) string {
	g.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	colon := deal(g, "colon of "+verb, []string{": ", ":\t", " : ", ":"})
	parts := make([]string, len(fields))
	for i, f := range fields {
		if colon == ":" {
			f.value = strings.Replace(f.value, `-x"`, `\u002dx"`, 1)
		}
		parts[i] = fmt.Sprintf("%q%s%s", f.name, colon, f.value)
	}
	return strings.Join(parts, ",")
}

// bufferLine is a line as long as the buffers of servers, or a little shorter or longer.
func (g *maker) bufferLine() string {
	size := deal(g, "buffer", []int{1024, 4096, 8192, 16384, 32768, 65536}) + g.IntN(3) - 1
	return fmt.Sprintf("FWP$filler(%d)", size-len("FWP\r\n"))
}
