package jobtype

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Template says how a job is written for a worker that reads jobs in a form of its own: a text in which {name} stands
// for the name of the job type, and {args} for its arguments. Empty: jobs are written as the documents have it. It is
// the value of a flag.
type Template string

// What stands for a job in a template.
const (
	namePlaceholder = "{name}"
	argsPlaceholder = "{args}"
)

// maxTemplate bounds a template, in bytes: what it adds to an argument is small beside the largest job.
const maxTemplate = 64 << 10

// placeholder is what looks like one. A JSON object begins otherwise.
var placeholder = regexp.MustCompile(`\{\w+\}`)

// Set implements pflag.Value.
func (t *Template) Set(text string) error {
	if len(text) > maxTemplate {
		return fmt.Errorf("the template has %d bytes; the limit is %d", len(text), maxTemplate)
	}
	for _, p := range placeholder.FindAllString(text, -1) {
		if p != namePlaceholder && p != argsPlaceholder {
			return fmt.Errorf("unknown placeholder %s: write {name} for the name of a job type and {args} for its arguments",
				p)
		}
	}
	if !strings.Contains(text, namePlaceholder) || !strings.Contains(text, argsPlaceholder) {
		return errors.New("write {name} for the name of a job type and {args} for its arguments")
	}
	*t = Template(text)
	return nil
}

// String implements pflag.Value.
func (t *Template) String() string { return string(*t) }

// Type implements pflag.Value.
func (t *Template) Type() string { return "TEMPLATE" }

// Fill returns a job.
func (t *Template) Fill(name, args string) string {
	return strings.NewReplacer(namePlaceholder, name, argsPlaceholder, args).Replace(string(*t))
}

// LooksLikeJSON reports whether a template begins as an array or an object of JSON does.
func (t *Template) LooksLikeJSON() bool {
	return strings.IndexAny(strings.TrimSpace(string(*t)), "[{") == 0
}
