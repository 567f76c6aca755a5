package script

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/session"
	emqpsession "github.com/fwpsuite/fwp/protocols/emqp/session"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// encode returns the bytes of a line: a list of frames, or a command of ZMTP with its data as a string. A frame is a
// string with the escapes of Go, so that it can have any bytes, or a word without blanks, commas and brackets.
func encode(line string) ([]byte, error) {
	line = strings.TrimSpace(line)
	if rest, ok := strings.CutPrefix(line, "["); ok {
		frames, err := list(rest)
		if err != nil {
			return nil, err
		}
		return zmtp.AppendMessage(nil, frames...), nil
	}
	const maxName = 255 // by ZMTP
	name, data, hasData := strings.Cut(line, " ")
	if !commandName.MatchString(name) || len(name) > maxName {
		return nil, errors.New(`write a list of frames, ["", "eMQP/1.0", ...], or a command of ZMTP, such as PING "data"`)
	}
	c := zmtp.Command{Name: name}
	if hasData {
		unquoted, err := strconv.Unquote(strings.TrimSpace(data))
		if err != nil {
			return nil, fmt.Errorf("the data of %s must be one string in double quotes", name)
		}
		c.Data = []byte(unquoted)
	}
	return c.Append(nil), nil
}

var (
	commandName = regexp.MustCompile(`^[A-Z]+$`)
	bareFrame   = regexp.MustCompile(`^[^\s,"'\[\]]+`)
)

// list parses what follows the opening bracket of a list of frames.
func list(rest string) (frames [][]byte, err error) {
	for hasNext := true; hasNext; {
		frame, tail, err := frame(strings.TrimSpace(rest))
		if err != nil {
			return nil, err
		}
		frames, rest = append(frames, frame), strings.TrimSpace(tail)
		rest, hasNext = strings.CutPrefix(rest, ",")
	}
	if rest != "]" {
		return nil, fmt.Errorf("expected a comma between two frames or ] at the end of the line, got %q", text.Shorten(rest))
	}
	return frames, nil
}

// frame parses one frame, and returns what stands behind it.
func frame(s string) (frame []byte, tail string, err error) {
	if word := bareFrame.FindString(s); word != "" {
		return []byte(word), s[len(word):], nil
	}
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil || quoted[0] != '"' {
		return nil, "", fmt.Errorf("expected a frame, a string in double quotes or a name, got %q", text.Shorten(s))
	}
	unquoted, _ := strconv.Unquote(quoted) // QuotedPrefix has checked it
	return []byte(unquoted), s[len(quoted):], nil
}

// decode returns what was sent as a transcript has it.
func decode(sent []byte) string {
	item, err := ParseSent(sent)
	switch {
	case err != nil:
		return `"` + text.Excerpt(sent) + `"`
	case item.Kind == zmtp.IsCommand:
		return strings.TrimSpace(item.Command.Name + " " + text.Excerpt(item.Command.Data))
	}
	return emqpsession.Codec{}.Text(session.Message{Kind: emqpsession.Message, Parts: item.Parts})
}

// ParseSent returns the first item of what a client has sent behind its READY, a message or a command. The error is
// that of the reader of ZMTP.
func ParseSent(sent []byte) (zmtp.Item, error) {
	const limit = 64 << 20 // more than a script sends
	prefix := zmtp.Ready(nil).Append(zmtp.NewGreeting().Append(nil))
	r := zmtp.NewReader(bytes.NewReader(append(prefix, sent...)), zmtp.Limits{Message: limit})
	for range 2 { // the greeting and READY
		if _, err := r.Read(); err != nil {
			return zmtp.Item{}, err
		}
	}
	return r.Read()
}

// verb returns the third frame of a list, and the first word of another line.
func verb(line string) string {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "[")
	if !ok {
		word, _, _ := strings.Cut(rest, " ")
		return word
	}
	const command = 3
	for i := range command {
		f, tail, err := frame(strings.TrimSpace(rest))
		if err != nil {
			return ""
		}
		if i == command-1 {
			return string(f)
		}
		rest = strings.TrimPrefix(strings.TrimSpace(tail), ",")
	}
	return ""
}
