package moves

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/protocols/fwp"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
)

// member is a field of an object as it is written.
type member struct{ name, value string }

// members splits the JSON argument of a line, nil if it has none.
func members(text string) []member {
	_, args, _ := strings.Cut(text, " ")
	d := json.NewDecoder(strings.NewReader(args))
	if t, err := d.Token(); err != nil || t != json.Delim('{') || !json.Valid([]byte(args)) {
		return nil
	}
	var all []member
	for d.More() {
		name, _ := d.Token()
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil
		}
		all = append(all, member{fmt.Sprint(name), string(value)})
	}
	return all
}

// join writes a line again.
func join(text string, fields []member) string {
	verb, _, _ := strings.Cut(text, " ")
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = fmt.Sprintf("%q:%s", f.name, f.value)
	}
	return verb + " {" + strings.Join(parts, ",") + "}"
}

// requiredFields are the fields that every command of its kind has.
var requiredFields = []string{"jid", "jobtype", "args", "queue", "wid", "hostname", "pid", "labels", "v", "pwdhash"}

// simplify tries plainer forms of a line: a single queue, plain values, fewer fields.
func simplify(line string, try func(plainer string) bool) {
	for n := 0; n < len(plainerForms(line)); n++ {
		if text := plainerForms(line)[n]; try(text) {
			line = text
			n-- // the next one is in its place
		}
	}
	for n := 1; n <= len(members(line)); n++ { // each field that still is there, from the last on
		if text := removeField(line, len(members(line))-n); text != "" && try(text) {
			line = text
			n-- // the one before is in its place
		}
	}
}

// removeField leaves one field out, but for those that are needed: "" if it is one of them. A
// FAIL is legal with all of them only, and a few retries are plainer than none that are
// spelled out.
func removeField(line string, at int) string {
	fields := members(line)
	f := fields[at]
	if strings.HasPrefix(line, fwp.FAIL) || slices.Contains(requiredFields, f.name) || f == (member{"retry", "5"}) {
		return ""
	}
	return join(line, slices.Delete(fields, at, at+1))
}

var usualValues = map[string]string{
	"args": "[]", "jobtype": `"t"`, "retry": "5", "reserve_for": "600", "backtrace": "[]",
}

// plainerForms returns simpler forms of a line: a single queue, the usual values.
func plainerForms(text string) []string {
	if verb, args, ok := strings.Cut(text, " "); ok && verb == fwp.FETCH {
		var all []string
		for _, q := range fwplaw.Words(args) {
			if q != args {
				all = append(all, fwp.FETCH+" "+q)
			}
		}
		return all
	}
	if text == fwp.FETCH {
		return []string{"FETCH default"}
	}
	fields := members(text)
	var all []string
	for i, f := range fields {
		if at, zoned, ok := strings.Cut(f.value, "@"); ok && len(zoned) > 0 { // a time with an offset
			other := slices.Clone(fields)
			other[i].value = at + `"`
			all = append(all, join(text, other))
		}
		usual := usualValues[f.name]
		if strings.HasPrefix(text, fwp.PUSH) && f.name == "backtrace" {
			usual = ""
		}
		if usual == "" || usual == f.value {
			continue
		}
		other := slices.Clone(fields)
		other[i].value = usual
		all = append(all, join(text, other))
	}
	return all
}
