package explore

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/fwpsuite/fwp/scenarios"
)

// oneLine makes a text one that a title can hold.
func oneLine(s string) string {
	const most = 150
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r < ' ' }), " ")
	return strings.ToValidUTF8(s[:min(len(s), most)], "")
}

var jobName = regexp.MustCompile(`\$jid\d+`)

// numbered makes the names of a repeated step those of a series.
func (w *writer) numbered(text string) string {
	if w.t.N <= 1 {
		return text
	}
	return jobName.ReplaceAllString(text, "$0#")
}

// playName is a name of a play behind its prefix, which is cut off; a repetition has its
// number behind.
var playName = regexp.MustCompile("\x00([a-z]+[0-9]*)(-[0-9]+)?")

// symbols writes the names of a play as a script does.
func (w *writer) symbols(text string) string {
	text = strings.ReplaceAll(text, w.r.prefix+"-", "\x00")
	text = strings.ReplaceAll(text, strings.Repeat("x", 70<<10), "$filler(70KiB)")
	for name, value := range w.r.times {
		text = strings.ReplaceAll(text, `"`+value+`"`, `"`+name+`"`)
		text = strings.ReplaceAll(text, value, name)
	}
	return playName.ReplaceAllStringFunc(text, func(name string) string {
		m := playName.FindStringSubmatch(name)
		if w.t.N > 1 && m[1][0] == 'j' {
			return "$" + m[1] + "#"
		}
		return "$" + m[1]
	})
}

// marked marks the client lines that break the protocol, which the linter knows best. A
// mark may bring up another line, or turn out to be wrong, hence the few rounds.
func marked(text string) string {
	for range 4 {
		lines := strings.Split(text, "\n")
		complaints := complained(text, lines)
		if len(complaints) == 0 {
			return text
		}
		for _, at := range complaints {
			lines[at] = toggled(lines[at])
		}
		text = strings.Join(lines, "\n")
	}
	return text
}

// complained lists the client lines, counted from 0, of which the linter complains.
func complained(text string, lines []string) []int {
	s, err := scenarios.Parse("found.fwp", []byte(text))
	if err != nil {
		return nil
	}
	var all []int
	for _, p := range scenarios.Lint(s) {
		if !p.Advice && p.Line >= 1 && p.Line <= len(lines) && strings.HasPrefix(lines[p.Line-1], "C") {
			all = append(all, p.Line-1)
		}
	}
	return all
}

// toggled puts the mark of a bad line before its colon, or takes it away.
func toggled(line string) string {
	head, rest, _ := strings.Cut(line, ":")
	if plain, is := strings.CutSuffix(head, " bad"); is {
		return plain + ":" + rest
	}
	if at, form, is := strings.Cut(head, " "); is { // raw, bytewise
		return at + " bad " + form + ":" + rest
	}
	return head + " bad:" + rest
}

var anyName = regexp.MustCompile(`\$(jid|queue|wid)\d+|\bc\d+\b`)

// onlyWorker is the opening of a worker whose id is the only one, and needs no name.
var onlyWorker = regexp.MustCompile(`(?m)^(connect .*as consumer) \{"wid":"\$wid"\}$`)

// renumber gives the names small numbers, in the order in which they come, and none
// where there is one only.
func renumber(text string) string {
	head, body, _ := strings.Cut(text, "\n\n")
	number, count := map[string]int{}, map[string]int{}
	for _, name := range anyName.FindAllString(body, -1) {
		if number[name] == 0 {
			count[sort(name)]++
			number[name] = count[sort(name)]
		}
	}
	short := func(name string) string {
		k := sort(name)
		if count[k] == 1 && k != "c" && number[name] > 0 {
			return k
		}
		return fmt.Sprintf("%s%d", k, max(number[name], 1))
	}
	body = anyName.ReplaceAllStringFunc(body, short)
	if strings.Count(body, "$wid") == 1 {
		body = onlyWorker.ReplaceAllString(body, "$1")
	}
	return anyName.ReplaceAllStringFunc(head, short) + "\n\n" + body
}

// sort is a name without its number.
func sort(name string) string { return strings.TrimRight(name, "0123456789") }
