package scenarios

import (
	"bytes"
	"errors"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// Framed reports whether the messages of the protocol are not lines.
func (g *Grammar) Framed() bool { return g.Lines.Encode != nil }

// Encode returns the bytes of a client's line. The error says what is wrong with the line.
func (g *Grammar) Encode(line string) ([]byte, error) {
	if g.Framed() {
		return g.Lines.Encode(line)
	}
	if g.Lines.WithBody != nil {
		line = g.Lines.WithBody(line)
	}
	return []byte(line + "\r\n"), nil
}

// Segments returns the bytes of a client line whose texts are known, one slice a segment. The error says what is wrong
// with the line.
func (g *Grammar) Segments(s *Send, texts []string) ([][]byte, error) {
	segments := make([][]byte, len(texts))
	for i, text := range texts {
		segments[i] = []byte(text)
	}
	switch last := len(texts) - 1; {
	case s.Raw:
	case g.Framed() && last > 0:
		return nil, errors.New("<|> works only in raw lines")
	case last == 0:
		var err error
		if segments[0], err = g.Encode(texts[0]); err != nil {
			return nil, err
		}
	default:
		segments[last] = append(segments[last], "\r\n"...)
	}
	if s.Bytewise {
		return bytes.SplitAfter(bytes.Join(segments, nil), nil), nil
	}
	return segments, nil
}

// TranscriptText returns what was sent as a transcript has it.
func (g *Grammar) TranscriptText(sent []byte) string {
	if g.Framed() {
		return g.Lines.Decode(sent)
	}
	return strings.TrimSpace(string(sent))
}

// VerbOf returns the verb of a line.
func (g *Grammar) VerbOf(line string) string {
	if g.Framed() {
		return g.Lines.Verb(line)
	}
	return verb(line)
}

// VerbSent returns the verb of what was sent.
func (g *Grammar) VerbSent(sent []byte) string {
	if g.Framed() {
		return g.Lines.Verb(g.Lines.Decode(sent))
	}
	return verb(string(sent))
}

// verb returns the word with which a line begins.
func verb(line string) string {
	word, _, _ := strings.Cut(line, " ")
	return strings.TrimRight(word, "\r\n")
}

// SentText returns a client line as the conversation has it.
func (g *Grammar) SentText(segments [][]byte, s *Send) string {
	data := bytes.Join(segments, nil)
	if g.Framed() && !s.Raw {
		line := g.Lines.Decode(data)
		if s.Bytewise {
			line += " (byte by byte)"
		}
		return line
	}
	if s.Bytewise {
		return text.Excerpt(data) + " (byte by byte)"
	}
	if !s.Raw {
		return text.Excerpt(bytes.TrimSuffix(bytes.Join(segments, []byte(Cut)), []byte("\r\n")))
	}
	return join(segments, " ", func(segment []byte) string {
		return `"` + strings.ReplaceAll(text.Excerpt(segment), `"`, `\"`) + `"`
	})
}
