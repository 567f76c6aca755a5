package main

import (
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// share is one queue of a worker, with its weight.
type share struct {
	weight int64
	name   string
}

var errShares = errors.New("the queues are not arrays of a weight and a name")

// oneShare is an array of a weight and a name in quotes of either kind, within which a backslash escapes.
var oneShare = regexp.MustCompile(`^\s*\[\s*([+-]?\d+)\s*,\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\s*\]\s*`)

// parseShares reads the queues of an INFORM: arrays with commas in between, with or without an array around.
func (b *broker) parseShares(text string) ([]share, error) {
	rest := strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(rest, "["); ok && strings.HasPrefix(strings.TrimSpace(inner), "[") {
		if rest, ok = strings.CutSuffix(inner, "]"); !ok || b.variant == 6 {
			return nil, errShares
		}
	}
	var all []share
	for {
		found := oneShare.FindStringSubmatch(rest)
		if found == nil {
			return nil, errShares
		}
		one, err := b.newShare(found[1], found[2])
		if err != nil {
			return nil, err
		}
		all = append(all, one)
		if rest = rest[len(found[0]):]; rest == "" {
			return b.collapse(all), nil
		}
		if rest[0] != ',' {
			return nil, errShares
		}
		rest = rest[1:]
	}
}

// newShare reads a weight and a quoted name.
func (b *broker) newShare(weight, quoted string) (share, error) {
	bits := 64
	if b.mutant == 19 {
		bits = 9
	}
	n, err := strconv.ParseInt(weight, 10, bits)
	if err != nil {
		return share{}, err
	}
	name := quoted[1 : len(quoted)-1]
	if !strings.Contains(name, `\`) {
		return share{n, name}, nil
	}
	if quoted[0] == '\'' {
		name = strings.ReplaceAll(strings.ReplaceAll(name, `\'`, `'`), `"`, `\"`)
	}
	err = json.Unmarshal([]byte(`"`+name+`"`), &name)
	return share{n, name}, err
}

// collapse keeps, in mutant 18, one queue of each weight.
func (b *broker) collapse(all []share) []share {
	if b.mutant != 18 {
		return all
	}
	byWeight := map[int64]int{}
	var kept []share
	for _, sh := range all {
		if i, ok := byWeight[sh.weight]; ok {
			kept[i] = sh
			continue
		}
		byWeight[sh.weight] = len(kept)
		kept = append(kept, sh)
	}
	return kept
}
