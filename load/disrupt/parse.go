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
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load/plan"
)

// The limits of a schedule.
const (
	maxDisruptions = 1000
	maxDuration    = time.Hour
)

// key is a key of a disruption in a file.
type key struct {
	name    string
	actions []target.Action // which have it; nil: all
	set     func(d *Disruption, text string) error
}

var keys = []key{
	{"at", nil, func(d *Disruption, text string) error { return duration(&d.At, text, 0) }},
	{"do", nil, func(d *Disruption, text string) (err error) {
		d.Action, err = parseAction(text)
		return err
	}},
	{"for", []target.Action{target.Kill, target.KillServer, target.Restart, target.Pause, target.Partition, target.Slow,
		target.Fill},
		func(d *Disruption, text string) error { return duration(&d.Length, text, time.Millisecond) }},
	{"direction", []target.Action{target.Partition}, func(d *Disruption, text string) error {
		i := slices.Index(directions, text)
		d.Direction = Direction(max(0, i)) //nolint:gosec // there are three
		if i < 0 {
			return problem(strconv.Quote(text)+" is not a direction",
				"one of "+strings.Join(directions, ", "), "choose one of them")
		}
		return nil
	}},
	{"delay", []target.Action{target.Slow}, func(d *Disruption,
		text string) error {
		return duration(&d.Link.Delay, text, 0)
	}},
	{"jitter", []target.Action{target.Slow}, func(d *Disruption,
		text string) error {
		return duration(&d.Link.Jitter, text, 0)
	}},
	{"rate", []target.Action{target.Slow}, func(d *Disruption, text string) error { return bytes(&d.Link.Rate, text) }},
	{"segment", []target.Action{target.Slow}, func(d *Disruption,
		text string) error {
		return bytes(&d.Link.Segment, text)
	}},
}

// problem returns what is wrong, without its place.
func problem(message, expected, advice string) error {
	return &baseyaml.Problem{Description: message, Expected: expected, Do: advice}
}

func parseAction(word string) (target.Action, error) {
	if slices.Contains(Actions(), target.Action(word)) {
		return target.Action(word), nil
	}
	words := Words(Actions())
	advice := "choose one of them"
	if nearest := text.Nearest(word, words, 2); nearest != "" {
		advice = "did you mean " + nearest + "?"
	}
	return "", problem(strconv.Quote(text.Brief(word, 100))+" is not a disruption",
		"one of "+strings.Join(words, ", "), advice)
}

// duration reads a duration of at least so much.
func duration(to *time.Duration, text string, shortest time.Duration) error {
	d, err := plan.ParseDuration(text)
	if err != nil {
		return err
	}
	if *to = time.Duration(d); *to < shortest || *to > maxDuration {
		return problem(strconv.Quote(text)+" is out of range", fmt.Sprintf("a duration from %v to %v", shortest, maxDuration),
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
		Do: "write a hyphen before each disruption", SingleDocument: "one schedule in the file",
	})
	switch {
	case p.Err() != nil:
		return nil, p.Err()
	case root == nil || len(root.Content) == 0:
		p.Report(baseyaml.Place{}, &baseyaml.Problem{Description: "the schedule is empty", Expected: lines,
			Do: "leave out --disrupt for a run without disruptions"})
		return nil, p.Err()
	}
	var all []Disruption
	var previous *Disruption // the last one that is right
	for i, node := range root.Content {
		if i == maxDisruptions {
			p.Report(baseyaml.At(node), &baseyaml.Problem{Description: "there are too many disruptions",
				Expected: fmt.Sprintf("at most %d", maxDisruptions), Do: "split it into several runs"})
			break
		}
		d, ok := parseOne(p, baseyaml.Resolve(node))
		if ok && previous != nil {
			checkOrder(p, baseyaml.At(node), *previous, d)
		}
		if ok {
			previous = &d
		}
		all = append(all, d)
	}
	return all, p.Err()
}

// checkOrder reports a disruption that begins before the end of the one above it.
func checkOrder(p *baseyaml.Problems, at baseyaml.Place, previous, d Disruption) {
	if end := previous.At + previous.Length; d.At < end {
		p.Report(at, &baseyaml.Problem{Key: "at", Description: fmt.Sprintf("%v is before the end of the previous disruption",
			d.At),
			Expected: fmt.Sprintf("%v or later", end), Do: "only one disruption at a time: move it, or shorten the " +
				"previous one"})
	}
}

// parseOne reads a disruption, and reports whether all of it is right.
func parseOne(p *baseyaml.Problems, node *yaml.Node) (d Disruption, ok bool) {
	if node.Kind != yaml.MappingNode {
		p.Report(baseyaml.At(node), &baseyaml.Problem{Description: "this is " + baseyaml.KindOf(node),
			Expected: example, Do: "write its keys with their values"})
		return d, false
	}
	ok = true
	places := map[string]baseyaml.Place{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], baseyaml.Resolve(node.Content[i+1])
		at, err := baseyaml.At(value), d.set(name, value)
		if _, isDuplicate := places[name.Value]; err == nil && isDuplicate {
			at, err = baseyaml.At(name), problem("duplicate key", "it once", "remove one of them")
		}
		places[name.Value] = baseyaml.At(name)
		ok = report(p, at, name.Value, err) && ok
	}
	for _, required := range []string{"at", "do"} {
		if _, hasKey := places[required]; !hasKey {
			ok = report(p, baseyaml.At(node), required, problem("the key is missing", example, "add it"))
		}
	}
	if ok {
		ok = d.fits(p, places)
	}
	return d.withDefaults(places), ok
}

// set sets what a key says.
func (d *Disruption) set(name, value *yaml.Node) error {
	i := slices.IndexFunc(keys, func(k key) bool { return k.name == name.Value })
	switch {
	case i < 0 || name.Kind != yaml.ScalarNode:
		var names []string
		for _, k := range keys {
			names = append(names, k.name)
		}
		return problem("unknown key", "one of "+strings.Join(names, ", "), "remove it")
	case value.Kind != yaml.ScalarNode || value.Tag == "!!null":
		return baseyaml.UnfitError(value, "a single value", "write a value after the colon")
	}
	return keys[i].set(d, value.Value)
}

// fits reports keys that have no meaning for the action, and whether there are none.
func (d *Disruption) fits(p *baseyaml.Problems, places map[string]baseyaml.Place) bool {
	ok := true
	for _, k := range keys {
		if at, hasKey := places[k.name]; hasKey && k.actions != nil && !slices.Contains(k.actions, d.Action) {
			ok = report(p, at, k.name, problem("it does not work with "+string(d.Action),
				"it with "+strings.Join(Words(k.actions), ", "), "remove it"))
		}
	}
	return ok
}

// withDefaults returns d with what is usual for what the file leaves out.
func (d Disruption) withDefaults(places map[string]baseyaml.Place) Disruption {
	if _, hasKey := places["for"]; !hasKey {
		d.Length = kinds[d.Action].defaultLength
	}
	if d.Action == target.Slow && d.Link == (Link{}) {
		d.Link = Link{Delay: 50 * time.Millisecond, Jitter: 50 * time.Millisecond}
	}
	return d
}

// report reports an error of a key, and whether there is none.
func report(p *baseyaml.Problems, at baseyaml.Place, key string, err error) bool {
	found, ok := errors.AsType[*baseyaml.Problem](err)
	if !ok {
		return true
	}
	found.Key = strings.Trim(strconv.Quote(text.Brief(key, 100)), `"`)
	p.Report(at, found)
	return false
}
