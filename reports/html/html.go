package html

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the style and the script
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

//go:embed page.css
var style string

//go:embed page.js
var script string

// Document is what is written.
type Document struct {
	// Title is the title of the file, and its first heading: "fwpcheck run" for example.
	Title string
	// Subject is what the result is about: the target.
	Subject string
	// Trail is links to what the page is a part of, above its title; none if it is empty.
	Trail reports.Text
	// Base is what links are relative to; empty: the page itself. Link returns where the id of a clause leads, empty: to
	// nothing; nil: no id is a link.
	Base string
	Link func(id string) string
	Page reports.Page
	// Data is the result as JSON, which Data reads back; none if it is empty.
	Data []byte
}

// Write writes a document. It writes once, and returns the error of that.
func Write(w io.Writer, d Document) error {
	p := &page{link: d.Link, anchors: anchorsOf(d.Page)}
	p.head(d)
	p.raw("<body>\n<header>\n")
	if !d.Trail.IsEmpty() {
		p.raw("<nav>%s</nav>\n", p.text(d.Trail))
	}
	p.raw("<h1>%s</h1>\n", esc(d.Title))
	if d.Subject != "" {
		p.raw("<p class=subject>%s</p>\n", esc(d.Subject))
	}
	outcome := ""
	for _, b := range d.Page.Blocks {
		if c, ok := b.(reports.Conclusion); ok {
			outcome = p.text(c.Words)
			p.raw("<p class=outcome>%s</p>\n<p class=facts>%s</p>\n", outcome, esc(c.Facts))
		}
	}
	for _, b := range d.Page.Blocks {
		if tiles, ok := b.(reports.Tiles); ok {
			p.tiles(tiles)
		}
	}
	p.raw("</header>\n<main>\n")
	for i, b := range d.Page.Blocks {
		if first, ok := b.(reports.Prose); i == 0 && ok && outcome == p.lines(first.Lines) {
			continue // it stands in the header
		}
		p.block(b)
	}
	p.end()
	p.raw("</main>\n")
	if err := p.data(d.Data); err != nil {
		return err
	}
	p.raw("<script>%s</script>\n</body>\n</html>\n", script)
	return reports.WriteOut(w, p.out.Bytes())
}

// page gathers the file.
type page struct {
	out       bytes.Buffer
	link      func(id string) string
	inSection bool // a section has begun and has not been closed
	fold      fold
	anchors   map[string]bool // of entries; false where the entry has been written
	tables    int
	figures   int
}

// fold is how far an entry is that can be folded: its headings come first, and then what it holds.
type fold uint8

const (
	noFold fold = iota
	foldHead
	foldBody
)

// anchorsOf returns the anchors of the entries of a page.
func anchorsOf(doc reports.Page) map[string]bool {
	all := map[string]bool{}
	for _, b := range doc.Blocks {
		if h, ok := b.(reports.Heading); ok && h.Anchor != "" {
			all[h.Anchor] = true
		}
	}
	return all
}

// tiles writes numbers side by side.
func (p *page) tiles(t reports.Tiles) {
	p.raw("<ul class=tiles>\n")
	for _, tile := range t.Tiles {
		p.raw("<li class=\"tile %s\" data-word=\"%s\"><b>%s</b> %s</li>\n", classes[tile.Style], esc(tile.Word),
			esc(tile.Value),
			esc(tile.Word))
	}
	p.raw("</ul>\n")
}

func (p *page) raw(format string, args ...any) { fmt.Fprintf(&p.out, format, args...) }

// longest is how many bytes one text has at most.
const longest = 4000

// esc returns a text that can neither be markup nor hide anything, cut where it is too long.
func esc(s string) string {
	if len(s) > longest {
		end := longest
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end] + " … (cut)"
	}
	return html.EscapeString(text.Printable(s))
}

// head writes what is not shown. The policy allows the own style and script, and nothing to be requested.
func (p *page) head(d Document) {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	title := d.Title
	if d.Subject != "" {
		title += ": " + d.Subject
	}
	p.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	p.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src %s; script-src %s\">\n",
		hash(style), hash(script))
	p.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
	p.raw("<meta name=\"color-scheme\" content=\"light dark\">\n")
	if d.Base != "" {
		p.raw("<base href=\"%s\">\n", esc(d.Base))
	}
	p.raw("<title>%s</title>\n<style>%s</style>\n</head>\n", esc(title), style)
}

