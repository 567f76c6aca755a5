package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
)

// tries is how often that is played which differs from what is stored, before it counts: chance may have decided it.
const tries = 3

// stored returns the lines that are compared with, before anything is played. Only what stores may find none.
func (o options) stored() ([]line, error) {
	if o.against == "" {
		return nil, nil
	}
	lines, err := read(o.against)
	if err == nil && len(lines) == 0 && !o.store {
		err = fmt.Errorf("%s has no lines: -store writes them", o.against)
	}
	return lines, err
}

// against compares lines of the plays with those that are stored of them, and stores them if that is asked for.
func (p program) against(ctx context.Context, o options, all []play, stored, now []line) (code int, err error) {
	asked := func(l line) bool { return strings.HasPrefix(l.kind+" "+l.name, o.only) }
	others := slices.DeleteFunc(slices.Clone(stored), asked)
	stored = renamed(slices.DeleteFunc(stored, func(l line) bool { return !asked(l) }))
	if now, err = p.again(ctx, o, all, stored, now); err != nil {
		return exitFailed, err
	}
	text, same := tell(compare(stored, now))
	switch _, err := io.WriteString(p.out, text); {
	case err != nil:
		return exitFailed, err
	case o.store:
		return exitSame, write(o.against, append(others, kept(stored, now)...))
	case !same:
		return exitChanged, nil
	}
	return exitSame, nil
}

// again plays more often what differs from what is stored, and what will be stored for the first time.
func (p program) again(ctx context.Context, o options, all []play, stored, now []line) ([]line, error) {
	differs := map[what]bool{}
	for _, d := range compare(stored, now) {
		differs[d.what] = d.word != unsteady && d.word != missing && (d.word != added || o.store)
	}
	more := slices.DeleteFunc(repeated(all, max(tries, o.plays)), func(one play) bool {
		return !differs[what{one.kind, one.name}]
	})
	if len(more) == 0 {
		return now, nil
	}
	p.log.Printf("chance may have decided what differs: it is played again")
	lines, err := p.pick(ctx, o, runtime.GOMAXPROCS(0), more)
	now = slices.DeleteFunc(now, func(l line) bool { return differs[what{l.kind, l.name}] })
	return append(now, lines...), err
}

// kept returns the lines that are stored: one for each outcome that something had, and not one for each play. What was
// seen before is kept of all that has not changed.
func kept(stored, now []line) (all []line) {
	before := plays(stored)
	for w, outcomes := range plays(now) {
		if word := became(before[w], outcomes); word == "" || word == unsteady {
			outcomes = slices.Concat(before[w], outcomes)
		}
		var seen []outcome
		for _, o := range outcomes {
			if !slices.ContainsFunc(seen, func(s outcome) bool { return diff(s, o) == "" }) {
				seen = append(seen, o)
				all = append(all, line{key{w.kind, w.name, len(seen)}, o})
			}
		}
	}
	return all
}
