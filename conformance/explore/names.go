package explore

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/scenarios"
)

// names fills in the names of one play.
type names struct {
	dialect scenarios.Dialect
	jobs    string // the family of the names of jobs
	prefix  string
	round   int // of a repetition, counted from 1; 0 outside
	times   map[string]string
	value   func(conn int, name string) string // of the protocol
	now     time.Time
}

// fill writes a text with its names replaced; a value may be that of a connection.
func (n *names) fill(text string, conn int) string {
	if strings.IndexByte(text, '$') < 0 {
		return text
	}
	segments := Builder{n.dialect}.Parse(text)
	filled := make([]string, len(segments))
	for i, t := range segments {
		filled[i] = n.expand(t, conn)
	}
	return strings.Join(filled, scenarios.Cut)
}

// expand is fill for a text that is parsed.
func (n *names) expand(t scenarios.Template, conn int) string {
	return t.Expand(func(name scenarios.Name) string { return n.expandName(name, conn) })
}

// expandName returns the value of a name. Jobs and indexed names are others in each round.
func (n *names) expandName(name scenarios.Name, conn int) string {
	grammar, base := n.dialect.Grammar(), name.Base()
	if base == "now" {
		return n.time(name)
	}
	if family := familyOf(grammar, base); family != "" {
		value := n.prefix + "-" + base
		if n.round > 0 && (family == n.jobs || name.Indexed()) {
			value += "-" + strconv.Itoa(n.round)
		}
		return n.freshValue(family, base, value)
	}
	if text, ok := name.Computed(n.now); ok {
		return text
	}
	ofProtocol := func(c scenarios.Computed) bool { return c.Name == base && c.Value != nil }
	if slices.ContainsFunc(grammar.Names.Computed, ofProtocol) {
		return n.value(conn, strings.TrimPrefix(name.String(), "$"))
	}
	return name.String()
}

// freshValue is the value of a name in the form that the protocol asks for. A form that does not show the name is kept,
// so that a script gets the name back.
func (n *names) freshValue(family, base, value string) string {
	form := n.dialect.Grammar().Names.NewValue
	if form == nil {
		return value
	}
	unique := form(family, value)
	if unique != value && n.times != nil {
		n.times["$"+base] = unique
	}
	return unique
}

// time binds a time at its first use, as scripts do.
func (n *names) time(name scenarios.Name) string {
	if s, ok := n.times[name.String()]; ok && n.round == 0 {
		return s
	}
	s, _ := name.Computed(n.now)
	n.times[name.String()] = s
	return s
}

// familyOf returns the family of a name, "" if it belongs to none.
func familyOf(g *scenarios.Grammar, base string) string {
	for _, family := range g.Names.Families {
		if strings.HasPrefix(base, family) {
			return family
		}
	}
	return ""
}

// namesIn lists the names in segments, as often as they are used.
func namesIn(segments []scenarios.Template) []scenarios.Name {
	var all []scenarios.Name
	for _, t := range segments {
		t.Expand(func(name scenarios.Name) string { all = append(all, name); return "" })
	}
	return all
}

// sharedNames lists those in segments that several clients may use: the names of all but
// clients.
func sharedNames(g *scenarios.Grammar, segments []scenarios.Template) []string {
	var all []string
	for _, name := range namesIn(segments) {
		if family := familyOf(g, name.Base()); family != "" && family != g.Names.Client {
			all = append(all, "$"+name.Base())
		}
	}
	return all
}

// needsPassword reports whether a name in segments has a value that is computed from a password.
func needsPassword(g *scenarios.Grammar, segments []scenarios.Template) bool {
	return slices.ContainsFunc(namesIn(segments), func(name scenarios.Name) bool {
		return slices.ContainsFunc(g.Names.Computed, func(c scenarios.Computed) bool {
			return c.Name == name.Base() && c.Needs == scenarios.NeedPassword
		})
	})
}

// symbolOf returns the name of a job in the script language: what stands between the prefix of the play, and a round or
// whatever else a step has put behind the name.
func symbolOf(jid string) string {
	_, name, _ := strings.Cut(jid, "-")
	name, _, _ = strings.Cut(name, "-")
	return name
}

// symbol returns the name of a job in the script language; see symbolOf. Its value may not show it.
func (n *names) symbol(jid string) string {
	for name, value := range n.times {
		if value == jid {
			return name[1:]
		}
	}
	return symbolOf(jid)
}

// symbols lists the names whose values are in a text.
func (n *names) symbols(text string) (all []string) {
	for name, value := range n.times {
		if strings.Contains(text, value) {
			all = append(all, name)
		}
	}
	for _, found := range playName.FindAllStringSubmatch(strings.ReplaceAll(text, n.prefix+"-", "\x00"), -1) {
		all = append(all, "$"+found[1])
	}
	slices.Sort(all)
	return slices.Compact(all)
}
