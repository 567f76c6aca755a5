package explore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// simplify makes the steps themselves simpler, as long as the finding shows: fewer
// connections, lines in one piece, nothing ahead, fewer fields, plainer values.
func (s *shrinker) simplify(ctx context.Context, t Trace) Trace {
	try := func(change func(steps []Step) bool) {
		next := t
		next.Steps = slices.Clone(t.Steps)
		if !s.spent(ctx) && change(next.Steps) && s.still(ctx, next) {
			t = next
		}
	}
	for _, from := range connections(t.Steps) {
		for _, to := range connections(t.Steps) {
			if from > to {
				try(func(steps []Step) bool { return merge(steps, from, to) })
			}
		}
	}
	t = s.reduce(ctx, t) // a merged connection is opened once too often
	for i := range t.Steps {
		t = s.fewerBytes(ctx, t, i)
		try(func(steps []Step) bool { return whole(&steps[i]) })
		try(func(steps []Step) bool { return behind(&steps[i]) })
		for _, text := range plainer(t.Steps[i].text()) {
			try(func(steps []Step) bool {
				steps[i].Segments = []string{text}
				return !steps[i].Raw && len(t.Steps[i].Segments) == 1
			})
		}
		for n := 1; n < 64 && !t.Steps[i].Raw; n++ { // each field that still is there
			fields := len(members(t.Steps[i].text()))
			if n > fields {
				break
			}
			try(func(steps []Step) bool { return drop(&steps[i], fields-n) })
		}
	}
	return t
}

func connections(steps []Step) []int {
	var all []int
	for _, step := range steps {
		if step.Kind == Open && !slices.Contains(all, step.Conn) {
			all = append(all, step.Conn)
		}
	}
	return all
}

// merge has one connection do what another did.
func merge(steps []Step, from, to int) bool {
	for i := range steps {
		if steps[i].Conn == from && steps[i].Kind == Open {
			steps[i] = Step{Kind: Await, Conn: to}
		}
		if steps[i].Conn == from && steps[i].Kind != Wait && steps[i].Kind != Operate {
			steps[i].Conn = to
		}
	}
	return true
}

// whole joins the segments of a line.
func whole(step *Step) bool {
	if step.Kind != Send || step.Raw || len(step.Segments) == 1 && !step.Bytewise {
		return false
	}
	step.Segments, step.Bytewise = []string{step.text()}, false
	return true
}

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
	var b bytes.Buffer
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", f.name, f.value)
	}
	return verb + " {" + b.String() + "}"
}

// needed are the fields that every command of its kind has.
var needed = []string{"jid", "jobtype", "args", "queue", "wid", "hostname", "pid", "labels", "v", "pwdhash"}

// drop leaves one field out, but for those that are needed. A FAIL is legal with all of
// them only, and a few retries are plainer than none that are spelled out.
func drop(step *Step, at int) bool {
	fields := members(step.text())
	if at < 0 || at >= len(fields) || len(step.Segments) != 1 || strings.HasPrefix(step.text(), "FAIL") {
		return false
	}
	if slices.Contains(needed, fields[at].name) || fields[at] == (member{"retry", "5"}) {
		return false
	}
	step.Segments = []string{join(step.text(), slices.Delete(fields, at, at+1))}
	return true
}

// plainer gives simpler forms of a line: a single queue, the usual values.
func plainer(text string) []string {
	if verb, args, ok := strings.Cut(text, " "); ok && verb == "FETCH" {
		var all []string
		for q := range strings.FieldsSeq(args) {
			if q != args {
				all = append(all, "FETCH "+q)
			}
		}
		return all
	}
	if text == "FETCH" {
		return []string{"FETCH default"}
	}
	fields := members(text)
	var all []string
	for i, f := range fields {
		if at, zoned, is := strings.Cut(f.value, "@"); is && len(zoned) > 0 { // a time with an offset
			other := slices.Clone(fields)
			other[i].value = at + `"`
			all = append(all, join(text, other))
		}
		usual := map[string]string{"args": "[]", "jobtype": `"t"`, "retry": "5", "reserve_for": "600", "backtrace": "[]"}[f.name]
		if strings.HasPrefix(text, "PUSH") && f.name == "backtrace" {
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
