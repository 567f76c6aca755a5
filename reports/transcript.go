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
	places, before := relevantLines(all, e.MarkedLine-1), -1
	if len(places) == 0 {
		return t
	}
	jobs, names := knownJobs{}, e.fieldNames()
	for n, i := range places {
		entry := e.entry(all, i)
		if entry.Line.Text = jobs.shortLine(entry.Line.Text, names); n == 0 || entry.Mark != "" ||
			!isSimilar(all, before, i) {
			t.Entries, before = append(t.Entries, entry), i
			continue
		}
		if last := &t.Entries[len(t.Entries)-1]; last.Repeats > 0 {
			last.Repeats++
		} else {
			t.Entries = append(t.Entries, Entry{Repeats: 1})
		}
	}
	if rest := len(all) - len(places); rest > 0 {
		t.Entries = append(t.Entries, Entry{Omitted: rest})
		for i := 0; o.Figures && i < len(all); i++ {
			t.All = append(t.All, e.entry(all, i))
		}
	}
	return t
}

// entry returns a line of a conversation, marked if the evidence is there.
func (e *Evidence) entry(all []Line, i int) Entry {
	if i != e.MarkedLine-1 || e.Expected == "" {
		return Entry{Line: all[i]}
	}
	if len(e.Differences) > 0 {
		return Entry{Line: all[i], Mark: abridge(text.OneLine(strings.Join(e.Differences, "; ")))}
	}
	return Entry{Line: all[i], Mark: "expected " + abridge(text.OneLine(e.Expected))}
}

// exchange is a command and what was received until the next one on its connection, as places in a conversation.
type exchange struct {
	conn                 string
	lines                []int
	isInternal, isRemark bool // isInternal: the suite did it for itself; isRemark: it belongs to no connection
	names                []string
}

// Limits of what is shown of a conversation, in exchanges.
const (
	exchangeLimit = 12 // in all
	opening       = 2  // of a connection: the greeting, and the command that introduces the client
	leading       = 3  // before the finding, if no name leads to it
)

// relevantLines returns the places of the lines that lead to the one that is marked (the last one of a connection if
// none is): those of its connection, and those elsewhere that have a name in common with it. If these are many, they
// are its opening, those just before the mark, and those that share the mark's rarest name.
func relevantLines(all []Line, marked int) []int {
	list := exchanges(all, marked)
	if len(list) == 0 {
		return nil
	}
	at := list[0]
	for _, x := range list {
		if !x.isInternal && (!x.isRemark || at.isRemark) {
			at = x
		}
		if slices.Contains(x.lines, marked) {
			at = x
			break
		}
	}
	isShared := func(name string) bool { return slices.Contains(at.names, name) }
	turn := turningPoint(at, list, all)
	selection := slices.DeleteFunc(slices.Clone(list), func(x *exchange) bool {
		isElsewhere := x.conn != at.conn && !slices.ContainsFunc(x.names, isShared)
		return x != at && x != turn && !x.isRemark && (x.isInternal || isElsewhere && !at.isRemark)
	})
	if len(selection) > exchangeLimit {
		selection = narrow(selection, at, turn)
	}
	var lines []int
	for _, x := range selection {
		lines = append(lines, x.lines...)
	}
	slices.Sort(lines)
	return lines
}

// turningPoint returns the exchange with the rarest answer about nothing that has a name, the last one of these, such
// as one that tells a worker to be quiet: what comes behind it may come of it. What the suite did for itself is none.
// There is none where a finding is about an answer, and not about what the subject did.
func turningPoint(at *exchange, list []*exchange, all []Line) (turn *exchange) {
	if all[at.lines[len(at.lines)-1]].From != FromSuite {
		return nil
	}
	firsts, times := map[string]*exchange{}, map[*exchange]int{}
	for _, x := range list {
		if x.isInternal || x.isRemark || len(x.lines) < 2 || all[x.lines[0]].From != FromClient ||
			nameLike.MatchString(all[x.lines[1]].Text) {
			continue
		}
		kind := numbers.ReplaceAllString(all[x.lines[1]].Text, "0")
		if firsts[kind] == nil {
			firsts[kind] = x
		}
		times[firsts[kind]]++
	}
	for _, x := range list {
		if times[x] > 0 && (turn == nil || times[x] <= times[turn]) {
			turn = x
		}
	}
	return turn
}

