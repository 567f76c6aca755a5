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

// readStored returns the lines that are compared with, before anything is played. Only what stores may find none.
func (o options) readStored() ([]line, error) {
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
func (p program) against(ctx context.Context, o options, all []play, base, now []line) (code int, err error) {
	isAsked := func(l line) bool { return strings.HasPrefix(l.kind+" "+l.name, o.prefix) }
	rest := slices.DeleteFunc(slices.Clone(base), isAsked)
	base = rename(slices.DeleteFunc(base, func(l line) bool { return !isAsked(l) }))
	if now, err = p.repeat(ctx, o, all, base, now); err != nil {
		return exitFailed, err
	}
	text, isSame := tell(compare(base, now))
	switch _, err := io.WriteString(p.out, text); {
	case err != nil:
		return exitFailed, err
	case o.store:
		return exitSame, write(o.against, append(rest, merge(base, now)...))
	case !isSame:
		return exitChanged, nil
	}
	return exitSame, nil
}

// repeat plays more often what differs from what is stored, and what will be stored for the first time.
func (p program) repeat(ctx context.Context, o options, all []play, base, now []line) ([]line, error) {
	differs := map[playName]bool{}
	for _, d := range compare(base, now) {
		differs[d.playName] = d.word != wordUnsteady && d.word != wordMissing && (d.word != wordAdded || o.store)
	}
	repeats := slices.DeleteFunc(repeatEach(all, max(tries, o.plays)), func(entry play) bool {
		return !differs[playName{entry.kind, entry.name}]
	})
	if len(repeats) == 0 {
		return now, nil
	}
	p.log.Printf("chance may have decided what differs: it is played again")
	lines, err := p.pick(ctx, o, runtime.GOMAXPROCS(0), repeats)
	now = slices.DeleteFunc(now, func(l line) bool { return differs[playName{l.kind, l.name}] })
	return append(now, lines...), err
}

// merge returns the lines that are stored: one for each outcome that something had, and not one for each play. What was
// seen before is kept of all that has not changed.
func merge(base, now []line) (all []line) {
	baseOutcomes := plays(base)
	for w, outcomes := range plays(now) {
		if word := changeWord(baseOutcomes[w], outcomes); word == "" || word == wordUnsteady {
			outcomes = slices.Concat(baseOutcomes[w], outcomes)
		}
		var result []outcome
		for _, o := range outcomes {
			if !slices.ContainsFunc(result, func(s outcome) bool { return diff(s, o) == "" }) {
				result = append(result, o)
				all = append(all, line{key{w.kind, w.name, len(result)}, o})
			}
		}
	}
	return all
}