// classes holds the class of each style.
var classes = [...]string{
	reports.Plain: "", reports.Strong: "strong", reports.Faint: "faint", reports.Good: "good", reports.Bad: "bad",
	reports.Caution: "caution", reports.Unclear: "unclear", reports.Optional: "optional",
}

// text returns a text with its styles.
func (p *page) text(x reports.Text) string {
	var out strings.Builder
	for _, span := range x {
		words := p.words(span)
		switch {
		case span.Text == "":
		case span.Text == "\n":
			out.WriteString("<br>")
		case span.Style == reports.Plain:
			out.WriteString(words)
		case span.Style == reports.Strong:
			out.WriteString("<b>" + words + "</b>")
		default:
			out.WriteString("<span class=" + classes[span.Style] + ">" + words + "</span>")
		}
	}
	return out.String()
}

// clauseID matches what may be the id of a clause.
var clauseID = regexp.MustCompile(`\b[A-Z][A-Z0-9]*(?:-[A-Z0-9a-z]+)+\b`)

// words returns the words of a span, with links.
func (p *page) words(span reports.Span) string {
	switch {
	case span.Link != "":
		return anchor(span.Link, esc(span.Text))
	case p.link == nil:
		return esc(span.Text)
	}
	return clauseID.ReplaceAllStringFunc(esc(span.Text), func(id string) string {
		if to := p.link(id); to != "" {
			return anchor(to, id)
		}
		return id
	})
}

func anchor(to, words string) string {
	return `<a href="` + html.EscapeString(to) + `">` + words + "</a>"
}

// unfold closes the entry that is open.
func (p *page) unfold() {
	if p.fold != noFold {
		p.raw("</details>\n")
		p.fold = noFold
	}
}

// end closes the section that is open.
func (p *page) end() {
	p.unfold()
	if p.inSection {
		p.raw("</section>\n")
	}
}

func (p *page) block(b reports.Block) {
	switch b.(type) {
	case reports.Heading, reports.Prose:
	default:
		p.fold = map[fold]fold{foldHead: foldBody, foldBody: foldBody}[p.fold]
	}
	switch b := b.(type) {
	case reports.Heading:
		p.heading(b)
	case reports.Prose:
		p.raw("<p>%s</p>\n", p.lines(b.Lines))
	case reports.Fields:
		p.fields(b)
	case reports.Table:
		p.table(b, "")
	case reports.Transcript:
		p.transcript(b)
	case reports.Code:
		p.code(b.Lines)
	case reports.Figure:
		p.figure(b)
	}
}

// heading begins a section: one of level 1 has a heading, and those below it a smaller one.
func (p *page) heading(h reports.Heading) {
	if h.Level == 1 {
		p.end()
		p.inSection = true
		p.raw("<section>\n<h2>%s</h2>\n", p.text(h.Text))
		return
	}
	id := ""
	if p.anchors[h.Anchor] {
		id, p.anchors[h.Anchor] = ` id="`+esc(h.Anchor)+`"`, false
	}
	if h.Anchor == "" || p.fold == foldHead { // of no entry, or of the same one
		p.raw("<h3 class=level%d%s>%s</h3>\n", h.Level, id, p.text(h.Text))
		return
	}
	p.unfold()
	p.raw("<details class=entry open%s><summary><h3 class=level%d>%s</h3></summary>\n", id, h.Level, p.text(h.Text))
	p.fold = foldHead
}

// lines returns lines below each other.
func (p *page) lines(all []reports.Text) string {
	var lines []string
	for _, x := range all {
		for _, line := range x.Lines() {
			lines = append(lines, p.text(line))
		}
	}
	return strings.Join(lines, "\n<br>")
}

// fields writes labelled values.
func (p *page) fields(f reports.Fields) {
	p.raw("<dl>\n")
	for _, field := range f.VisibleFields() {
		var lines []string
		for _, line := range field.Lines {
			lines = append(lines, p.text(line))
		}
		p.raw("<div><dt>%s</dt><dd>", esc(field.Label))
		if field.Wrap {
			p.raw("%s", strings.Join(lines, "<br>"))
		} else {
			p.raw("<code>%s</code>", strings.Join(lines, "<br>")) // no text of a peer begins a line of the file
		}
		p.raw("</dd></div>\n")
	}
	p.raw("</dl>\n")
}
