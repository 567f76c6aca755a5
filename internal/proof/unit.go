package main

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

// unit is what a change can bring: a script, a row of a table, a row or a declaration of Go, each without comments.
type unit struct {
	file     string
	words    []string
	declares []string // the names of a declaration of Go
}

// hasWord reports whether one of its words is a name.
func (u unit) hasWord(name string) bool { return slices.Contains(u.words, name) }

var word = regexp.MustCompile(`[\pL\pN_/-]+|[^\s]`)

// unitsOf returns the units of a file; none of a file that is a test, or data of tests.
func unitsOf(file string, text []byte) []unit {
	base := path.Base(file)
	switch {
	case strings.HasSuffix(base, "_test.go") || strings.Contains(file, "testdata/"):
	case path.Ext(base) == ".fwp":
		var lines []string
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(strings.TrimSpace(line), "#") {
				lines = append(lines, line)
			}
		}
		return []unit{{file: file, words: word.FindAllString(strings.Join(lines, ""), -1)}}
	case path.Ext(base) == ".txt":
		return rowsOf(file, string(text))
	case path.Ext(base) == ".go":
		return declarationsOf(file, text)
	}
	return nil
}

// rowsOf returns the rows of a table: lines that are not indented, each with the indented ones behind it.
func rowsOf(file, text string) (rows []unit) {
	for line := range strings.Lines(text) {
		words := word.FindAllString(line, -1)
		switch {
		case len(words) == 0 || words[0] == "#":
		case strings.HasPrefix(line, " ") && len(rows) > 0:
			last := &rows[len(rows)-1]
			last.words = append(last.words, words...)
		default:
			rows = append(rows, unit{file: file, words: words})
		}
	}
	return rows
}

// tableRows is how many elements a literal of Go has at least whose elements are rows.
const tableRows = 3

// declarationsOf returns the declarations of a file of Go, and those rows of tables in them as units of their own. What
// is no Go has none: the compiler says so.
func declarationsOf(file string, text []byte) (all []unit) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	textBetween := func(from, to token.Pos) string {
		return string(text[fset.Position(from).Offset:fset.Position(to).Offset])
	}
	for _, d := range tree.Decls {
		rest, at := "", d.Pos()
		for _, row := range rowsIn(d) {
			all = append(all, unit{file: file, words: wordsOf(textBetween(row.Pos(), row.End()))})
			rest += textBetween(at, row.Pos())
			at = row.End()
		}
		all = append(all, unit{file, wordsOf(rest + textBetween(at, d.End())), declaredNames(d)})
	}
	return all
}

// rowsIn returns the elements of the tables in a declaration, in their order.
func rowsIn(d ast.Decl) (rows []ast.Expr) {
	ast.Inspect(d, func(n ast.Node) bool {
		table, ok := n.(*ast.CompositeLit)
		if !ok || len(table.Elts) < tableRows {
			return true
		}
		switch table.Type.(type) {
		case *ast.ArrayType, *ast.MapType:
			rows = append(rows, table.Elts...)
			return false
		}
		return true
	})
	return rows
}

