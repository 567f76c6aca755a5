package reports

import (
	"io"
	"strings"
)

// RenderText writes a page as text. Its room is above this one, so an internal test cannot import it: example_test.go
// sets it.
var RenderText func(p Page, o TextOptions) []byte

const textWidth = 100

// TextOptions is how tests have a page written as text.
type TextOptions struct {
	Color bool
	Width int
	Fit   bool
}

// WriteText writes a page as text.
func (p Page) WriteText(w io.Writer, o TextOptions) error {
	_, err := w.Write(RenderText(p, o))
	return err
}

func TextOf(blocks ...Block) string { return string(RenderText(Page{Blocks: blocks}, TextOptions{})) }

func joined(t Text) string { return t.String() }

// withoutColours returns text without the attributes of a terminal.
func withoutColours(s string) string {
	for _, attribute := range []string{"1", "2", "32", "1;31", "33", "35", "36", "0"} {
		s = strings.ReplaceAll(s, "\x1b["+attribute+"m", "")
	}
	return s
}