// narrow returns the exchanges that matter most of many.
func narrow(all []*exchange, at, turn *exchange) []*exchange {
	last := slices.Index(all, at)
	selection := slices.Clone(all[max(0, last-exchangeLimit/2) : last+1])
	if !at.isRemark {
		selection = nearestExchanges(all, at)
	}
	if turn != nil {
		selection = addUnique(selection, turn)
	}
	if all[0].isRemark { // what the suite said of all of it
		selection = addUnique(selection, all[0])
	}
	return selection
}

// nearestExchanges returns the exchanges that have most to do with one of them.
func nearestExchanges(all []*exchange, at *exchange) []*exchange {
	rare, fewest := "", len(all)+1
	for _, name := range at.names {
		count := 0
		for _, x := range all {
			if slices.Contains(x.names, name) {
				count++
			}
		}
		if count > 1 && count < fewest {
			rare, fewest = name, count
		}
	}
	sameConn := slices.DeleteFunc(slices.Clone(all), func(x *exchange) bool { return x.conn != at.conn })
	middle := slices.DeleteFunc(slices.Clone(all), func(x *exchange) bool {
		return rare == "" || !slices.Contains(x.names, rare)
	})
	last, lead := slices.Index(sameConn, at), leading
	if rare != "" {
		lead = 1
	}
	base := slices.Concat(sameConn[:min(opening, last)], sameConn[max(last-lead, 0):last+1])
	middle = slices.DeleteFunc(middle, func(x *exchange) bool { return slices.Contains(base, x) })
	if excess := len(middle) - (exchangeLimit - len(base)); excess > 0 {
		middle = middle[excess:]
	}
	return slices.Concat(base, middle)
}

// exchanges returns what was said until the mark (until the end if there is none), in the order of its beginning. An
// exchange that begins with a line of the suite for itself is internal.
func exchanges(all []Line, marked int) []*exchange {
	if marked >= 0 && marked < len(all) {
		all = all[:marked+1]
	}
	var list []*exchange
	byConn := map[string]*exchange{}
	for i, l := range all {
		x, isRemark := byConn[l.Conn], l.From == FromSuite && l.Conn == ""
		if x == nil || l.From == FromClient || isRemark {
			x = &exchange{conn: l.Conn, isInternal: l.IsInternal, isRemark: isRemark}
			list = append(list, x)
		}
		if !isRemark {
			byConn[l.Conn] = x
		}
		x.lines = append(x.lines, i)
		for _, name := range nameLike.FindAllString(instants.ReplaceAllString(l.Text, ""), -1) {
			x.names = addUnique(x.names, name)
		}
	}
	return list
}

// nameLike finds words that are probably the name of one thing, such as a job, a queue or a worker: long, with digits.
var nameLike = regexp.MustCompile(`[A-Za-z0-9_.-]*[0-9][A-Za-z0-9_.-]{7,}|[A-Za-z0-9_.-]{7,}[0-9][A-Za-z0-9_.-]*`)

