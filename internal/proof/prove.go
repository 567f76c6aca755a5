package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/allow"
	"github.com/fwpsuite/fwp/internal/proof/selftest"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/reports"
)

// prove says of a change what is missing, after it has played the pairs that the change brings.
func (p program) prove(ctx context.Context, args []string) (code int, err error) {
	f := flag.NewFlagSet("prove", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	base := f.String("base", "HEAD", "")
	plays := f.Bool("plays", false, "")
	limit := f.Duration("within", time.Hour, "")
	if err := f.Parse(args); err != nil || f.NArg() > 0 {
		return exitFailed, errors.Join(err, errUsage)
	}
	in := currentRepository()
	commit, err := in.commit(ctx, *base)
	if err != nil {
		return exitFailed, err
	}
	oldUnits, err := in.unitsAt(ctx, commit)
	if err != nil {
		return exitFailed, err
	}
	now, err := in.currentUnits(ctx)
	if err != nil {
		return exitFailed, err
	}
	catalogues, err := catalogues()
	if err != nil {
		return exitFailed, err
	}
	all := changeOf(newUnits(oldUnits, now), now, catalogues)
	p.log.Printf("since %.12s: %s", commit, all)
	proof := &proof{bubbles: p.bubbles, change: all, units: now}
	proof.play(time.Now().Add(*limit))
	if !*plays {
		err = proof.follow(ctx, in, commit)
	}
	_, writeErr := io.WriteString(p.out, proof.String())
	switch err = errors.Join(err, writeErr); {
	case err != nil:
		return exitFailed, err
	case len(proof.tasks) > 0:
		return exitChanged, nil
	}
	return exitSame, nil
}

// changePart is what a change brings to one catalogue.
type changePart struct {
	catalogue

	newChecks     []conformance.Check
	newBugs       []registry.Bug
	newVariations []registry.Variation
	newClauses    []conformance.Clause

	notes []string // what is not played, and why
}

// change is what it brings to all.
type change []changePart

func (all change) String() string {
	var checks, bugs, variations, clauses int
	for _, b := range all {
		checks, bugs = checks+len(b.newChecks), bugs+len(b.newBugs)
		variations, clauses = variations+len(b.newVariations), clauses+len(b.newClauses)
	}
	return fmt.Sprintf("new or changed are %d checks, %d planted bugs, %d variations, %d clauses",
		checks, bugs, variations, clauses)
}

// fakesFolder has the catalogues of bugs and variations. Units elsewhere may be about checks.
const fakesFolder = "fakes/"

// changeOf returns what units bring. A function that a row of Go calls brings the row again.
func changeOf(units, all []unit, catalogues []catalogue) (c change) {
	ofFakes := func(u unit) bool { return strings.HasPrefix(u.file, fakesFolder) }
	rest := slices.DeleteFunc(slices.Clone(units), ofFakes)
	fakes := addUsers(slices.DeleteFunc(slices.Clone(units), func(u unit) bool { return !ofFakes(u) }), all)
	isUnchanged := func(name string) bool {
		return !slices.ContainsFunc(fakes, func(u unit) bool { return u.row(path.Base(name)) })
	}
	oldClauses := map[string]bool{} // an extension has the clauses of its protocol
	for _, cat := range catalogues {
		b := changePart{catalogue: cat}
		b.newChecks = slices.DeleteFunc(slices.Clone(cat.checks), func(check conformance.Check) bool {
			id := check.Describe().ID
			return !slices.ContainsFunc(rest, func(u unit) bool { return u.brings(id) })
		})
		b.newBugs = slices.DeleteFunc(slices.Clone(cat.bugs), func(f registry.Bug) bool { return isUnchanged(f.Name) })
		b.newVariations = slices.DeleteFunc(slices.Clone(cat.variations), func(v registry.Variation) bool {
			return isUnchanged(v.Name)
		})
		b.newClauses = slices.DeleteFunc(slices.Clone(cat.fixture.Entry.Clauses()), func(clause conformance.Clause) bool {
			return oldClauses[clause.ID] || !slices.ContainsFunc(rest, func(u unit) bool { return u.heads(clause.ID) })
		})
		for _, clause := range b.newClauses {
			oldClauses[clause.ID] = true
		}
		b.newBugs = rewritten(&b, "planted bugs", b.newBugs, len(cat.bugs))
		b.newVariations = rewritten(&b, "variations", b.newVariations, len(cat.variations))
		c = append(c, b)
	}
	return c
}

// rewritten returns the new rows of a catalogue. Where they are a quarter of it, and not a few, a word was replaced in
// what they call, and none of them is new.
func rewritten[T any](b *changePart, kind string, rows []T, count int) []T {
	if minimum := 8; len(rows) < minimum || len(rows)*4 < count {
		return rows
	}
	b.notes = append(b.notes, fmt.Sprintf("%s: NOT PLAYED, as %d of %d %s have another text: a word was replaced, and "+
		"make corpus compares what is found", b.name, len(rows), count, kind))
	return nil
}

// brings reports whether a unit is a script of that name, or a row of Go with it.
func (u unit) brings(check string) bool {
	return strings.HasSuffix(u.file, "/"+check+".fwp") || path.Ext(u.file) == ".go" && u.declares == nil &&
		u.hasWord(check)
}

// row reports whether a unit is a row of that name: in a text it begins with it.
func (u unit) row(name string) bool {
	return path.Ext(u.file) != ".txt" && u.hasWord(name) || u.words[0] == name
}

// heads reports whether a unit is a row of a table of clauses that begins with a clause.
func (u unit) heads(clause string) bool {
	return strings.HasPrefix(path.Base(u.file), "clauses") && u.words[0] == clause
}

// proof is what was found. Its methods may be called concurrently.
type proof struct {
	bubbles

	change change
	units  []unit // of the work tree

	mu         sync.Mutex
	caughtBugs []string // the bugs that a new check catches
	results    []string // what each thing has come to
	files      []string // files
	tasks      []string // what to do
}

func (p *proof) tell(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.results = append(p.results, fmt.Sprintf(format, args...))
}

func (p *proof) miss(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tasks = append(p.tasks, fmt.Sprintf(format, args...))
}

// String is in the same order whatever was played first.
func (p *proof) String() string {
	var w strings.Builder
	for _, part := range []struct {
		heading string
		lines   []string
	}{{"", p.results}, {"written:\n", p.files}, {"missing:\n", p.tasks}} {
		slices.Sort(part.lines)
		if len(part.lines) > 0 {
			w.WriteString(part.heading)
		}
		for _, line := range slices.Compact(part.lines) {
			fmt.Fprintln(&w, "  "+strings.ReplaceAll(line, "\n", "\n    "))
		}
	}
	if len(p.tasks) == 0 {
		fmt.Fprintln(&w, "nothing is missing")
	}
	return w.String()
}

// play plays the pairs that a change brings, in virtual time, some at a time: those of checks first, which take a
// second, and those of variations last. What has not begun at a time is left out, and told.
func (p *proof) play(deadline time.Time) {
	plays := p.plays()
	queue := make(chan func() error)
	var players sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		players.Go(func() {
			for play := range queue {
				if err := play(); err != nil {
					p.miss("%v", err)
				}
			}
		})
	}
	for i, play := range plays {
		if time.Now().After(deadline) {
			p.tell("NOT PLAYED, as the time was over: %d of %d plays; make prove on single commits has them",
				len(plays)-i, len(plays))
			break
		}
		queue <- play
	}
	close(queue)
	players.Wait()
}

