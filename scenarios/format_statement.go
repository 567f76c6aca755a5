package scenarios

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// lineOf is the line of a step, the first one if it is a block.
func lineOf(s Step) string {
	switch s := s.(type) {
	case *Connect:
		return s.line()
	case *Send:
		return s.line()
	case *Expect:
		return s.line()
	case *Silence:
		words := []string{"silence", duration(s.For, s.duration)}
		if len(s.Conns) > 0 {
			words = append(append(words, "on"), s.Conns...)
		}
		return strings.Join(words, " ")
	case *Operate:
		if s.Action.OnWorker() {
			return string(s.Action) + " " + s.Worker.String()
		}
		return string(s.Action)
	}
	return s.(*Block).line()
}

func (s *Connect) line() string {
	words := []string{"connect", s.Conn, "as", s.Role.String()}
	if s.Conn == "" {
		words = append(words[:1], words[2:]...)
	}
	if s.Hello != nil {
		words = append(words, s.Hello.source)
	}
	return strings.Join(words, " ")
}

func (s *Send) line() string {
	text, isRaw := s.payload()
	words := []string{side('C', s.Conn)}
	for _, mode := range []struct {
		isSet bool
		word  string
	}{{s.Bad, "bad"}, {isRaw, "raw"}, {s.Bytewise, "bytewise"}} {
		if mode.isSet {
			words = append(words, mode.word)
		}
	}
	form := strings.Join(words, " ")
	if text == "" {
		return form + ":"
	}
	return form + ": " + text
}

// payload is what stands behind the colon of a client line. It reports whether
// it is raw, as it is where the text cannot stand on a line.
func (s *Send) payload() (text string, isRaw bool) {
	if s.Ending != Open {
		return s.Ending.String(), false
	}
	if text = JoinSegments(s.Segments); !s.Raw && fitsOnLine(text) {
		return text, false
	}
	texts := make([]string, len(s.Segments))
	for i, t := range s.Segments {
		texts[i] = t.String()
	}
	if !s.Raw {
		texts[len(texts)-1] += "\r\n"
	}
	for i, text := range texts {
		texts[i] = strconv.Quote(text)
		if len(s.quoted) != len(texts) {
			continue
		}
		if written, err := strconv.Unquote(s.quoted[i]); err == nil && written == text {
			texts[i] = s.quoted[i]
		}
	}
	return strings.Join(texts, " "), true
}

// fitsOnLine reports whether a client line with this text parses to that text.
func fitsOnLine(text string) bool {
	_, ending := clientEndings[strings.TrimSpace(text)]
	return !ending && utf8.ValidString(text) && !strings.Contains(text, "\n") && !strings.HasSuffix(text, "\r")
}

func (e *Expect) line() string {
	words := []string{side('S', e.Conn)}
	if w := e.Window.source(); w != "" {
		words = append(words, w)
	}
	line := strings.Join(words, " ") + ": " + join(e.Choices, " | ", func(ch Choice) string { return ch.source })
	if strings.HasSuffix(line, "\r") { // it would be taken for the end of the line
		line += " "
	}
	return line
}

func (b *Block) line() string {
	switch {
	case b.Kind == Repeat:
		return b.repeatLine()
	case b.Window != (Window{}):
		return b.Kind.String() + " " + b.Window.source()
	}
	return b.Kind.String()
}

func (b *Block) repeatLine() string {
	line := fmt.Sprintf("repeat %d", b.Count)
	if b.By > 0 {
		line += fmt.Sprintf(" by %d %s", b.By, b.Role)
		if b.Role != Raw {
			line += "s"
		}
	}
	if b.Limit > 0 {
		line += " .." + b.Limit.String()
	}
	return line
}

// side is how a transcript line begins.
func side(letter byte, conn string) string {
	if conn == "" {
		return string(letter)
	}
	return string(letter) + "[" + conn + "]"
}

// source is a window as a script writes it, or "" for none.
func (w Window) source() string {
	if window, err := parseReplyWindow(w.written, 0); err == nil && window == w {
		return w.written
	}
	bound := func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return d.String()
	}
	return bound(w.From) + ".." + bound(w.To)
}

// duration is a time as a script writes it: as it was written, if it still is
// that time.
func duration(d time.Duration, written string) string {
	if other, err := time.ParseDuration(written); err == nil && other == d {
		return written
	}
	return d.String()
}
