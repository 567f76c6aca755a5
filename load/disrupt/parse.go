package disrupt

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/fwpsuite/fwp/internal/base/text"
	baseyaml "github.com/fwpsuite/fwp/internal/base/yaml"
	"github.com/fwpsuite/fwp/load/plan"
)

// The limits of a schedule.
const (
	mostDisruptions = 1000
	longest         = time.Hour
)

// key is a key of a disruption in a file.
type key struct {
	name string
	of   []Action // which have it; nil: all
	set  func(d *Disruption, text string) error
}

var keys = []key{
	{"at", nil, func(d *Disruption, text string) error { return duration(&d.At, text, 0) }},
	{"do", nil, func(d *Disruption, text string) (err error) {
		d.Action, err = parseAction(text)
		return err
	}},
	{"for", []Action{Kill, KillServer, Restart, Pause, Partition, Slow, Fill},
		func(d *Disruption, text string) error { return duration(&d.For, text, time.Millisecond) }},
	{"direction", []Action{Partition}, func(d *Disruption, text string) error {
		i := slices.Index(directions, text)
		d.Cut = Direction(max(0, i)) //nolint:gosec // there are three
		if i < 0 {
			return problem(strconv.Quote(text)+" is not a direction",
				"one of "+strings.Join(directions, ", "), "choose one of them")
		}
		return nil
	}},
	{"delay", []Action{Slow}, func(d *Disruption, text string) error { return duration(&d.Link.Delay, text, 0) }},
	{"jitter", []Action{Slow}, func(d *Disruption, text string) error { return duration(&d.Link.Jitter, text, 0) }},
	{"rate", []Action{Slow}, func(d *Disruption, text string) error { return bytes(&d.Link.Rate, text) }},
	{"segment", []Action{Slow}, func(d *Disruption, text string) error { return bytes(&d.Link.Segment, text) }},
}

// problem returns what is wrong, without its place.
func problem(what, expected, do string) error {
	return &baseyaml.Problem{What: what, Expected: expected, Do: do}
}

func parseAction(word string) (Action, error) {
	if slices.Contains(Actions(), Action(word)) {
		return Action(word), nil
	}
	known := Words(Actions())
	do := "choose one of them"
	if near := text.Nearest(word, known, 2); near != "" {
		do = "did you mean " + near + "?"
	}
	return "", problem(strconv.Quote(text.Brief(word, 100))+" is not a disruption",
		"one of "+strings.Join(known, ", "), do)
}

// duration reads a duration of at least so much.
func duration(to *time.Duration, text string, least time.Duration) error {
	d, err := plan.ParseDuration(text)
	if err != nil {
		return err
	}
	if *to = time.Duration(d); *to < least || *to > longest {
		return problem(strconv.Quote(text)+" is out of range", fmt.Sprintf("a duration from %v to %v", least, longest),
			"choose a duration in that range")
	}
	return nil
}

// bytes reads a number of bytes above 0.
func bytes(to *int, text string) error {
	n, err := plan.ParseBytes(text)
	if err == nil && n == 0 {
		err = problem(strconv.Quote(text)+" must be above 0", "a size from 1 to 16MiB", "for no limit remove it")
	}
	*to = n
	return err
}

// What a file looks like, for messages.
const (
	example = "a disruption such as {at: 20s, do: kill, for: 2s}"
	lines   = "lines such as - {at: 20s, do: kill, for: 2s}"
)

// Parse reads a schedule from YAML: a sequence of mappings, each a disruption, in the order of their times. The name of
// the file is for the messages only. The error joins *baseyaml.Problems in the order of their places.
func Parse(file string, source []byte) ([]Disruption, error) {
	p := &baseyaml.Problems{File: file}
	root := p.Root(source, baseyaml.Shape{
		Kind: yaml.SequenceNode, Expected: lines,
		Do: "write a hyphen before each disruption", One: "one schedule in the file",
	})
	switch {
	case p.Err() != nil:
		return nil, p.Err()
	case root == nil || len(root.Content) == 0:
		p.Report(baseyaml.Place{}, &baseyaml.Problem{What: "the schedule is empty", Expected: lines,
			Do: "leave out --disrupt for a run without disruptions"})
		return nil, p.Err()
	}
	var all []Disruption
	var above *Disruption // the last one that is right
	for i, node := range root.Content {
		if i == mostDisruptions {
			p.Report(baseyaml.At(node), &baseyaml.Problem{What: "there are too many disruptions",
				Expected: fmt.Sprintf("at most %d", mostDisruptions), Do: "split it into several runs"})
			break
		}
		d, ok := parseOne(p, baseyaml.Resolved(node))
		if ok && above != nil {
			inOrder(p, baseyaml.At(node), *above, d)
		}
		if ok {
			above = &d
		}
		all = append(all, d)
	}
	return all, p.Err()
}

