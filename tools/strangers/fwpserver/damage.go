package main

import (
	"encoding/json"
	"strconv"
	"strings"
)

// The mutants that spoil the content of a job do it here.

// damageArgs is called for each PUSH, before the checks.
func (s *server) damageArgs(fields hash) {
	const most = 1<<16 - 1
	switch s.mutant {
	case 3:
		reshape(fields, func(v any) any {
			if text, ok := v.(string); ok && len(text) > most {
				return text[:most]
			}
			return v
		})
	case 41:
		reshape(fields, func(v any) any {
			if text, ok := v.(string); ok {
				text, _, _ = strings.Cut(text, "\x00")
				return text
			}
			return v
		})
	}
}

// damageRetry is called when a failed job goes back into its queue.
func (s *server) damageRetry(j *job) {
	switch s.mutant {
	case 7:
		j.fields["args"] = rawJSON(splitSurrogates(string(j.fields["args"])))
	case 40:
		reshape(j.fields, asFloat)
	case 42:
		delete(j.fields, "custom")
	case 48:
		j.created = s.stamp(s.now())
	}
}

func asFloat(v any) any {
	number, ok := v.(json.Number)
	if !ok {
		return v
	}
	float, err := number.Float64()
	if err != nil {
		return v
	}
	return rawJSON(strconv.FormatFloat(float, 'f', -1, 64))
}

// reshape applies change to all values in args that are neither array nor hash.
func reshape(fields hash, change func(any) any) {
	dec := json.NewDecoder(strings.NewReader(string(fields["args"])))
	dec.UseNumber()
	var args any
	if dec.Decode(&args) == nil {
		fields["args"] = rawJSON(encode(walk(args, change)))
	}
}

func walk(value any, change func(any) any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = walk(v[i], change)
		}
		return v
	case map[string]any:
		for name := range v {
			v[name] = walk(v[name], change)
		}
		return v
	}
	return change(value)
}

// splitSurrogates writes each half of an escaped surrogate pair as three bytes of its own, as
// programs do that hold text in 16-bit units.
func splitSurrogates(raw string) string {
	var out strings.Builder
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 >= len(raw) {
			out.WriteByte(raw[i])
			continue
		}
		unit, err := strconv.ParseUint(raw[min(i+2, len(raw)):min(i+6, len(raw))], 16, 16)
		if raw[i+1] == 'u' && err == nil && unit >= 0xd800 && unit <= 0xdfff {
			out.Write([]byte{0xe0 | byte(unit>>12), 0x80 | byte(unit>>6)&0x3f, 0x80 | byte(unit)&0x3f})
			i += 5
			continue
		}
		out.WriteString(raw[i : i+2])
		i++
	}
	return out.String()
}
