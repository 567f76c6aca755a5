package reports

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/text"
)

// object is a line that ends with a JSON object, a job as a rule.
type object struct {
	before string // the object
	fields []field
}

// field is one of an object: its name and its value as JSON.
type field struct{ name, value string }

// objectOf returns the object of a line, if there is a whole one.
func objectOf(line string) (o object, is bool) {
	at := strings.IndexByte(line, '{')
	if at < 0 {
		return o, false
	}
	o.before = line[:at]
	dec := json.NewDecoder(strings.NewReader(line[at:]))
	if _, err := dec.Token(); err != nil {
		return o, false
	}
	for dec.More() {
		name, err := dec.Token()
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil {
			return o, false
		}
		o.fields = append(o.fields, field{fmt.Sprint(name), string(value)})
	}
	_, err := dec.Token()
	return o, err == nil && at+int(dec.InputOffset()) == len(line)
}

// known are the jobs that a reader has seen: the fields of each, by the value of jid.
type known map[string]map[string]string

// short is the length of a line that is not worth shortening, in bytes.
const short = 100

// brief returns a line without the fields that its reader can do without: those of a job that has been shown, unless
// they have another value now, and of an object that is long those behind its first ones. A field with one of some
// names stays, and no field is cut in two.
func (k known) brief(line string, names []string) string {
	o, is := objectOf(line)
	if !is {
		return abridged(line)
	}
	jid := o.value("jid")
	before := k[jid]
	if jid == "" || before == nil || len(line) <= short {
		return o.first(k, jid, names)
	}
	return o.write("as before", func(f field) bool {
		value, shown := before[f.name]
		before[f.name] = f.value
		return f.name == "jid" || slices.Contains(names, f.name) || !shown || value != f.value
	})
}

// first returns an object that was not shown before.
func (o *object) first(k known, jid string, names []string) string {
	if jid != "" {
		k[jid] = map[string]string{}
	}
	room := longest - len(o.before)
	for _, f := range o.fields {
		if slices.Contains(names, f.name) {
			room -= len(f.name) + len(f.value)
		}
	}
	return o.write("", func(f field) bool {
		if jid != "" {
			k[jid][f.name] = f.value
		}
		if slices.Contains(names, f.name) || f.name == "jid" {
			return true
		}
		size := len(f.name) + min(len(f.value), longest)
		room -= size
		return room >= 0
	})
}

// value returns the value of a field, empty if there is none.
func (o *object) value(name string) string {
	if f := Find(o.fields, func(f *field) bool { return f.name == name }); f != nil {
		return f.value
	}
	return ""
}

// write returns the line with the fields that are kept, and how many are left out.
func (o *object) write(how string, keep func(field) bool) string {
	var parts []string
	left := 0
	for _, f := range o.fields {
		if keep(f) {
			parts = append(parts, fmt.Sprintf("%q:%s", f.name, abridged(f.value)))
		} else {
			left++
		}
	}
	if left > 0 {
		parts = append(parts, " … "+JoinWith(" ", text.Count(left, "more field"), how))
	}
	return o.before + "{" + strings.Join(parts, ",") + "}"
}

// fieldName finds the names of fields in what was expected, and in how something differs.
var fieldName = regexp.MustCompile(`"(\w+)":|(?m:^)\.(\w+)`)

// matters returns the names of the fields that the evidence is about.
func (e *Evidence) matters() []string {
	var names []string
	for _, s := range append(slices.Clone(e.Differences), e.Expected) {
		for _, found := range fieldName.FindAllStringSubmatch(s, -1) {
			names = added(names, found[1]+found[2])
		}
	}
	return names
}
