package scenarios

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
)

// bytes returns what is sent for a client line, one slice a segment.
func (th *thread) bytes(c *conn, s *Send) ([][]byte, error) {
	segments := make([][]byte, len(s.Segments))
	for i, t := range s.Segments {
		text, err := th.text(c, t, !s.Raw)
		if err != nil {
			return nil, err
		}
		if coding := th.dialect().Grammar().Coding; coding != nil && !s.Raw {
			if segments[i], err = coding.encode(text, len(segments)); err != nil {
				return nil, err
			}
			continue
		}
		if count := th.dialect().Grammar().Counted; count != nil && !s.Raw && len(segments) == 1 {
			text = count(text)
		}
		segments[i] = []byte(text)
	}
	if !s.Raw && th.dialect().Grammar().Coding == nil {
		last := len(segments) - 1
		segments[last] = append(segments[last], "\r\n"...)
	}
	if s.Bytewise {
		return bytes.SplitAfter(bytes.Join(segments, nil), nil), nil
	}
	return segments, nil
}

// encode returns the bytes of a line in segments, of which there can be one.
func (c *Coding) encode(line string, segments int) ([]byte, error) {
	if segments > 1 {
		return nil, errors.New("<|> cuts raw lines only")
	}
	return c.Encode(line)
}

// pauseBetween gives a segment time to arrive alone; without it the kernels on
// the way would join what the script has cut.
func pauseBetween(s *Send) time.Duration {
	if s.Bytewise {
		return time.Millisecond
	}
	return 20 * time.Millisecond
}

// sentText returns a client line as the conversation has it.
func (g *Grammar) sentText(segments [][]byte, s *Send) string {
	if g.Coding != nil && !s.Raw {
		line := g.Coding.Decode(bytes.Join(segments, nil))
		if s.Bytewise {
			line += " (byte by byte)"
		}
		return line
	}
	if !s.Raw && !s.Bytewise {
		return text.Excerpt(bytes.TrimSuffix(bytes.Join(segments, []byte("<|>")), []byte("\r\n")))
	}
	if s.Bytewise {
		return text.Excerpt(bytes.Join(segments, nil)) + " (byte by byte)"
	}
	quoted := make([]string, len(segments))
	for i, seg := range segments {
		quoted[i] = `"` + strings.ReplaceAll(text.Excerpt(seg), `"`, `\"`) + `"`
	}
	return strings.Join(quoted, " ")
}

// text fills in the names of a template. In lines (not in raw bytes) it escapes
// characters as JSON does.
func (th *thread) text(c *conn, t Template, line bool) (string, error) {
	return t.expand(func(r *ref) (string, error) {
		v, err := th.value(c, r)
		if err != nil {
			return "", err
		}
		if s, ok := v.(string); ok && line && r.kind == refPlain {
			quoted, err := marshal(s)
			if err != nil {
				return "", err
			}
			v = quoted[1 : len(quoted)-1]
		}
		return plain(v), nil
	})
}

// value computes a name of a client line.
func (th *thread) value(c *conn, r *ref) (any, error) {
	switch r.kind {
	case refObject:
		usual := th.dialect().Grammar().object(r.formula.Fields(th.scope.round >= 0))
		return th.merged(c, usual, r.object)
	case refValue:
		return th.computed(c, r)
	}
	return th.scope.use(r)
}

// computed returns the value of a computed name, for the connection that sends it or the
// one in the name.
func (th *thread) computed(c *conn, r *ref) (string, error) {
	if !r.same {
		th.mu.Lock()
		c = th.conns[r.conn]
		th.mu.Unlock()
		if c == nil {
			return "", fmt.Errorf("%s: there is no connection %s", r.text, r.conn)
		}
	}
	v, err := r.formula.Value(c.state, th.Password, r.variant)
	if err != nil {
		return "", fmt.Errorf("%s: %w", r.text, err)
	}
	return v, nil
}

// marshal is json.Marshal without the escapes meant for HTML.
func marshal(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", fmt.Errorf("encode %v: %w", v, err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// merged returns an object whose fields are those of usual, replaced or complemented by
// those of with; fields that are absent in with are left out.
func (th *thread) merged(c *conn, usual, with *Object) (string, error) {
	var b strings.Builder
	b.WriteByte('{')
	for _, f := range overlay(usual, with) {
		if _, out := f.value.(absent); out {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		text, err := th.json(c, f.value)
		if err != nil {
			return "", err
		}
		b.WriteString(strconv.Quote(f.key) + ":" + text)
	}
	b.WriteByte('}')
	return b.String(), nil
}

func overlay(usual, with *Object) []field {
	var all []field
	replaced := map[string]bool{}
	for _, f := range usual.fields {
		for _, w := range with.fields {
			if w.key == f.key {
				f = w
				replaced[w.key] = true
			}
		}
		all = append(all, f)
	}
	for _, w := range with.fields {
		if !replaced[w.key] {
			all = append(all, w)
		}
	}
	return all
}

// json returns a value that a script sends.
func (th *thread) json(c *conn, n node) (string, error) {
	switch n := n.(type) {
	case literal:
		return marshal(n.value)
	case interpolated:
		s, err := th.text(c, n.parts, false)
		if err != nil {
			return "", err
		}
		return marshal(s)
	case capture:
		v, err := th.value(c, n.ref)
		if err != nil {
			return "", err
		}
		return marshal(v)
	case array:
		texts := make([]string, len(n.elems))
		for i, e := range n.elems {
			var err error
			if texts[i], err = th.json(c, e); err != nil {
				return "", err
			}
		}
		return "[" + strings.Join(texts, ",") + "]", nil
	case *Object:
		return th.merged(c, &Object{}, n)
	}
	return "", fmt.Errorf("%s cannot be sent", n)
}
