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
	variation("json-doubles", changeDelivered(func(job *object) {
		for _, name := range [...]string{"args", "custom"} {
			if value, err := decode(job.Get(name)); err == nil {
				job.Set(name, string(style{}.append(nil, doubles(value))))
			}
		}
	})),
	variation("json-escapes", restyle(style{escape: true})),
	variation("json-limits",
		do(decline(fakes.AboutJSON, "a value is out of range"), at(fakes.Checked), func(e *event) bool {
			return isOutOfRange(e.Command.Args)
		})),
	variation("json-more-fields", restyle(style{extraMembers: true})),
	variation("json-names-once",
		do(decline(fakes.AboutJSON, "a member is there twice"), isValid(fwp.PUSH), func(e *event) bool {
			return hasMemberTwice(e.Command.Args)
		})),
	variation("json-numbers", restyle(style{numbers: true})),
	variation("json-sorted-backwards", restyle(style{isReversed: true})),
	variation("json-surrogates-refused",
		do(func(e *event) { e.Err = &fakes.Refusal{About: fakes.AboutUTF8, Text: "half a character"} },
			at(fakes.LineRead), hasNoError, func(e *event) bool { return hasHalfCharacter(e.Line) })),
	variation("json-white-space", restyle(style{isSpaced: true})),
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

// hasHalfCharacter reports whether a line has an escape of a surrogate that is not one of a pair.
func hasHalfCharacter(line []byte) bool {
	var text any
	d := json.NewDecoder(bytes.NewReader(line[bytes.IndexByte(line, ' ')+1:]))
	isEscaped := bytes.Contains(bytes.ToLower(line), []byte(`\ud`)) && !bytes.Contains(line, []byte("\uFFFD"))
	if !isEscaped || d.Decode(&text) != nil {
		return false
	}
	encoded, err := json.Marshal(text)
	return err == nil && (bytes.Contains(encoded, []byte(`\ufffd`)) || bytes.Contains(encoded, []byte("\uFFFD")))
}

// isOutOfRange reports whether JSON has NUL in a text, or a number beyond 64 bits.
func isOutOfRange(text []byte) bool {
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
			_, intErr := value.Int64()
			_, floatErr := value.Float64()
			if floatErr != nil || intErr != nil && !strings.ContainsAny(value.String(), ".eE") {
				return true
			}
		}
	}
}

// hasMemberTwice reports whether a hash within JSON has two members of the same name.
func hasMemberTwice(text []byte) bool {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return isHashWithTwin(d)
}

// isHashWithTwin is [hasMemberTwice] for the next value of a decoder, which it reads to its end unless it returns true.
func isHashWithTwin(d *json.Decoder) bool {
	token, err := d.Token()
	delim, ok := token.(json.Delim)
	if err != nil || !ok {
		return false
	}
	names := map[json.Token]bool{}
	for d.More() {
		if delim == '{' {
			name, err := d.Token()
			if err != nil {
				return false
			}
			if names[name] {
				return true
			}
			names[name] = true
		}
		if isHashWithTwin(d) {
			return true
		}
	}
	_, _ = d.Token() // the end of the value; an error comes again
	return false
}

// depth returns how many arrays and hashes are open at a time, in JSON that is valid.
func depth(text []byte) (maxDepth int) {
	now, isQuoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case isQuoted && c == '\\':
			i++
		case c == '"':
			isQuoted = !isQuoted
		case isQuoted:
		case c == '{' || c == '[':
			now++
			maxDepth = max(maxDepth, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return maxDepth
}