// inOrder reports a disruption that begins before the end of the one above it.
func inOrder(p *baseyaml.Problems, at baseyaml.Place, above, d Disruption) {
	if end := above.At + above.For; d.At < end {
		p.Report(at, &baseyaml.Problem{Key: "at", What: fmt.Sprintf("%v is before the end of the previous disruption",
			d.At),
			Expected: fmt.Sprintf("%v or later", end), Do: "only one disruption at a time: move it, or shorten the " +
				"previous one"})
	}
}

// parseOne reads a disruption, and reports whether all of it is right.
func parseOne(p *baseyaml.Problems, node *yaml.Node) (d Disruption, ok bool) {
	if node.Kind != yaml.MappingNode {
		p.Report(baseyaml.At(node), &baseyaml.Problem{What: "this is " + baseyaml.KindOf(node),
			Expected: example, Do: "write its keys with their values"})
		return d, false
	}
	ok = true
	places := map[string]baseyaml.Place{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], baseyaml.Resolved(node.Content[i+1])
		at, err := baseyaml.At(value), d.set(name, value)
		if _, twice := places[name.Value]; err == nil && twice {
			at, err = baseyaml.At(name), problem("duplicate key", "it once", "remove one of them")
		}
		places[name.Value] = baseyaml.At(name)
		ok = report(p, at, name.Value, err) && ok
	}
	for _, needed := range []string{"at", "do"} {
		if _, has := places[needed]; !has {
			ok = report(p, baseyaml.At(node), needed, problem("the key is missing", example, "add it"))
		}
	}
	if ok {
		ok = d.fits(p, places)
	}
	return d.filled(places), ok
}

// set sets what a key says.
func (d *Disruption) set(name, value *yaml.Node) error {
	i := slices.IndexFunc(keys, func(k key) bool { return k.name == name.Value })
	switch {
	case i < 0 || name.Kind != yaml.ScalarNode:
		var known []string
		for _, k := range keys {
			known = append(known, k.name)
		}
		return problem("unknown key", "one of "+strings.Join(known, ", "), "remove it")
	case value.Kind != yaml.ScalarNode || value.Tag == "!!null":
		return baseyaml.Unfit(value, "a single value", "write a value after the colon")
	}
	return keys[i].set(d, value.Value)
}

// fits reports keys that have no meaning for the action, and whether there are none.
func (d *Disruption) fits(p *baseyaml.Problems, places map[string]baseyaml.Place) bool {
	ok := true
	for _, k := range keys {
		if at, has := places[k.name]; has && k.of != nil && !slices.Contains(k.of, d.Action) {
			ok = report(p, at, k.name, problem("it does not work with "+string(d.Action),
				"it with "+strings.Join(Words(k.of), ", "), "remove it"))
		}
	}
	return ok
}

// filled returns d with what is usual for what the file leaves out.
func (d Disruption) filled(places map[string]baseyaml.Place) Disruption {
	if _, has := places["for"]; !has {
		d.For = kinds[d.Action].usual
	}
	if d.Action == Slow && d.Link == (Link{}) {
		d.Link = Link{Delay: 50 * time.Millisecond, Jitter: 50 * time.Millisecond}
	}
	return d
}

// report reports an error of a key, and whether there is none.
func report(p *baseyaml.Problems, at baseyaml.Place, key string, err error) bool {
	found, is := errors.AsType[*baseyaml.Problem](err)
	if !is {
		return true
	}
	found.Key = strings.Trim(strconv.Quote(text.Brief(key, 100)), `"`)
	p.Report(at, found)
	return false
}
