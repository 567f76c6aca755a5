package law

import (
	"fmt"
	"slices"
	"strings"
)

// traitNames are the names of the traits in the text of [Rules], in their order.
var traitNames = []string{
	"wrong-reply", "job-stays", "of-field", "unwritten", "at-greeting", "timed", "of-delivery", "unasked", "misplaced",
}

// Rules reads the rules of a law. The text has a paragraph for each, as a catalogue of clauses has; a line that starts
// with # is a comment:
//
//	order | job-stays
//	  The queues of a FETCH are looked into in their order.
//	  decided: each job that comes to a FETCH of several queues
//	  clauses: FETCH-04
//	  clauses of faktory: FKT-QUEUE-01
//
// The first line has the name and the traits. The last line is for the extension of that name only, in addition to the
// line above it. It panics if a trait is unknown, which every test that plays the law finds.
func Rules(text, extension string) map[string]Rule {
	all := map[string]Rule{}
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		lines := slices.DeleteFunc(strings.Split(paragraph, "\n"),
			func(line string) bool { return strings.HasPrefix(line, "#") })
		head := strings.Split(lines[0], " | ")
		all[head[0]] = ruleOf(head[1:], lines[1:], extension)
	}
	return all
}

// ruleOf returns the rule with some traits and the indented lines of a paragraph.
func ruleOf(traits, lines []string, extension string) (r Rule) {
	for _, name := range traits {
		i := slices.Index(traitNames, name)
		if i < 0 {
			panic(fmt.Sprintf("unknown trait %q", name))
		}
		r.Traits |= 1 << i
	}
	var other string
	into := &r.Title
	for _, line := range lines {
		line = strings.TrimSpace(line)
		switch label, rest, _ := strings.Cut(line, ": "); label {
		case "decided":
			into, line = &r.Decided, rest
		case "clauses", "clauses of " + extension:
			into, line = &r.Clauses, rest
		default:
			if strings.HasPrefix(label, "clauses of ") {
				into, line = &other, rest
			}
		}
		*into = strings.TrimSpace(*into + " " + line)
	}
	r.Title = strings.TrimSuffix(r.Title, ".")
	return r
}
