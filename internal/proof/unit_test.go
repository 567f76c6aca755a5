package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// brief returns the units of files, given as names and texts in turns.
func brief(files ...string) (all []unit) {
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
	assert.Len(t, brief("x/scripts/a/b.fwp", "# why\ntitle: A\n\nC: A\n"), 1)
	assert.Equal(t, []string{"title", ":", "A", "C", ":", "A"}, brief("a.fwp", "# why\ntitle: A\n\nC: A\n")[0].words)
	assert.Len(t, brief("bugs.txt", rows), 2)
	assert.True(t, brief("bugs.txt", rows)[0].is("reply"))
	assert.Len(t, brief("p/p.go", goTable), 7, "three rows, the table without them, three functions")
	assert.Empty(t, brief("p/p_test.go", goTable, "p/testdata/a.txt", rows, "a.md", "text", "p/q.go", "no Go"))
}

// What a change brings is what was not there before, wherever it stands and whatever it is called.
func TestFreshUnits(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, now []unit
		want        []string // the first word of each
	}{
		"nothing":         {brief("f.txt", rows), brief("f.txt", rows), nil},
		"another order":   {brief("f.txt", "a | x\nb | y\n"), brief("f.txt", "b | y\na | x\n"), nil},
		"another file":    {brief("f.txt", rows, "p/p.go", goTable), brief("g/f.txt", rows, "q/p.go", goTable), nil},
		"a comment":       {brief("f.txt", rows), brief("f.txt", "# why\n"+rows), nil},
		"a row":           {brief("f.txt", rows), brief("f.txt", rows+"c-three | X-03 | c\n"), []string{"c-three"}},
		"a changed row":   {brief("f.txt", "a | x y\nb | y x\n"), brief("f.txt", "a | x x\nb | y x\n"), []string{"a"}},
		"a copy":          {brief("f.txt", "a | x\n"), brief("e.txt", "a | x\n", "f.txt", "a | x\n"), []string{"a"}},
		"a name replaced": {brief("f.txt", "a | wrong x\nb | wrong\n"), brief("f.txt", "a | bug x\nb | bug\n"), nil},
		"replaced here only": {
			brief("f.txt", "a | wrong x\nb | wrong\n"), brief("f.txt", "a | bug x\nb | wrong\n"), []string{"a"},
		},
		"replaced by what was there": {brief("f.txt", "a | x\nb | y\n"), brief("f.txt", "a | y\nb | y\n"), []string{"a"}},
		"two names for one": {
			brief("f.txt", "a | wrong\nb | wrong\n"), brief("f.txt", "a | bug\nb | flaw\n"), []string{"b"},
		},
	} {
		var got []string
		for _, u := range fresh(test.before, test.now) {
			got = append(got, u.words[0])
		}
		assert.Equal(t, test.want, got, name)
	}
	copied := fresh(brief("f.txt", "a | x\n"), brief("e.txt", "a | x\n", "f.txt", "a | x\n"))
	assert.Equal(t, "e.txt", copied[0].file, "the one in the new file")
}

// A row of Go changes with each function that it calls.
func TestRowsThatUseAFunction(t *testing.T) {
	t.Parallel()
	before := brief("fakes/p/p.go", goTable)
	now := brief("fakes/p/p.go", goTable[:len(goTable)-len("2 }\n")]+"3 }\n")
	units := using(fresh(before, now), now)
	assert.True(t, units[0].is("helper"))
	var named []string
	for _, name := range []string{"a-one", "b-two", "c-three"} {
		for _, u := range units {
			if u.row(name) && u.declares == nil {
				named = append(named, name)
			}
		}
	}
	assert.Equal(t, []string{"b-two"}, named)
	many := now
	for range mostUsers {
		many = append(many, brief("fakes/p/q.go", "package p\n\nvar _ = helper()\n")...)
	}
	assert.Len(t, using(fresh(before, now), many), 1, "what everything uses is about no row")
}
