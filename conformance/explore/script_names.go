package explore

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/fwpsuite/fwp/scenarios"
)

func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r < ' ' }), " ")
	return s[:min(len(s), 150)]
}

func orText(s, bad, other string) string {
	if s == bad || s == "RESP" || s == "" {
		return other
	}
	return s
}

var jobName = regexp.MustCompile(`\$jid\d+`)

// numbered makes the names of a repeated step those of a series.
// answers writes all answers that are still owed.
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
// marked marks the client lines that break the protocol, which the linter knows best.
// renumber gives the names small numbers, and none where there is one only.
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

func marked(text string) string {
	for range 4 {
		s, err := scenarios.Parse("found.fwp", []byte(text))
		if err != nil {
			return text
		}
		lines := strings.Split(text, "\n")
		changed := false
		for _, p := range scenarios.Lint(s) {
			if p.Advice || p.Line < 1 || p.Line > len(lines) || !strings.HasPrefix(lines[p.Line-1], "C") {
				continue
			}
			head, rest, _ := strings.Cut(lines[p.Line-1], ":")
			if cut, is := strings.CutSuffix(head, " bad"); is {
				head = cut
			} else if word, raw, is := strings.Cut(head, " "); is {
				head = word + " bad " + raw
			} else {
				head += " bad"
			}
			lines[p.Line-1], changed = head+":"+rest, true
		}
		if text = strings.Join(lines, "\n"); !changed {
			return text
		}
	}
	return text
}

var anyName = regexp.MustCompile(`\$(jid|queue|wid)\d+|\bc\d+\b`)

func renumber(text string) string {
	number := map[string]int{}
	count := map[string]int{}
	kind := func(name string) string { return strings.TrimRight(name, "0123456789") }
	head, body, _ := strings.Cut(text, "\n\n")
	for _, name := range anyName.FindAllString(body, -1) {
		if number[name] == 0 {
			count[kind(name)]++
			number[name] = count[kind(name)]
		}
	}
	short := func(name string) string {
		k := kind(name)
		switch {
		case number[name] == 0 || k == "c":
			return fmt.Sprintf("%s%d", k, max(number[name], 1))
		case count[k] == 1:
			return k
		}
		return fmt.Sprintf("%s%d", k, number[name])
	}
	body = anyName.ReplaceAllStringFunc(body, short)
	if count["$wid"] == 1 {
		body = strings.ReplaceAll(body, ` {"wid":"$wid"}`+"\nC", "\nC")
		body = regexp.MustCompile(`(?m)^(connect .*as consumer) \{"wid":"\$wid"\}$`).ReplaceAllString(body, "$1")
	}
	return anyName.ReplaceAllStringFunc(head, short) + "\n\n" + body
}
