package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fwpsuite/fwp/internal/base/text"
	baseyaml "github.com/fwpsuite/fwp/internal/base/yaml"
)

// MaxSource bounds a workload's file, in bytes.
const MaxSource = baseyaml.MaxSource

// Parse reads a workload from YAML: a mapping of the keys of [Workload.Settings] to
// their values, on top of the preset that the key preset names, or else of roundtrip.
// The file's name is for the messages only. The error joins *Problems in the order of
// their places, 100 at most; the workload is then as good as it could be read.
func Parse(file string, source []byte) (Workload, error) { return ParseWith(file, source, ExtraKeys{}) }

// ExtraKeys are keys of a file that are no settings of a workload, and what takes up their values: each item of a
// sequence by itself.
type ExtraKeys struct {
	Keys []string
	Set  func(key, value string) error
}

// ParseWith is Parse for a file that may have other keys as well.
func ParseWith(file string, source []byte, extras ExtraKeys) (Workload, error) {
	f := yamlFile{
		problems: baseyaml.Problems{File: file}, places: map[string]baseyaml.Place{}, failures: map[string]bool{},
		extras: extras,
	}
	root := f.problems.Root(source, shape())
	w := f.preset(root)
	settings := w.Settings()
	for i := 0; root != nil && i+1 < len(root.Content) && !f.problems.IsFull(); i += 2 {
		f.entry(settings, root.Content[i], root.Content[i+1])
	}
	for _, c := range w.contradictions() {
		f.reportContradiction(c)
	}
	return w, f.problems.Err()
}

// YAML is what [Parse] reads back as w: its preset, and what differs from that.
func (w *Workload) YAML() []byte {
	preset, err := Preset(w.Preset)
	if err != nil {
		preset, _ = Preset("")
	}
	out := []byte("preset: " + preset.Preset + "\n")
	defaults := preset.Settings()
	for i, s := range w.Settings() {
		if text := s.Value.String(); text != defaults[i].Value.String() {
			if s.hasItems && text != "" {
				text = "[" + joinItems(strconv.Quote)(strings.Split(text, ",")) + "]"
			} else if text == "" {
				text = `""`
			}
			out = fmt.Appendf(out, "%s: %s\n", s.Key, text)
		}
	}
	return out
}

// shape is that of a workload's file. An empty file is the preset.
func shape() baseyaml.Shape {
	return baseyaml.Shape{
		Kind: yaml.MappingNode, Expected: "lines such as producers: 50",
		Do: "write a key, a colon and a value in each line", SingleDocument: "one workload in a file",
	}
}

// yamlFile is a file that is being read.
type yamlFile struct {
	problems baseyaml.Problems
	places   map[string]baseyaml.Place // of the keys
	failures map[string]bool           // keys whose values could not be read
	extras   ExtraKeys
}

// preset is the workload that the file builds on.
func (f *yamlFile) preset(root *yaml.Node) Workload {
	w, _ := Preset("")
	for i := 0; root != nil && i+1 < len(root.Content); i += 2 {
		key, node := root.Content[i], baseyaml.Resolve(root.Content[i+1])
		if key.Value != "preset" || f.failures["preset"] {
			continue
		}
		chosen, err := Preset(node.Value)
		if node.Kind != yaml.ScalarNode || node.Value == "" {
			err = baseyaml.UnfitError(node, "a preset's name", "write a name, as in preset: push")
		}
		if p := problemOf(err); p != nil {
			p.Key, f.failures["preset"] = "preset", true
			f.problems.Report(baseyaml.At(node), p)
			continue
		}
		w = chosen
	}
	return w
}

// entry takes up one key and its value.
func (f *yamlFile) entry(settings []Setting, key, node *yaml.Node) {
	i := slices.IndexFunc(settings, func(s Setting) bool { return s.Key == key.Value })
	isExtra := i < 0 && slices.Contains(f.extras.Keys, key.Value)
	_, isDuplicate := f.places[key.Value]
	switch {
	case key.Kind != yaml.ScalarNode || (i < 0 && !isExtra && key.Value != "preset"):
		f.reportUnknown(settings, key)
	case isDuplicate:
		f.failures[key.Value] = true
		f.problems.Report(baseyaml.At(key), &Problem{Key: key.Value, Description: "duplicate key",
			Expected: fmt.Sprintf("it only once (line %d has it already)", f.places[key.Value].Line), Do: "remove one of " +
				"them"})
	default:
		f.places[key.Value] = baseyaml.At(key)
		switch {
		case i >= 0:
			f.value(settings[i], baseyaml.Resolve(node))
		case isExtra:
			f.setExtra(key.Value, baseyaml.Resolve(node))
		}
	}
}

