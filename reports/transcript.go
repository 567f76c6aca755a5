package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// transcript returns a conversation with the place of the evidence marked; unless all of it is wanted, what leads to
// that.
func transcript(e *Evidence, all []Line, o PageOptions) Transcript {
	t := Transcript{
		Title: "conversation (time since the check began; C: client, S: server, --: the suite, >: the finding)",
	}
	if o.Verbose {
		for i := range all {
			t.Entries = append(t.Entries, e.entry(all, i))
		}
		return t
	}
	shown, before := relevant(all, e.Marked-1), -1
	if len(shown) == 0 {
		return t
	}
	jobs, names := known{}, e.matters()
	for n, i := range shown {
		entry := e.entry(all, i)
		if entry.Line.Text = jobs.brief(entry.Line.Text, names); n == 0 || entry.Mark != "" || !alike(all, before, i) {
			t.Entries = append(t.Entries, entry)
			before = i
			continue
		}
		if last := &t.Entries[len(t.Entries)-1]; last.More > 0 {
			last.More++
		} else {
			t.Entries = append(t.Entries, Entry{More: 1})
		}
	}
	if left := len(all) - len(shown); left > 0 {
		t.Entries = append(t.Entries, Entry{Omitted: left})
		for i := 0; o.Figures && i < len(all); i++ {
			t.All = append(t.All, e.entry(all, i))
		}
	}
	return t
}

// entry returns a line of a conversation, marked if the evidence is there.
func (e *Evidence) entry(all []Line, i int) Entry {
	if i != e.Marked-1 || e.Expected == "" {
		return Entry{Line: all[i]}
	}
	if len(e.Differences) > 0 {
		return Entry{Line: all[i], Mark: abridged(text.OneLine(strings.Join(e.Differences, "; ")))}
	}
	return Entry{Line: all[i], Mark: "expected " + abridged(text.OneLine(e.Expected))}
}

// exchange is a command and what was received until the next one on its connection, as places in a conversation.
type exchange struct {
	conn        string
	lines       []int
	own, remark bool // of the suite's; remark: one that belongs to no connection
	names       []string
}

// Limits of what is shown of a conversation, in exchanges.
const (
	mostShown = 12 // in all
	opening   = 2  // of a connection: the greeting, and the command that introduces the client
	leading   = 3  // before the finding, if no name leads to it
)

// relevant returns the places of the lines that lead to the one that is marked (the last one of a connection if none
// is): those of its connection, and those elsewhere that have a name in common with it. If these are many, they are its
// opening, those just before the mark, and those that share the mark's rarest name.
func relevant(all []Line, marked int) []int {
	found := exchanges(all, marked)
	if len(found) == 0 {
		return nil
	}
	at := found[0]
	for _, x := range found {
		if !x.own && (!x.remark || at.remark) {
			at = x
		}
		if slices.Contains(x.lines, marked) {
			at = x
			break
		}
	}
	shared := func(name string) bool { return slices.Contains(at.names, name) }
	turn := turning(at, found, all)
	kept := slices.DeleteFunc(slices.Clone(found), func(x *exchange) bool {
		elsewhere := x.conn != at.conn && !slices.ContainsFunc(x.names, shared)
		return x != at && x != turn && !x.remark && (x.own || elsewhere && !at.remark)
	})
	if len(kept) > mostShown {
		kept = narrowed(kept, at, turn)
	}
	var lines []int
	for _, x := range kept {
		lines = append(lines, x.lines...)
	}
	slices.Sort(lines)
	return lines
}

// turning returns the exchange with the rarest answer about nothing that has a name, the last one of these, such as one
// that tells a worker to be quiet: what comes behind it may come of it. What the suite did for itself is none. There is
// none where a finding is about an answer, and not about what the subject did.
func turning(at *exchange, found []*exchange, all []Line) (turn *exchange) {
	if all[at.lines[len(at.lines)-1]].From != FromSuite {
		return nil
	}
	firsts, times := map[string]*exchange{}, map[*exchange]int{}
	for _, x := range found {
		if x.own || x.remark || len(x.lines) < 2 || all[x.lines[0]].From != FromClient ||
			nameLike.MatchString(all[x.lines[1]].Text) {
			continue
		}
		kind := numbers.ReplaceAllString(all[x.lines[1]].Text, "0")
		if firsts[kind] == nil {
			firsts[kind] = x
		}
		times[firsts[kind]]++
	}
	for _, x := range found {
		if times[x] > 0 && (turn == nil || times[x] <= times[turn]) {
			turn = x
		}
	}
	return turn
}

// narrowed returns the exchanges that matter most of many.
func narrowed(all []*exchange, at, turn *exchange) []*exchange {
	last := slices.Index(all, at)
	kept := slices.Clone(all[max(0, last-mostShown/2) : last+1])
	if !at.remark {
		kept = nearest(all, at)
	}
	if turn != nil {
		kept = added(kept, turn)
	}
	if all[0].remark { // what the suite said of all of it
		kept = added(kept, all[0])
	}
	return kept
}

