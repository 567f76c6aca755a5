package rule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Vocabulary is the words that the rules of a fake may use. E is the event that its hook sees.
type Vocabulary[E any] struct {
	Points []Point[E]
	Verbs  []string        // the commands that a rule may name; the letters are as here
	Verb   func(*E) string // the command that a step is about, "" for none
	Fields []Field         // what conditions compare
	Field  func(e *E, name string) (value string, ok bool)
	Tests  []Test[E] // what holds or not
	Keys   []Key[E]  // what "by" separates
	Acts   []Act[E]
}

// Point is a step.
type Point[E any] struct {
	Name, Text string
	Match      func(*E) bool
}

// Field is something that has a value.
type Field struct{ Name, Text string }

// Test is a condition without a value.
type Test[E any] struct {
	Name, Text string
	Holds      func(*E) bool
}

// Key tells one from another: a connection, a worker, a job.
type Key[E any] struct {
	Name, Text string
	Get        func(*E) string
}

// Act is something that a rule does.
type Act[E any] struct {
	Name, Text string
	Args       []string // the names of its arguments, for messages and documents
	At         []string // the points at which it has an effect; none: all
	Make       func(args []string) (func(*E), error)
}

// Table returns the vocabulary as tables in Markdown, for a page of documents.
func (v *Vocabulary[E]) Table() string {
	var b strings.Builder
	table(&b, rows(v.Points, func(p Point[E]) [2]string { return [2]string{p.Name, p.Text} }), "step", "meaning")
	table(&b, rows(v.Tests, func(t Test[E]) [2]string { return [2]string{t.Name, t.Text} }), "condition", "meaning")
	table(&b, rows(v.Fields, func(f Field) [2]string { return [2]string{f.Name, f.Text} }), "field", "meaning")
	table(&b, rows(v.Keys, func(k Key[E]) [2]string { return [2]string{k.Name, k.Text} }), "by", "meaning")
	table(&b, rows(v.Acts, func(a Act[E]) [2]string {
		usage, steps := strings.Join(append([]string{a.Name}, a.Args...), " "), cmp.Or(strings.Join(a.At, ", "), "all")
		return [2]string{usage, a.Text + " | " + steps}
	}), "act", "meaning", "steps")
	return strings.TrimSuffix(b.String(), "\n")
}

// table writes a table; neighbours with the same text share a row.
func table(b *strings.Builder, rows [][2]string, head ...string) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "| %s |\n%s|\n", strings.Join(head, " | "), strings.Repeat("|---", len(head)))
	for i, r := range rows {
		if i > 0 && r[1] == rows[i-1][1] {
			continue
		}
		names := []string{r[0]}
		for _, same := range rows[i+1:] {
			if same[1] != r[1] {
				break
			}
			names = append(names, same[0])
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", strings.Join(names, "`, `"), r[1])
	}
	b.WriteString("\n")
}

func rows[T any](all []T, columns func(T) [2]string) (out [][2]string) {
	for _, item := range all {
		out = append(out, columns(item))
	}
	return out
}

// find returns the word of a name, and the names of all, sorted, for a message.
func find[T any](all []T, name string, itemName func(T) string) (found T, names []string, ok bool) {
	for _, item := range all {
		if names = append(names, itemName(item)); itemName(item) == name {
			found, ok = item, true
		}
	}
	slices.Sort(names)
	return found, names, ok
}
