package fakes

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/fwp"
)

// valueVariations refuse values that are legal JSON and of no use, or keep numbers as most languages do.
func valueVariations() []Variation {
	return []Variation{
		variation("json-doubles", "AMB-16",
			"numbers in args and custom that are not integers of 64 bits are kept as double precision numbers",
			delivered(func(job *Object) {
				for _, name := range [...]string{"args", "custom"} {
					if value, err := decode(job.Get(name)); err == nil {
						job.Set(name, string(style{}.append(nil, doubles(value))))
					}
				}
			})),
		variation("json-surrogates-refused", "AMB-13",
			"a command with an escape of half a character is refused",
			on(LineRead, func(e *Event) {
				if e.Err == nil && halfCharacter(e.Line) {
					e.Err = refuse(AboutUTF8, "half a character")
				}
			})),
		variation("json-names-once", "Work units",
			"a PUSH in which a hash has two members of the same name is refused",
			when(Checked, fwp.PUSH, func(e *Event) {
				if e.Err == nil && twice(e.Command.Args) {
					e.decline(AboutJSON, "a member is there twice")
				}
			})).
			Leaving("workunit/duplicate-keys-again"),
		variation("json-depth", "AMB-14",
			"a command whose JSON is more than 500 levels deep is refused",
			on(Checked, func(e *Event) {
				if depth(e.Command.Args) > 500 {
					e.decline(AboutJSON, "the JSON is nested too deeply")
				}
			})),
		variation("error-long", "Server Protocol Sender",
			"errors have 6000 bytes",
			errorText(func(*Event) string { return "ERR " + strings.Repeat("why ", 1500) })),
	}
}

// doubles replaces numbers that are not integers of 64 bits by what a double precision number keeps of them.
func doubles(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			value[name] = doubles(member)
		}
	case []any:
		for i, element := range value {
			value[i] = doubles(element)
		}
	case json.Number:
		if _, err := value.Int64(); err == nil && value != "-0" {
			return value
		}
		f, err := value.Float64()
		if err != nil || math.IsInf(f, 0) {
			return value
		}
		return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
	}
	return value
}

// halfCharacter reports whether a line has an escape of a surrogate that is not one of a pair.
func halfCharacter(line []byte) bool {
	var text any
	d := json.NewDecoder(bytes.NewReader(line[bytes.IndexByte(line, ' ')+1:]))
	escaped := bytes.Contains(bytes.ToLower(line), []byte(`\ud`)) && !bytes.Contains(line, []byte("\uFFFD"))
	if !escaped || d.Decode(&text) != nil {
		return false
	}
	again, err := json.Marshal(text)
	return err == nil && (bytes.Contains(again, []byte(`\ufffd`)) || bytes.Contains(again, []byte("\uFFFD")))
}

// twice reports whether a hash within JSON has two members of the same name.
func twice(text []byte) bool {
	d := json.NewDecoder(bytes.NewReader(text))
	var inside []map[string]bool // the names of each hash that is open; nil for an array
	var name bool
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		hash := len(inside) > 0 && inside[len(inside)-1] != nil
		switch token {
		case json.Delim('{'), json.Delim('['):
			var names map[string]bool
			if token == json.Delim('{') {
				names = map[string]bool{}
			}
			inside, name = append(inside, names), true
			continue
		case json.Delim('}'), json.Delim(']'):
			inside = inside[:len(inside)-1]
			name = true
			continue
		}
		if !hash {
			continue
		}
		if text, is := token.(string); is && name {
			if inside[len(inside)-1][text] {
				return true
			}
			inside[len(inside)-1][text] = true
		}
		name = !name
	}
}

// depth returns how many arrays and hashes are open at a time, in JSON that is valid.
func depth(text []byte) (most int) {
	now, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			most = max(most, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return most
}
