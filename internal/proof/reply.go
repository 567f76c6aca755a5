package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// reply is one message of a server as bytes, with the last one before it in the play that is of the same kind and is
// another one; nil if there is none.
type reply struct{ raw, other []byte }

// mutation is a way in which a reply departs from the right one.
type mutation struct {
	name string // kind, field, without, character, cut, another, twice, late, close
	at   string // of kind, field and without: which one

	change  func(reply) []byte // nil: it is as it is
	delay   time.Duration      // by which it comes later
	isClose bool               // the connection ends instead
}

// lateDelay is more than anybody waits for a reply where nothing else is said.
const lateDelay = 15 * time.Second

// encoding is how the replies of a protocol are made of bytes.
type encoding struct {
	kinds  [][]byte                                        // replies of other kinds
	fields func(raw []byte) map[string]func([]byte) []byte // what changes one field, by its name
	parts  func(raw []byte) [][]byte                       // the texts of a reply, the last of which is changed and cut
	join   func(raw []byte, parts [][]byte) []byte         // a reply like another one with other texts
}

// encodings are those of the protocols.
func encodings(protocol string) encoding {
	return map[string]encoding{
		"fwp": {
			[][]byte{[]byte("-ERR wrong\r\n"), []byte("+OK\r\n"), []byte("$-1\r\n"), []byte("$2\r\n{}\r\n")},
			jsonFields, respParts, joinRESP,
		},
		"workq": {
			[][]byte{[]byte("+OK\r\n"), []byte("-NOT-FOUND\r\n"), []byte("-TIMEOUT\r\n"), []byte("+OK 0\r\n")},
			wordFields, wholeParts, joinWhole,
		},
		"emqp": {nil, frameFields, frames, joinFrames},
	}[protocol]
}

// mutations returns those that change a reply.
func (e encoding) mutations(r reply) (all []mutation) {
	change := func(name, at string, f func(reply) []byte) {
		if got := f(r); got != nil && !bytes.Equal(got, r.raw) {
			all = append(all, mutation{name: name, at: at, change: f})
		}
	}
	for i, kind := range e.kinds {
		if kind[0] != r.raw[0] || bytes.Contains(kind, []byte("-1")) {
			change("kind", strconv.Itoa(i), func(reply) []byte { return kind })
		}
	}
	fields := e.fields(r.raw)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		kind, at := "field", name
		if field, ok := strings.CutPrefix(name, leftOutPrefix); ok {
			kind, at = "without", field
		}
		change(kind, at, func(r reply) []byte {
			if f := e.fields(r.raw)[name]; f != nil {
				return f(r.raw)
			}
			return nil
		})
	}
	change("character", "", func(r reply) []byte { return e.changeLast(r.raw, alter) })
	change("cut", "", func(r reply) []byte { return e.changeLast(r.raw, firstHalf) })
	change("another", "", func(r reply) []byte {
		if r.raw[0] == '-' { // the text of an error is free
			return nil
		}
		return r.other
	})
	change("twice", "", func(r reply) []byte { return slices.Concat(r.raw, r.raw) })
	return append(all, mutation{name: "late", delay: lateDelay}, mutation{name: "close", isClose: true})
}

// changeLast returns a reply with another last text; nil if it has none, or is an error, whose text is free.
func (e encoding) changeLast(raw []byte, f func([]byte) []byte) []byte {
	parts := slices.Clone(e.parts(raw))
	if len(parts) == 0 || len(parts[len(parts)-1]) == 0 || raw[0] == '-' {
		return nil
	}
	parts[len(parts)-1] = f(slices.Clone(parts[len(parts)-1]))
	return e.join(raw, parts)
}

// firstHalf returns the first half of a text.
func firstHalf(text []byte) []byte { return text[:len(text)/2] }

// alter returns a text with another character in its middle.
func alter(text []byte) []byte {
	if len(text) == 0 {
		return []byte("x")
	}
	switch c := &text[len(text)/2]; {
	case *c >= '0' && *c < '9' || *c >= 'a' && *c < 'z' || *c >= 'A' && *c < 'Z':
		*c++
	default:
		*c = 'x'
	}
	return text
}

// respParts returns the text of a reply of RESP, none of a null.
func respParts(raw []byte) [][]byte {
	line, rest, _ := bytes.Cut(raw, []byte("\r\n"))
	switch {
	case raw[0] != '$':
		return [][]byte{line[1:]}
	case len(rest) < 2:
		return nil
	}
	return [][]byte{rest[:len(rest)-2]}
}

func joinRESP(raw []byte, parts [][]byte) []byte {
	if raw[0] != '$' {
		return fmt.Appendf(nil, "%c%s\r\n", raw[0], parts[0])
	}
	return fmt.Appendf(nil, "$%d\r\n%s\r\n", len(parts[0]), parts[0])
}

// leftOutPrefix stands before the name of a field that is left out.
const leftOutPrefix = "-"

