package html

import (
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// lineLimit is how many lines of a conversation or a script are written.
const lineLimit = 400

// transcript writes a conversation: a row for each line, with its time.
func (p *page) transcript(t reports.Transcript) {
	p.raw("<p class=note>%s</p>\n", esc(t.Title))
	entries := t.Entries
	if last := len(entries) - 1; len(t.All) > 0 && entries[last].Omitted > 0 {
		entries = entries[:last]
	}
	p.entries(entries)
	if len(entries) < len(t.Entries) {
		p.raw("<details class=all><summary>%s left out: the whole conversation</summary>\n",
			text.Count(t.Entries[len(entries)].Omitted, "line"))
		p.entries(t.All)
		p.raw("</details>\n")
	}
}

// entries writes lines of a conversation.
func (p *page) entries(entries []reports.Entry) {
	p.scroll("Conversation")
	p.raw("<table class=talk><tbody>\n")
	for i, e := range entries {
		switch {
		case i == lineLimit:
			p.raw("<tr><td colspan=4 class=faint>%s left out</td></tr>\n", text.Count(len(entries)-i, "line"))
		case i > lineLimit:
		case e.Omitted > 0:
			p.raw("<tr><td colspan=4 class=faint>%s left out</td></tr>\n", text.Count(e.Omitted, "line"))
		case e.Repeats > 0:
			p.raw("<tr><td colspan=4 class=faint>… %s like this</td></tr>\n", text.Count(e.Repeats, "more line"))
		default:
			p.entry(e)
		}
	}
	p.raw("</tbody></table></div>\n")
}

func (p *page) entry(e reports.Entry) {
	class := e.Line.From
	if e.Mark != "" {
		class += " marked"
	}
	p.raw("<tr class=\"%s\"><td class=right>%.3f s</td><td>%s</td><td>%s</td><td><code>%s</code></td></tr>\n",
		esc(class), e.Line.At.Seconds(), esc(e.Line.Conn), e.Line.Speaker(), esc(e.Line.Text))
	if e.Mark != "" {
		p.raw("<tr class=marked><td></td><td></td><td>^^</td><td><code>%s</code></td></tr>\n", esc(e.Mark))
	}
}

func (p *page) code(lines []string) {
	p.tables++
	p.raw("<pre tabindex=0 role=group aria-label=\"Text, part %d\">", p.tables)
	for i, line := range lines {
		if i == lineLimit {
			p.raw("%s left out\n", text.Count(len(lines)-i, "line"))
			break
		}
		p.raw("%s\n", esc(text.Inert(line)))
	}
	p.raw("</pre>\n")
}