// nearest returns the exchanges that have most to do with one of them.
func nearest(all []*exchange, at *exchange) []*exchange {
	rare, fewest := "", len(all)+1
	for _, name := range at.names {
		many := 0
		for _, x := range all {
			if slices.Contains(x.names, name) {
				many++
			}
		}
		if many > 1 && many < fewest {
			rare, fewest = name, many
		}
	}
	own := slices.DeleteFunc(slices.Clone(all), func(x *exchange) bool { return x.conn != at.conn })
	middle := slices.DeleteFunc(slices.Clone(all), func(x *exchange) bool {
		return rare == "" || !slices.Contains(x.names, rare)
	})
	last, before := slices.Index(own, at), leading
	if rare != "" {
		before = 1
	}
	near := slices.Concat(own[:min(opening, last)], own[max(last-before, 0):last+1])
	middle = slices.DeleteFunc(middle, func(x *exchange) bool { return slices.Contains(near, x) })
	if more := len(middle) - (mostShown - len(near)); more > 0 {
		middle = middle[more:]
	}
	return slices.Concat(near, middle)
}

// exchanges returns what was said until the mark (until the end if there is none), in the order of its beginning. Lines
// that only the suite's own order are own.
func exchanges(all []Line, marked int) []*exchange {
	if marked >= 0 && marked < len(all) {
		all = all[:marked+1]
	}
	var found []*exchange
	open := map[string]*exchange{}
	for i, l := range all {
		x, remark := open[l.Conn], l.From == FromSuite && l.Conn == ""
		if x == nil || l.From == FromClient || remark {
			x = &exchange{conn: l.Conn, own: l.Own, remark: remark}
			found = append(found, x)
		}
		if !remark {
			open[l.Conn] = x
		}
		x.lines = append(x.lines, i)
		for _, name := range nameLike.FindAllString(instants.ReplaceAllString(l.Text, ""), -1) {
			x.names = added(x.names, name)
		}
	}
	return found
}

// nameLike finds words that are probably the name of one thing, such as a job, a queue or a worker: long, with digits.
var nameLike = regexp.MustCompile(`[A-Za-z0-9_.-]*[0-9][A-Za-z0-9_.-]{7,}|[A-Za-z0-9_.-]{7,}[0-9][A-Za-z0-9_.-]*`)

// instants are not names, nor are their parts.
var instants = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+`)

// alike reports whether two lines of a connection differ in no more than names and numbers.
func alike(all []Line, a, b int) bool {
	plain := func(s string) string { return numbers.ReplaceAllString(nameLike.ReplaceAllString(s, "0"), "0") }
	x, y := all[a], all[b]
	return x.Conn == y.Conn && x.From == y.From && plain(x.Text) == plain(y.Text)
}

// Lengths of values that are not shown whole.
const (
	longest  = 200 // characters
	aroundIt = 80  // what is wrong with it
	ofItsEnd = 40
	longRun  = 16 // equal characters
)

// abridged returns what was sent or received with "..." in the place of what is long or repeated in each of its lines.
func abridged(s string) string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		out = append(out, clipped(collapsed(line)))
	}
	return strings.Join(out, "\n")
}

// clipped returns a line without its middle, if it is long.
func clipped(line string) string {
	runes := []rune(line)
	if len(runes) <= longest {
		return line
	}
	first, last, middle := runes, runes, " ... "
	if at := text.Cut.FindStringIndex(line); at != nil {
		first, last, middle = []rune(line[:at[0]]), []rune(line[at[1]:]), line[at[0]:at[1]]
	} else if at := wrongAt(line); at > longest-ofItsEnd-aroundIt/2 && at < len(runes)-ofItsEnd {
		point := runes[at-aroundIt/2 : min(at+aroundIt/2, len(runes))]
		first, middle = runes[:longest-ofItsEnd-aroundIt], middle+string(point)+middle
	}
	return string(first[:min(len(first), longest-ofItsEnd)]) + middle + string(last[max(0, len(last)-ofItsEnd):])
}

// wrongAt returns the character at which the JSON object of a line breaks its grammar; -1 if it does not.
func wrongAt(line string) int {
	begin := strings.IndexByte(line, '{')
	if begin < 0 {
		return -1
	}
	var object json.RawMessage
	wrong, is := errors.AsType[*json.SyntaxError](json.NewDecoder(strings.NewReader(line[begin:])).Decode(&object))
	if !is {
		return -1
	}
	return utf8.RuneCountInString(line[:min(begin+int(wrong.Offset), len(line))]) - 1
}

// collapsed returns a line with its long runs of the same character shortened.
func collapsed(line string) string {
	var out strings.Builder
	runes := []rune(line)
	for i := 0; i < len(runes); {
		end := i
		for end < len(runes) && runes[end] == runes[i] {
			end++
		}
		if end-i >= longRun {
			out.WriteString(strings.Repeat(string(runes[i]), 3) + "..." + strings.Repeat(string(runes[i]), 3))
		} else {
			out.WriteString(string(runes[i:end]))
		}
		i = end
	}
	return out.String()
}

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