// instants are not names, nor are their parts.
var instants = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+`)

// isSimilar reports whether two lines of a connection differ in no more than names and numbers.
func isSimilar(all []Line, a, b int) bool {
	mask := func(s string) string { return numbers.ReplaceAllString(nameLike.ReplaceAllString(s, "0"), "0") }
	x, y := all[a], all[b]
	return x.Conn == y.Conn && x.From == y.From && mask(x.Text) == mask(y.Text)
}

// Lengths of values that are not shown whole.
const (
	longest    = 200 // characters
	errorWidth = 80  // what is wrong with it
	endWidth   = 40
	longRun    = 16 // equal characters
)

// abridge returns what was sent or received with "..." in the place of what is long or repeated in each of its lines.
func abridge(s string) string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		out = append(out, clip(collapse(line)))
	}
	return strings.Join(out, "\n")
}

// clip returns a line without its middle, if it is long.
func clip(line string) string {
	runes := []rune(line)
	if len(runes) <= longest {
		return line
	}
	first, last, middle := runes, runes, " ... "
	if at := text.Cut.FindStringIndex(line); at != nil {
		first, last, middle = []rune(line[:at[0]]), []rune(line[at[1]:]), line[at[0]:at[1]]
	} else if at := errorOffset(line); at > longest-endWidth-errorWidth/2 && at < len(runes)-endWidth {
		point := runes[at-errorWidth/2 : min(at+errorWidth/2, len(runes))]
		first, middle = runes[:longest-endWidth-errorWidth], middle+string(point)+middle
	}
	return string(first[:min(len(first), longest-endWidth)]) + middle + string(last[max(0, len(last)-endWidth):])
}

// errorOffset returns the character at which the JSON object of a line breaks its grammar; -1 if it does not.
func errorOffset(line string) int {
	begin := strings.IndexByte(line, '{')
	if begin < 0 {
		return -1
	}
	var object json.RawMessage
	syntaxErr, ok := errors.AsType[*json.SyntaxError](json.NewDecoder(strings.NewReader(line[begin:])).Decode(&object))
	if !ok {
		return -1
	}
	return utf8.RuneCountInString(line[:min(begin+int(syntaxErr.Offset), len(line))]) - 1
}

// collapse returns a line with its long runs of the same character shortened.
func collapse(line string) string {
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
	prefix string // of the line, before the object
	fields []field
}

// field is one of an object: its name and its value as JSON.
type field struct{ name, value string }

// objectOf returns the object of a line, if there is a whole one.
func objectOf(line string) (o object, ok bool) {
	at := strings.IndexByte(line, '{')
	if at < 0 {
		return o, false
	}
	o.prefix = line[:at]
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

// knownJobs are the jobs that a reader has seen: the fields of each, by the value of jid.
type knownJobs map[string]map[string]string

// shortLength is the length of a line that is not worth shortening, in bytes.
const shortLength = 100

// shortLine returns a line without the fields that its reader can do without: those of a job that has been shown,
// unless they have another value now, and of an object that is long those behind its first ones. A field with one of
// some names stays, and no field is cut in two.
func (k knownJobs) shortLine(line string, names []string) string {
	o, ok := objectOf(line)
	if !ok {
		return abridge(line)
	}
	jid := o.value("jid")
	values := k[jid]
	if jid == "" || values == nil || len(line) <= shortLength {
		return o.newLine(k, jid, names)
	}
	return o.write("as before", func(f field) bool {
		value, ok := values[f.name]
		values[f.name] = f.value
		return f.name == "jid" || slices.Contains(names, f.name) || !ok || value != f.value
	})
}

// newLine returns an object that was not shown before.
func (o *object) newLine(k knownJobs, jid string, names []string) string {
	if jid != "" {
		k[jid] = map[string]string{}
	}
	budget := longest - len(o.prefix)
	for _, f := range o.fields {
		if slices.Contains(names, f.name) {
			budget -= len(f.name) + len(f.value)
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
		budget -= size
		return budget >= 0
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
func (o *object) write(note string, keep func(field) bool) string {
	var parts []string
	count := 0
	for _, f := range o.fields {
		if keep(f) {
			parts = append(parts, fmt.Sprintf("%q:%s", f.name, abridge(f.value)))
		} else {
			count++
		}
	}
	if count > 0 {
		parts = append(parts, " … "+JoinWith(" ", text.Count(count, "more field"), note))
	}
	return o.prefix + "{" + strings.Join(parts, ",") + "}"
}

// fieldName finds the names of fields in what was expected, and in how something differs.
var fieldName = regexp.MustCompile(`"(\w+)":|(?m:^)\.(\w+)`)
