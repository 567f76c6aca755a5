package explore

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/scenarios"
)

// titleOf returns s as a title can hold it: one line, and not too long.
func titleOf(s string) string {
	const limit = 150
	s = text.Printable(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r < ' ' }), " "))
	return strings.ToValidUTF8(s[:min(len(s), limit)], "")
}

// rename returns the name in the script for one of the conversation: repeated jobs have
// indexed names.
func (w *writer) rename(name string) string {
	if w.t.N > 1 && w.isJob(name[1:]) && !strings.HasSuffix(name, "#") {
		name += "#"
	}
	return w.names.shorten(name)
}

// isJob reports whether a name is that of a job.
func (w *writer) isJob(base string) bool {
	jobs := w.r.subject.Jobs
	return jobs != "" && familyOf(w.Script.Dialect.Grammar(), base) == jobs
}

// playName is a name of a play behind its prefix, which is cut off; a repetition has its
// number behind.
var playName = regexp.MustCompile("\x00([a-z]+[0-9]*)(-[0-9]+)?")

// symbols writes the names of a play as a script does.
func (w *writer) symbols(text string) string {
	text = strings.ReplaceAll(text, w.r.prefix+"-", "\x00")
	const filler = "$filler(70KiB)"
	text = strings.ReplaceAll(text, (&names{dialect: w.Script.Dialect}).fill(filler, noConn), filler)
	for name, value := range w.r.times {
		text = strings.ReplaceAll(text, `"`+value+`"`, `"`+name+`"`)
		text = strings.ReplaceAll(text, value, name)
	}
	return playName.ReplaceAllStringFunc(text, func(name string) string {
		m := playName.FindStringSubmatch(name)
		switch {
		case w.t.N <= 1: // what is behind it is a part of the name
			return "$" + m[1] + m[2]
		case w.isJob(m[1]):
			return "$" + m[1] + "#"
		}
		return "$" + m[1]
	})
}

// shortNames gives names small numbers in the order of their first use, and no number
// where a family has one name only. Names must be counted before they are shortened.
type shortNames struct {
	dialect scenarios.Dialect
	number  map[string]int // by family and number: $jid12, c4
	count   map[string]int // of the names of a family
	uses    map[string]int // of all names of a family
	isFinal bool           // all names have been counted
}

func newShortNames(d scenarios.Dialect) *shortNames {
	return &shortNames{dialect: d, number: map[string]int{}, count: map[string]int{}, uses: map[string]int{}}
}

// shorten is the short name for a name such as $jid12, $queue3# or c4.
func (n *shortNames) shorten(name string) string {
	first := strings.IndexAny(name, digits)
	if n == nil || first < 0 {
		return name
	}
	family := name[:first]
	rest := strings.TrimLeft(name[first:], digits)
	numbered := strings.TrimSuffix(name, rest)
	switch {
	case !n.isFinal:
		n.uses[family]++
		if n.number[numbered] == 0 {
			n.count[family]++
			n.number[numbered] = n.count[family]
		}
		return name
	case n.count[family] == 1 && n.number[numbered] == 1 && family != connFamily:
		return family + rest
	}
	return family + strconv.Itoa(max(n.number[numbered], 1)) + rest
}

const (
	digits     = "0123456789"
	connFamily = "c"
)

// conn is the name of a connection.
func (n *shortNames) conn(number int) string { return n.shorten(connName(number)) }

// isSingleUse reports whether a family has one name that is used once.
func (n *shortNames) isSingleUse(family string) bool {
	return n != nil && n.isFinal && n.uses[family] == 1
}

// title is a title with short names for those that the script has.
func (n *shortNames) title(text string) string {
	segments, err := scenarios.ParseTemplate(n.dialect, text)
	if err != nil || !n.isFinal {
		return text
	}
	for i, t := range segments {
		if segments[i], err = t.Rename(n.shorten); err != nil {
			return text
		}
	}
	return scenarios.JoinSegments(segments)
}
