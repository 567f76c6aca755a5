package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/input"
)

// What checks can make of something that is played. That a server died counts as a clause of whatever made it die.
const (
	resultFound     = "found"     // a clause is broken; of a bug: one that it names
	resultElsewhere = "elsewhere" // of a bug: clauses are broken, and it names none of them
	resultNothing   = "nothing"
)

// key is what a line is about.
type key struct {
	kind string // bug, variation, run, explore, worker or mutant
	name string // the protocol, and the name of its catalogue, or of the command line
	play int    // from 1 on; more than one where chance decides
}

func (k key) compare(other key) int {
	return cmp.Or(cmp.Compare(k.kind, other.kind), cmp.Compare(k.name, other.name), k.play-other.play)
}

// line is what one play has come to. The lists are sorted, and have each word once.
type line struct {
	key

	outcome
}

// outcome is what two plays of the same are compared by.
type outcome struct {
	result      string
	clauses     []string // that are broken
	checks      []string // that found one broken, or the server dead
	openClauses []string // clauses that something has left open, and nothing has decided
	exit        int      // the exit code of the command
}

// separator stands between the fields of a line, and none for an empty list.
const (
	separator  = "\t"
	emptyField = "-"
	fields     = 8
)

// heading is the first line of a file.
const heading = "# kind\tname\tplay\tfound\tclauses\tchecks\topen\texit"

func (l line) String() string {
	return strings.Join([]string{
		l.kind, l.name, strconv.Itoa(l.play), l.result, joinWords(l.clauses), joinWords(l.checks), joinWords(l.openClauses),
		strconv.Itoa(l.exit),
	}, separator)
}

func joinWords(words []string) string { return cmp.Or(strings.Join(words, " "), emptyField) }

// parse reads what String returns.
func parse(text string) (l line, err error) {
	f := strings.Split(text, separator)
	if len(f) != fields {
		return l, fmt.Errorf("%d fields instead of %d: %q", len(f), fields, text)
	}
	words := func(list string) []string {
		if list == emptyField {
			return nil
		}
		return strings.Fields(list)
	}
	l = line{
		key{kind: f[0], name: f[1]}, outcome{result: f[3], clauses: words(f[4]), checks: words(f[5]),
			openClauses: words(f[6])},
	}
	var playErr, exitErr error
	l.play, playErr = strconv.Atoi(f[2])
	l.exit, exitErr = strconv.Atoi(f[7])
	return l, errors.Join(playErr, exitErr)
}

// fileLimit is the size of the longest file that is read.
const fileLimit = 1 << 28

// read returns the lines of a file, none if it does not exist. What an interruption has left of its last line is
// dropped.
func read(file string) (all []line, err error) {
	text, err := input.Read(file, fileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	n := 0
	for text := range strings.Lines(string(text)) {
		n++
		if strings.HasPrefix(text, "#") {
			continue
		}
		l, err := parse(strings.TrimSuffix(text, "\n"))
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		all = append(all, l)
	}
	return all, nil
}

// write makes a file anew, with its lines in order. An interruption leaves the old one, or the new one.
func write(file string, all []line) error {
	slices.SortFunc(all, func(a, b line) int { return a.compare(b.key) })
	var text bytes.Buffer
	fmt.Fprintln(&text, heading)
	for _, l := range all {
		fmt.Fprintln(&text, l)
	}
	const part = ".part"
	if err := os.WriteFile(file+part, text.Bytes(), 0o644); err != nil { //nolint:gosec // everybody may read it
		return err
	}
	return os.Rename(file+part, file)
}

// set returns words sorted, each once.
func set(words []string) []string {
	slices.Sort(words)
	return slices.Compact(words)
}