// plays returns what is to be played, and says what decides the clauses.
func (p *proof) plays() (plays []func() error) {
	var bugs, variations []func() error
	for _, b := range p.change {
		for _, note := range b.notes {
			p.tell("%s", note)
		}
		for _, check := range b.newChecks {
			plays = append(plays, p.checkPlays(b, check)...)
		}
		for _, f := range b.newBugs {
			bugs = append(bugs, func() error { return p.bug(b, f) })
		}
		for _, v := range b.newVariations {
			variations = append(variations, func() error { return p.vary(b, v, b.checks) })
		}
		for _, clause := range b.newClauses {
			p.clause(b, clause)
		}
	}
	return slices.Concat(plays, bugs, variations)
}

// checkPlays returns the plays of a check: on all variations, on the bugs of its clauses, and its mutants.
func (p *proof) checkPlays(b changePart, check conformance.Check) (plays []func() error) {
	id := check.Describe().ID
	for _, v := range b.variations {
		plays = append(plays, func() error { return p.vary(b, v, []conformance.Check{check}) })
	}
	plays = append(plays, func() error { return p.finds(b, check) })
	if script, ok := check.(conformance.ScriptCheck); ok {
		plays = append(plays, func() error { return p.mutants(b, script) })
	}
	p.tell("%s/%s: played on %d variations", b.name, id, len(b.variations))
	return plays
}

// vary plays checks on what differs and is right: nothing may be found, and everything must be decided.
func (p *proof) vary(b changePart, v registry.Variation, checks []conformance.Check) error {
	report, err := p.report(func(ctx context.Context, fixture selftest.Fixture) (*reports.Report, error) {
		return fixture.Vary(ctx, v, checks)
	}, b.fixture)
	if err != nil {
		return err
	}
	var uses allow.Usage
	for _, alarm := range b.fixture.FalseAlarms(v, report, &uses) {
		p.miss("%s/%s: a check and a variation contradict each other: %s", b.name, v.Name, strings.TrimSpace(alarm.String()))
	}
	if len(checks) == len(b.checks) { // else other checks, as explorations, may need what is allowed
		for _, row := range uses.Stale(v.Allows) {
			if !strings.Contains(row, "explore/") {
				p.miss("%s", row)
			}
		}
	}
	return nil
}