// setExtra hands on the values of a key that is no setting.
func (f *yamlFile) setExtra(key string, node *yaml.Node) {
	values := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		values = node.Content
	}
	for _, value := range values {
		value = baseyaml.Resolve(value)
		err := f.extras.Set(key, value.Value)
		if value.Kind != yaml.ScalarNode {
			err = errors.New(baseyaml.KindOf(value) + " is not a value")
		}
		if err != nil {
			problem, ok := errors.AsType[*Problem](err)
			if !ok {
				problem = &Problem{Description: err.Error(), Expected: "a value of the flag --" + strings.ReplaceAll(key, "_", "-"),
					Do: "see the help of the command"}
			}
			problem.Key = key
			f.problems.Report(baseyaml.At(value), problem)
		}
	}
}

func (f *yamlFile) reportUnknown(settings []Setting, key *yaml.Node) {
	keys := append([]string{"preset"}, f.extras.Keys...)
	for _, s := range settings {
		keys = append(keys, s.Key)
	}
	message := "unknown key " + strconv.Quote(text.Brief(key.Value, 100))
	if key.Kind != yaml.ScalarNode {
		message = baseyaml.KindOf(key) + " is not a key"
	}
	p := &Problem{Description: message, Expected: "one of " + strings.Join(keys, ", "), Do: "remove it"}
	if match := nearest(key.Value, keys); match != "" {
		p.Expected, p.Do = "", "did you mean "+match+"?"
	}
	f.problems.Report(baseyaml.At(key), p)
}

// value sets one setting. The items of a sequence are tried one by one, so that the
// place is that of the item which is wrong.
func (f *yamlFile) value(s Setting, node *yaml.Node) {
	fail := func(n *yaml.Node, err error) bool {
		p := problemOf(err)
		if p == nil {
			return false
		}
		p.Key, f.failures[s.Key] = s.Key, true
		f.problems.Report(baseyaml.At(n), p)
		return true
	}
	if node.Kind != yaml.SequenceNode || !s.hasItems {
		if node.Kind != yaml.ScalarNode || node.Tag == "!!null" {
			fail(node, baseyaml.UnfitError(node, "a "+s.Value.Type(), "write a value after the colon"))
			return
		}
		fail(node, s.Value.Set(node.Value))
		return
	}
	texts, before, hasProblem := []string{}, s.Value.String(), false
	for _, item := range node.Content {
		item = baseyaml.Resolve(item)
		switch {
		case item.Kind != yaml.ScalarNode || item.Value == "":
			hasProblem = fail(item, baseyaml.UnfitError(item, "a single value", "write a single value")) || hasProblem
		case strings.Contains(item.Value, ","):
			hasProblem = fail(item, newProblem(item.Value, "has a comma", "one item without a comma", "write two items")) ||
				hasProblem
		default:
			hasProblem = fail(item, s.Value.Set(item.Value)) || hasProblem
			texts = append(texts, item.Value)
		}
	}
	text := strings.Join(texts, ",")
	if hasProblem {
		text = before
	}
	fail(node, s.Value.Set(text))
}

// reportContradiction reports a contradiction at the key that is to blame or, if the preset
// brought that one, at another that takes part. What failed already is not blamed again.
func (f *yamlFile) reportContradiction(c contradiction) {
	place, isPlaced := f.places["preset"], false
	for _, key := range c.keys {
		p, hasKey := f.places[key]
		if f.failures[key] || (f.failures["preset"] && !hasKey) {
			return
		}
		if hasKey && !isPlaced {
			place, isPlaced = p, true
		}
	}
	f.problems.Report(place, c.problem)
}
