package workload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/fwpsuite/fwp/internal/text"
)

// MaxSource bounds a workload's file, in bytes.
const MaxSource = 1 << 20

// mostProblems is how many of the problems of a file are reported: the first ones that are found.
const mostProblems = 100

// Parse reads a workload from YAML: a mapping of the keys of [Workload.Settings] to
// their values, on top of the preset that the key preset names, or else of roundtrip.
// The file's name is for the messages only. The error joins *Problems in the order of
// their places, 100 at most; the workload is then as good as it could be read.
func Parse(file string, source []byte) (Workload, error) {
	f := yamlFile{name: file, places: map[string]place{}, failed: map[string]bool{}}
	root := f.root(source)
	w := f.preset(root)
	settings := w.Settings()
	for i := 0; root != nil && i+1 < len(root.Content) && len(f.problems) < mostProblems; i += 2 {
		f.entry(settings, root.Content[i], root.Content[i+1])
	}
	for _, c := range w.contradictions() {
		f.contradiction(c)
	}
	slices.SortStableFunc(f.problems, func(a, b *Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	problems := make([]error, len(f.problems))
	for i, p := range f.problems {
		problems[i] = p
	}
	return w, errors.Join(problems...)
}

// YAML is what [Parse] reads back as w: its preset, and what differs from that.
func (w *Workload) YAML() []byte {
	preset, err := Preset(w.Preset)
	if err != nil {
		preset, _ = Preset("")
	}
	out := []byte("preset: " + preset.Preset + "\n")
	usual := preset.Settings()
	for i, s := range w.Settings() {
		if text := s.Value.String(); text != usual[i].Value.String() {
			if s.items && text != "" {
				text = "[" + joined(strconv.Quote)(strings.Split(text, ",")) + "]"
			} else if text == "" {
				text = `""`
			}
			out = fmt.Appendf(out, "%s: %s\n", s.Key, text)
		}
	}
	return out
}

type place struct{ line, column int }

// yamlFile is a file that is being read.
type yamlFile struct {
	name     string
	places   map[string]place // of the keys
	failed   map[string]bool  // keys whose values could not be read
	problems []*Problem
}

func (f *yamlFile) report(at place, p *Problem) {
	if len(f.problems) == mostProblems {
		return
	}
	p.File, p.Line, p.Column = f.name, max(1, at.line), max(1, at.column)
	f.problems = append(f.problems, p)
}

func at(n *yaml.Node) place { return place{n.Line, n.Column} }

// lineOf finds the line in a message of the YAML library, which knows no column.
var lineOf = regexp.MustCompile(`^yaml: line (\d+): `)

// root is the mapping that the file consists of, nil if there is none.
func (f *yamlFile) root(source []byte) *yaml.Node {
	const expected = "lines such as producers: 50"
	if len(source) > MaxSource {
		f.report(place{}, &Problem{What: "the file is too large", Expected: "1 MiB or less", Do: "is it the right file?"})
		return nil
	}
	if !utf8.Valid(source) {
		f.report(place{}, &Problem{What: "the file is not UTF-8", Expected: expected, Do: "is it the right file?"})
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(source))
	var document, more yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		return nil // an empty file is the preset
	}
	if err != nil {
		line := 1
		if m := lineOf.FindStringSubmatch(err.Error()); m != nil {
			line, _ = strconv.Atoi(m[1])
		}
		what := strings.TrimPrefix(lineOf.ReplaceAllString(err.Error(), ""), "yaml: ")
		f.report(place{line: line}, &Problem{What: "invalid YAML: " + what, Expected: expected,
			Do: "look at this line and the one before"})
		return nil
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		f.report(at(&more), &Problem{What: "there is a second document", Expected: "one workload in a file",
			Do: "remove what follows ---"})
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode && root.Tag != "!!null" {
		f.report(at(root), &Problem{What: "this is " + kindOf(root), Expected: expected,
			Do: "write a key, a colon and a value in each line"})
		return nil
	}
	return root
}

// preset is the workload that the file builds on.
func (f *yamlFile) preset(root *yaml.Node) Workload {
	w, _ := Preset("")
	for i := 0; root != nil && i+1 < len(root.Content); i += 2 {
		key, node := root.Content[i], resolved(root.Content[i+1])
		if key.Value != "preset" || f.failed["preset"] {
			continue
		}
		named, err := Preset(node.Value)
		if node.Kind != yaml.ScalarNode || node.Value == "" {
			err = unfit(node, "a preset's name", "write a name, as in preset: push")
		}
		if p := problemOf(err); p != nil {
			p.Key, f.failed["preset"] = "preset", true
			f.report(at(node), p)
			continue
		}
		w = named
	}
	return w
}

// entry takes up one key and its value.
func (f *yamlFile) entry(settings []Setting, key, node *yaml.Node) {
	i := slices.IndexFunc(settings, func(s Setting) bool { return s.Key == key.Value })
	_, twice := f.places[key.Value]
	switch {
	case key.Kind != yaml.ScalarNode || (i < 0 && key.Value != "preset"):
		f.unknown(settings, key)
	case twice:
		f.failed[key.Value] = true
		f.report(at(key), &Problem{Key: key.Value, What: "the key is there twice",
			Expected: fmt.Sprintf("it once; line %d has it", f.places[key.Value].line), Do: "remove one of them"})
	default:
		f.places[key.Value] = at(key)
		if i >= 0 {
			f.value(settings[i], resolved(node))
		}
	}
}

func (f *yamlFile) unknown(settings []Setting, key *yaml.Node) {
	known := []string{"preset"}
	for _, s := range settings {
		known = append(known, s.Key)
	}
	what := "unknown key " + strconv.Quote(text.Brief(key.Value, 100))
	if key.Kind != yaml.ScalarNode {
		what = kindOf(key) + " is not a key"
	}
	p := &Problem{What: what, Expected: "one of " + strings.Join(known, ", "), Do: "remove it"}
	if near := nearest(key.Value, known); near != "" {
		p.Expected, p.Do = "a key of a workload", "did you mean "+near+"?"
	}
	f.report(at(key), p)
}

// value sets one setting. The items of a sequence are tried one by one, so that the
// place is that of the item which is wrong.
func (f *yamlFile) value(s Setting, node *yaml.Node) {
	fail := func(n *yaml.Node, err error) bool {
		p := problemOf(err)
		if p == nil {
			return false
		}
		p.Key, f.failed[s.Key] = s.Key, true
		f.report(at(n), p)
		return true
	}
	if node.Kind != yaml.SequenceNode || !s.items {
		if node.Kind != yaml.ScalarNode || node.Tag == "!!null" {
			fail(node, unfit(node, "a "+s.Value.Type(), "write a value after the colon"))
			return
		}
		fail(node, s.Value.Set(node.Value))
		return
	}
	texts, before, wrong := []string{}, s.Value.String(), false
	for _, item := range node.Content {
		item = resolved(item)
		switch {
		case item.Kind != yaml.ScalarNode || item.Value == "":
			wrong = fail(item, unfit(item, "a single value", "write it without structure")) || wrong
		case strings.Contains(item.Value, ","):
			wrong = fail(item, bad(item.Value, "holds a comma", "one item", "make two items of it")) || wrong
		default:
			wrong = fail(item, s.Value.Set(item.Value)) || wrong
			texts = append(texts, item.Value)
		}
	}
	text := strings.Join(texts, ",")
	if wrong {
		text = before
	}
	fail(node, s.Value.Set(text))
}

// unfit is the problem of a value that is not even a scalar.
func unfit(n *yaml.Node, expected, do string) error {
	return &Problem{What: "this is " + kindOf(n), Expected: expected, Do: do}
}

// contradiction reports a contradiction at the key that is to blame or, if the preset
// brought that one, at another that takes part. What failed already is not blamed again.
func (f *yamlFile) contradiction(c contradiction) {
	where, found := f.places["preset"], false
	for _, key := range c.keys {
		p, has := f.places[key]
		if f.failed[key] || (f.failed["preset"] && !has) {
			return
		}
		if has && !found {
			where, found = p, true
		}
	}
	f.report(where, c.problem)
}

// resolved follows an alias, which never leads to another.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a sequence"
	case n.Tag == "!!null" || n.Value == "":
		return "nothing"
	}
	return strconv.Quote(n.Value)
}