// declaredNames returns the names that a declaration gives.
func declaredNames(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		names = append(names, d.Name.Name)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			case *ast.ValueSpec:
				for _, name := range s.Names {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}

// wordsOf returns the words of a text of Go without its comments.
func wordsOf(text string) (words []string) {
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", fset.Base(), len(text)), []byte(text), nil, 0)
	for {
		_, tok, literal := s.Scan()
		switch {
		case tok == token.EOF:
			return words
		case tok == token.SEMICOLON && literal == "\n":
		default:
			words = append(words, word.FindAllString(cmp.Or(literal, tok.String()), -1)...)
		}
	}
}

// newUnits returns the units of a state of the project that another one before it did not have. A unit that has moved
// to another file is not new, and neither is one that differs only in names that were replaced everywhere: the old one
// is nowhere any more, and the new one was nowhere before.
func newUnits(before, now []unit) (all []unit) {
	counts := map[string]int{} // how often each text was there
	files := map[string]bool{}
	for _, u := range before {
		counts[strings.Join(u.words, " ")]++
		files[u.file] = true
	}
	now = slices.Clone(now)
	slices.SortStableFunc(now, func(a, b unit) int { // of two that are alike, that in a new file is the new one
		return cmp.Compare(rank(files[a.file]), rank(files[b.file]))
	})
	for _, u := range now {
		if text := strings.Join(u.words, " "); counts[text] > 0 {
			counts[text]--
		} else {
			all = append(all, u)
		}
	}
	var removedUnits []unit
	for _, u := range before {
		if text := strings.Join(u.words, " "); counts[text] > 0 {
			counts[text]--
			removedUnits = append(removedUnits, u)
		}
	}
	r := renames{oldWords: vocabulary(before), newWords: vocabulary(now), to: map[string]string{},
		from: map[string]string{}}
	return r.removeRenamed(all, removedUnits)
}

func rank(isKnown bool) int {
	if isKnown {
		return 0
	}
	return 1
}

func vocabulary(all []unit) map[string]bool {
	words := map[string]bool{}
	for _, u := range all {
		for _, w := range u.words {
			words[w] = true
		}
	}
	return words
}

// renames are the names that were replaced everywhere.
type renames struct {
	oldWords, newWords map[string]bool // the words before and now
	to, from           map[string]string
}

// removeRenamed returns the units that are not one of those that are gone, under other names.
func (r *renames) removeRenamed(all, removedUnits []unit) []unit {
	shapes := map[string][]unit{} // of what is gone
	for _, u := range removedUnits {
		shape := shapeOf(u, r.newWords)
		shapes[shape] = append(shapes[shape], u)
	}
	return slices.DeleteFunc(all, func(u unit) bool {
		shape := shapeOf(u, r.oldWords)
		i := slices.IndexFunc(shapes[shape], func(old unit) bool { return r.isRename(old, u) })
		if i >= 0 {
			shapes[shape] = slices.Delete(shapes[shape], i, i+1)
		}
		return i >= 0
	})
}

var isName = regexp.MustCompile(`^[\pL_]`)

// shapeOf returns the text of a unit with a blank for each name that is not known.
func shapeOf(u unit, words map[string]bool) string {
	var shape strings.Builder
	for _, w := range u.words {
		if words[w] || !isName.MatchString(w) {
			shape.WriteString(w)
		}
		shape.WriteByte(' ')
	}
	return shape.String()
}

// isRename reports whether a unit is another one of its shape, with the same new name for each old one as elsewhere.
func (r *renames) isRename(old, u unit) bool {
	for i, w := range u.words {
		if previous, ok := r.from[w]; ok && previous != old.words[i] {
			return false
		}
		if next, ok := r.to[old.words[i]]; ok && next != w {
			return false
		}
	}
	for i, w := range u.words {
		if w != old.words[i] {
			r.from[w], r.to[old.words[i]] = old.words[i], w
		}
	}
	return true
}

// userLimit is how many units may use what is declared, so that they are about what it does. What more of them use, as
// what makes a row, is for whole runs.
const userLimit = 12

// addUsers returns some units, and those of the same folder that use what one of them declares, however far.
func addUsers(units, all []unit) []unit {
	folders := map[string][]unit{}
	for _, u := range all {
		folders[path.Dir(u.file)] = append(folders[path.Dir(u.file)], u)
	}
	contains := func(u unit) bool {
		return slices.ContainsFunc(units, func(s unit) bool { return s.file == u.file && slices.Equal(s.words, u.words) })
	}
	for i := 0; i < len(units); i++ { // it grows
		for _, name := range units[i].declares {
			users := slices.DeleteFunc(slices.Clone(folders[path.Dir(units[i].file)]),
				func(u unit) bool { return !u.hasWord(name) })
			if len(users) > userLimit {
				continue
			}
			for _, u := range users {
				if !contains(u) {
					units = append(units, u)
				}
			}
		}
	}
	return units
}
