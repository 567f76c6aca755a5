package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// encode writes JSON as it would be typed, without the escapes that HTML needs.
func encode(value any) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return "null"
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// stamp is how the server writes a time.
func (s *server) stamp(t time.Time) string {
	if s.variant == 25 {
		return t.In(time.FixedZone("", 2*3600)).Format("2006-01-02T15:04:05.000-07:00")
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// render writes a job as a consumer gets it.
func (s *server) render(j *job) string {
	out := maps.Clone(j.fields)
	set := func(name string, value any) { out[name] = rawJSON(encode(value)) }
	set("queue", j.queue)
	set("created_at", j.created)
	set("enqueued_at", s.stamp(j.enqueued))
	if j.failure != nil {
		out["failure"] = s.renderFailure(j.failure)
	}
	switch s.variant {
	case 22:
		for name, value := range map[string]any{
			"retry": j.retry, "reserve_for": int(j.reserve.Seconds()), "backtrace": j.keep, "custom": nil,
		} {
			if _, ok := out.get(name); !ok {
				set(name, value)
			}
		}
	case 23:
		dropDefaults(out, j)
	case 24:
		normalise(out)
	}
	return s.join(out)
}

func (s *server) renderFailure(f *failure) rawJSON {
	if s.variant == 29 {
		return rawJSON(encode(map[string]any{
			"class": f.Type, "text": f.Message, "trace": f.Backtrace, "when": s.stamp(f.At),
		}))
	}
	return rawJSON(encode(f))
}

// dropDefaults leaves out what the reader would assume anyway.
func dropDefaults(out hash, j *job) {
	if j.queue == defaultQueue {
		delete(out, "queue")
	}
	for name, usual := range map[string]string{
		"retry": "25", "reserve_for": "1800", "backtrace": "0", "custom": "null", "at": `""`,
	} {
		if string(out[name]) == usual {
			delete(out, name)
		}
	}
}

// normalise writes equal values in another way: 1.0 as 1, and escapes only where some readers like them.
func normalise(out hash) {
	for name, raw := range out {
		if bytes.Contains(bytes.ToLower(raw), []byte(`\ud`)) {
			continue // halves of surrogate pairs would not survive
		}
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		var value any
		if dec.Decode(&value) != nil {
			continue
		}
		value = walk(value, func(v any) any {
			number, ok := v.(json.Number)
			if !ok || !strings.HasSuffix(string(number), ".0") {
				return v
			}
			whole, err := strconv.ParseInt(strings.TrimSuffix(string(number), ".0"), 10, 64)
			if err != nil || whole == 0 {
				return v
			}
			return whole
		})
		if again, err := json.Marshal(value); err == nil {
			out[name] = again
		}
	}
}

// join writes the fields in order of their names, or the other way round.
func (s *server) join(out hash) string {
	names := slices.Sorted(maps.Keys(out))
	colon, comma := ":", ","
	if s.variant == 2 {
		slices.Reverse(names)
		colon, comma = " : ", " ,\t"
	}
	var text strings.Builder
	text.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			text.WriteString(comma)
		}
		text.WriteString(encode(name) + colon)
		text.Write(out[name])
	}
	text.WriteByte('}')
	return text.String()
}
