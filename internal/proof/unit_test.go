package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// unitsOfFiles returns the units of files, given as names and texts in turns.
func unitsOfFiles(files ...string) (all []unit) {
	for i := 0; i < len(files); i += 2 {
		all = append(all, unitsOf(files[i], []byte(files[i+1]))...)
	}
	return all
}

const (
	rows    = "# planted bugs\na-one | X-01 | does a\n  on ran: reply 1\nb-two | X-02 | does b\n"
	goTable = "package p\n\n// A comment.\nvar all = []row{\n\t{\"a-one\", first},\n\t{\"b-two\", second}, // why\n\t{\"c-three\", first},\n}\n" +
		"\nfunc first() int { return 1 }\n\nfunc second() int { return helper() }\n\nfunc helper() int { return 2 }\n"
)

func TestUnits(t *testing.T) {
	t.Parallel()
	assert.Len(t, unitsOfFiles("x/scripts/a/b.fwp", "# why\ntitle: A\n\nC: A\n"), 1)
	assert.Equal(t, []string{"title", ":", "A", "C", ":", "A"}, unitsOfFiles("a.fwp", "# why\ntitle: A\n\nC: A\n")[0].words)
	assert.Len(t, unitsOfFiles("bugs.txt", rows), 2)
	assert.True(t, unitsOfFiles("bugs.txt", rows)[0].hasWord("reply"))
	assert.Len(t, unitsOfFiles("p/p.go", goTable), 7, "three rows, the table without them, three functions")
	assert.Empty(t, unitsOfFiles("p/p_test.go", goTable, "p/testdata/a.txt", rows, "a.md", "text", "p/q.go", "no Go"))
}

// What a change brings is what was not there before, wherever it stands and whatever it is called.
func TestFreshUnits(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, now []unit
		want        []string // the first word of each
	}{
		"nothing":         {unitsOfFiles("f.txt", rows), unitsOfFiles("f.txt", rows), nil},
		"another order":   {unitsOfFiles("f.txt", "a | x\nb | y\n"), unitsOfFiles("f.txt", "b | y\na | x\n"), nil},
		"another file":    {unitsOfFiles("f.txt", rows, "p/p.go", goTable), unitsOfFiles("g/f.txt", rows, "q/p.go", goTable), nil},
		"a comment":       {unitsOfFiles("f.txt", rows), unitsOfFiles("f.txt", "# why\n"+rows), nil},
		"a row":           {unitsOfFiles("f.txt", rows), unitsOfFiles("f.txt", rows+"c-three | X-03 | c\n"), []string{"c-three"}},
		"a changed row":   {unitsOfFiles("f.txt", "a | x y\nb | y x\n"), unitsOfFiles("f.txt", "a | x x\nb | y x\n"), []string{"a"}},
		"a copy":          {unitsOfFiles("f.txt", "a | x\n"), unitsOfFiles("e.txt", "a | x\n", "f.txt", "a | x\n"), []string{"a"}},
		"a name replaced": {unitsOfFiles("f.txt", "a | wrong x\nb | wrong\n"), unitsOfFiles("f.txt", "a | bug x\nb | bug\n"), nil},
		"replaced here only": {
			unitsOfFiles("f.txt", "a | wrong x\nb | wrong\n"), unitsOfFiles("f.txt", "a | bug x\nb | wrong\n"), []string{"a"},
		},
		"replaced by what was there": {unitsOfFiles("f.txt", "a | x\nb | y\n"), unitsOfFiles("f.txt", "a | y\nb | y\n"), []string{"a"}},
		"two names for one": {
			unitsOfFiles("f.txt", "a | wrong\nb | wrong\n"), unitsOfFiles("f.txt", "a | bug\nb | flaw\n"), []string{"b"},
		},
	} {
		var got []string
		for _, u := range newUnits(test.before, test.now) {
			got = append(got, u.words[0])
		}
		assert.Equal(t, test.want, got, name)
	}
	copied := newUnits(unitsOfFiles("f.txt", "a | x\n"), unitsOfFiles("e.txt", "a | x\n", "f.txt", "a | x\n"))
	assert.Equal(t, "e.txt", copied[0].file, "the one in the new file")
}

// A row of Go changes with each function that it calls.
func TestRowsThatUseAFunction(t *testing.T) {
	t.Parallel()
	before := unitsOfFiles("fakes/p/p.go", goTable)
	now := unitsOfFiles("fakes/p/p.go", goTable[:len(goTable)-len("2 }\n")]+"3 }\n")
	units := addUsers(newUnits(before, now), now)
	assert.True(t, units[0].hasWord("helper"))
	var names []string
	for _, name := range []string{"a-one", "b-two", "c-three"} {
		for _, u := range units {
			if u.row(name) && u.declares == nil {
				names = append(names, name)
			}
		}
	}
	assert.Equal(t, []string{"b-two"}, names)
	large := now
	for range userLimit {
		large = append(large, unitsOfFiles("fakes/p/q.go", "package p\n\nvar _ = helper()\n")...)
	}
	assert.Len(t, addUsers(newUnits(before, now), large), 1, "what everything uses is about no row")
}
