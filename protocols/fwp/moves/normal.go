package moves

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
)

// normalize returns a reply in parts that are the same on every server that means the same:
// names are those of steps, times are "time", and what a server chooses freely (the text of
// an error, a salt, the contents of INFO) is left out. A job has a part for each field.
func (l *fwpLaw) normalize(verb string, r fwp.Reply) []string {
	if !l.Compared {
		return nil
	}
	kind := string(r.Kind)
	switch {
	case r.Kind == fwp.ErrorReply, verb == fwp.INFO && r.Kind == fwp.BulkString:
		return []string{kind}
	case r.Kind != fwp.BulkString && r.Kind != fwp.SimpleString:
		return []string{fwplaw.Text(r)}
	}
	text, greeting := strings.CutPrefix(string(r.Text), "HI ")
	var fields map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	if d.UseNumber(); d.Decode(&fields) != nil || fields == nil {
		return []string{kind + l.symbols(string(r.Text))}
	}
	if greeting {
		kind += "HI "
		delete(fields, "i")
		delete(fields, "s")
	}
	parts := []string{kind + "{}"}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value, _ := json.Marshal(replaceTimes(fields[name])) // it was decoded from JSON
		parts = append(parts, name+": "+l.symbols(string(value)))
	}
	return parts
}

// replaceTimes returns a value with "time" in the place of every time.
func replaceTimes(value any) any {
	switch v := value.(type) {
	case string:
		if _, err := number.ParseTime(v); err == nil {
			return "time"
		}
	case []any:
		for i := range v {
			v[i] = replaceTimes(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = replaceTimes(v[name])
		}
	}
	return value
}