// jsonFields changes the fields of the object in a reply, one at a time, and leaves one out.
func jsonFields(raw []byte) map[string]func([]byte) []byte {
	all := map[string]func([]byte) []byte{}
	for name := range object(raw) {
		all[name] = func(raw []byte) []byte {
			return withField(raw, func(o map[string]json.RawMessage) { o[name] = otherValue(o[name]) })
		}
		all[leftOutPrefix+name] = func(raw []byte) []byte {
			return withField(raw, func(o map[string]json.RawMessage) { delete(o, name) })
		}
	}
	return all
}

// object returns the object that the text of a reply ends with, nil if there is none.
func object(raw []byte) (o map[string]json.RawMessage) {
	parts := respParts(raw)
	if len(parts) == 0 {
		return nil
	}
	at := max(bytes.IndexByte(parts[0], '{'), 0)
	if json.Unmarshal(parts[0][at:], &o) != nil {
		return nil
	}
	return o
}

func withField(raw []byte, change func(map[string]json.RawMessage)) []byte {
	o, text := object(raw), respParts(raw)[0]
	change(o)
	result, err := json.Marshal(o)
	if err != nil {
		return nil
	}
	return joinRESP(raw, [][]byte{append(slices.Clone(text[:bytes.IndexByte(text, '{')]), result...)})
}

// otherValue returns another value of the same type.
func otherValue(value json.RawMessage) json.RawMessage {
	switch value[0] {
	case '"':
		return append(slices.Clone(value[:len(value)-1]), `x"`...)
	case '{':
		return json.RawMessage(`{"x":1}`)
	case '[':
		return json.RawMessage(`["x"]`)
	case 't':
		return json.RawMessage("false")
	case 'f', 'n':
		return json.RawMessage("true")
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return json.RawMessage("7")
	}
	return json.RawMessage(strconv.FormatInt(n+1, 10))
}

// wholeParts returns a reply of Workq without the end of its last line.
func wholeParts(raw []byte) [][]byte { return [][]byte{bytes.TrimSuffix(raw, []byte("\r\n"))} }

func joinWhole(_ []byte, parts [][]byte) []byte { return append(slices.Clone(parts[0]), "\r\n"...) }

// wordFields changes the words of a reply of Workq, one at a time; of an error its first one, as the others are free.
func wordFields(raw []byte) map[string]func([]byte) []byte {
	all := map[string]func([]byte) []byte{}
	for i, at := range words(raw) {
		if raw[0] == '-' && i > 0 {
			break
		}
		all[strings.TrimSpace(fmt.Sprintf("word %02d %s", i, keyOf(raw, at[0])))] = func(raw []byte) []byte {
			places := words(raw)
			if i >= len(places) {
				return nil
			}
			result := slices.Clone(raw)
			alter(result[places[i][1]-1 : places[i][1]])
			return result
		}
	}
	return all
}

// keyOf returns the key before a value of inspect, "" if there is none.
func keyOf(raw []byte, value int) string {
	before := string(raw[bytes.LastIndexByte(raw[:value], '\n')+1 : value])
	key := strings.TrimSuffix(before, " ")
	if key == before || strings.Trim(key, "abcdefghijklmnopqrstuvwxyz-") != "" {
		return ""
	}
	return key
}

// words returns where the words of a reply begin and end.
func words(raw []byte) (places [][2]int) {
	begin := -1
	for i, c := range raw {
		switch space := c == ' ' || c == '\r' || c == '\n'; {
		case !space && begin < 0:
			begin = i
		case space && begin >= 0:
			places, begin = append(places, [2]int{begin, i}), -1
		}
	}
	return places
}

// frames returns those of a message of ZMTP; nil if it is a command, or no message.
func frames(raw []byte) (all [][]byte) {
	const hasMore, long, command = 1, 2, 4
	for len(raw) > 1 {
		flags, size, head := raw[0], uint64(raw[1]), 2
		if flags > hasMore|long || flags&command != 0 {
			return nil
		}
		if flags&long != 0 {
			if head = 9; len(raw) < head {
				return nil
			}
			size = binary.BigEndian.Uint64(raw[1:head])
		}
		if uint64(len(raw)-head) < size {
			return nil
		}
		all, raw = append(all, raw[head:head+int(size)]), raw[head+int(size):] //nolint:gosec // it is not longer than raw
	}
	return all
}

func joinFrames(_ []byte, parts [][]byte) []byte { return zmtp.AppendMessage(nil, parts...) }

// ownID is the frame of a message of eMQP that has an id of the sender's making.
const ownID = 3

// frameFields changes the frames of a message of ZMTP, one at a time, but for those in which any text is right.
func frameFields(raw []byte) map[string]func([]byte) []byte {
	all := map[string]func([]byte) []byte{}
	for i := range frames(raw) {
		if i == ownID {
			continue
		}
		all[fmt.Sprintf("frame %d", i)] = func(raw []byte) []byte {
			parts := frames(raw)
			if i >= len(parts) {
				return nil
			}
			parts[i] = alter(slices.Clone(parts[i]))
			return joinFrames(raw, parts)
		}
	}
	return all
}
