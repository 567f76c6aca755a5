package variations

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// jsonVariations are about the JSON that the server writes, and what it reads.
var jsonVariations = []fakes.Variation{
	variation("json-depth",
		do(decline(fakes.AboutJSON, "the JSON is nested too deeply"), at(fakes.Checked), func(e *event) bool {
			return depth(e.Command.Args) > 32
		})),
	variation("json-doubles", delivered(func(job *object) {
		for _, name := range [...]string{"args", "custom"} {
			if value, err := decode(job.Get(name)); err == nil {
				job.Set(name, string(style{}.append(nil, doubles(value))))
			}
		}
	})),
	variation("json-escapes", restyled(style{escape: true})),
	variation("json-limits",
		do(decline(fakes.AboutJSON, "a value is out of range"), at(fakes.Checked), func(e *event) bool {
			return outOfRange(e.Command.Args)
		})),
	variation("json-more-fields", restyled(style{more: true})),
	variation("json-names-once",
		do(decline(fakes.AboutJSON, "a member is there twice"), valid(fwp.PUSH), func(e *event) bool {
			return twice(e.Command.Args)
		})),
	variation("json-numbers", restyled(style{numbers: true})),
	variation("json-sorted-backwards", restyled(style{backwards: true})),
	variation("json-surrogates-refused",
		do(func(e *event) { e.Err = &fakes.Refusal{About: fakes.AboutUTF8, Text: "half a character"} },
			at(fakes.LineRead), right, func(e *event) bool { return halfCharacter(e.Line) })),
	variation("json-white-space", restyled(style{roomy: true})),
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
		if f, err := value.Float64(); err == nil && !math.IsInf(f, 0) {
			return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
		}
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

// outOfRange reports whether JSON has NUL in a text, or a number beyond 64 bits.
func outOfRange(text []byte) bool {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		switch value := token.(type) {
		case string:
			if strings.Contains(value, "\x00") {
				return true
			}
		case json.Number:
			_, integer := value.Int64()
			_, double := value.Float64()
			if double != nil || integer != nil && !strings.ContainsAny(value.String(), ".eE") {
				return true
			}
		}
	}
}

// twice reports whether a hash within JSON has two members of the same name.
func twice(text []byte) bool {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return hashTwice(d)
}

// hashTwice is [twice] for the next value of a decoder; it reads that value to its end unless it returns true.
func hashTwice(d *json.Decoder) bool {
	token, err := d.Token()
	open, is := token.(json.Delim)
	if err != nil || !is {
		return false
	}
	names := map[json.Token]bool{}
	for d.More() {
		if open == '{' {
			name, err := d.Token()
			if err != nil {
				return false
			}
			if names[name] {
				return true
			}
			names[name] = true
		}
		if hashTwice(d) {
			return true
		}
	}
	_, _ = d.Token() // the end of the value; an error comes again
	return false
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