// finds plays a check on the bugs that break its clauses: it must find one, unless it only records.
func (p *proof) finds(b changePart, check conformance.Check) error {
	var hits, played []string
	id := check.Describe().ID
	for _, f := range b.bugs {
		if !selftest.Names(f, check) {
			continue
		}
		row, err := p.row(b, f, []conformance.Check{check})
		if err != nil {
			return err
		}
		if played = append(played, f.Name); p.isHit(b, row, id) {
			hits = append(hits, f.Name)
			p.catch(b.name + "/" + f.Name)
		}
		for _, text := range row.Unexpected {
			p.miss("%s/%s: %s: name the clause in its row, or repair the check", b.name, f.Name, text)
		}
	}
	switch {
	case len(hits) > 0:
		p.tell("%s/%s: finds %s", b.name, id, strings.Join(hits, ", "))
	case selftest.Judges(b.fixture.Entry.Suite, check):
		p.miss("%s/%s finds no planted bug (played: %s): add a row to %s that breaks one of its clauses and no other one",
			b.name, id, orNone(played), p.fileOf(b.bugs))
	}
	return nil
}

// isHit reports whether a check found a clause broken that it decides: what the law finds is not the check's. In a
// situation of a client the rules decide most clauses, whatever it is about, as in the matrix of clients.
func (p *proof) isHit(b changePart, row *selftest.Row, check string) bool {
	return slices.Contains(row.Catchers, check) || !b.fixture.HasOwnServers() &&
		slices.ContainsFunc(slices.Collect(maps.Values(row.Red)), func(checks []string) bool {
			return slices.Contains(checks, check)
		})
}

// fileOf returns the table that has the rows of some bugs.
func (p *proof) fileOf(bugs []registry.Bug) string {
	rows := map[string]int{"": 0}
	for _, u := range p.units {
		if path.Ext(u.file) == ".txt" && strings.HasPrefix(u.file, fakesFolder) &&
			slices.ContainsFunc(bugs, func(f registry.Bug) bool { return u.words[0] == path.Base(f.Name) }) {
			rows[u.file]++
		}
	}
	return slices.MaxFunc(slices.Sorted(maps.Keys(rows)), func(a, b string) int { return rows[a] - rows[b] })
}

func (p *proof) catch(bug string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.caughtBugs = append(p.caughtBugs, bug)
}

func orNone(words []string) string {
	if len(words) == 0 {
		return "none names its clauses"
	}
	return strings.Join(words, ", ")
}

// row plays checks on a bug.
func (p *proof) row(b changePart, f registry.Bug, checks []conformance.Check) (*selftest.Row, error) {
	m := selftest.Matrix{Protocol: b.fixture.Entry.Suite}
	groups := [][]conformance.Check{checks}
	if b.fixture.HasOwnServers() {
		groups = slices.Collect(slices.Chunk(checks, 1))
	}
	for _, group := range groups {
		report, err := p.report(func(ctx context.Context, fixture selftest.Fixture) (*reports.Report, error) {
			return fixture.Report(ctx, []registry.Bug{f}, group, nil)
		}, b.fixture)
		if err != nil {
			return nil, err
		}
		m.AddReport(f, group, report)
	}
	return m.Rows()[0], nil
}

// bug plays all checks on a bug: one must find the first of its clauses, and none another clause than it names.
func (p *proof) bug(b changePart, f registry.Bug) error {
	row, err := p.row(b, f, b.checks)
	if err != nil {
		return err
	}
	for _, text := range row.Unexpected {
		p.miss("%s/%s: %s: name the clause in its row, or let it break less", b.name, f.Name, text)
	}
	if gap := row.Gap(); gap != "" || !row.Detected() {
		p.miss("%s/%s: %s: write a check that does, or another first clause", b.name, f.Name,
			cmp.Or(gap, "nothing finds it"))
		return nil
	}
	p.tell("%s/%s: found by %s", b.name, f.Name, strings.Join(row.Catchers, ", "))
	return nil
}

// mutants changes each reply to a line of a script that decides a clause: the script must see it.
func (p *proof) mutants(b changePart, script conformance.ScriptCheck) error {
	var uses allow.Usage
	count := map[string]int{}
	survivors, err := b.survivors(p.bubbles, script, func(mutant) bool { return true }, &uses, count)
	for _, survivor := range survivors {
		p.miss("%s", survivor)
	}
	p.tell("%s/%s: %d mutants of its lines", b.name, script.Script.Name, count["all"])
	return err
}
