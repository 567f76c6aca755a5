package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/registry"
)

// repositoryWith returns a repository with one commit of files, given as names and texts in turns.
func repositoryWith(t *testing.T, files ...string) repository {
	t.Helper()
	r := repository{t.TempDir()}
	r.write(t, files...)
	for _, args := range []string{
		"init -q", "add .", "-c user.name=a -c user.email=a@example.org commit -q -m first",
	} {
		_, err := r.git(t.Context(), strings.Fields(args)...)
		require.NoError(t, err)
	}
	return r
}

func (r repository) write(t *testing.T, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(r.folder, filepath.FromSlash(files[i]))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(files[i+1]), 0o600))
	}
}

func TestTheUnitsOfACommitAndOfNow(t *testing.T) {
	t.Parallel()
	r := repositoryWith(t, "a/f.txt", "a | x\n", "a/g.txt", "g | y\n", ".gitignore", "bin\n")
	commit, err := r.commit(t.Context(), "HEAD")
	require.NoError(t, err)
	r.write(t, "a/f.txt", "a | x\nb | z\n", "new.fwp", "C: A\n", "bin/h.txt", "h | h\n")
	require.NoError(t, os.Remove(filepath.Join(r.folder, "a", "g.txt")))
	oldUnits, err := r.unitsAt(t.Context(), commit)
	require.NoError(t, err)
	assert.ElementsMatch(t, unitsOfFiles("a/f.txt", "a | x\n", "a/g.txt", "g | y\n"), oldUnits)
	now, err := r.currentUnits(t.Context())
	require.NoError(t, err)
	assert.ElementsMatch(t, unitsOfFiles("a/f.txt", "a | x\nb | z\n", "new.fwp", "C: A\n"), now)
	names, err := r.changedFiles(t.Context(), commit)
	require.NoError(t, err)
	assert.Equal(t, []string{"a/f.txt", "a/g.txt", "new.fwp"}, names)
	hashes, err := r.hashes(t.Context())
	require.NoError(t, err)
	assert.Len(t, hashes, 2)
}

func TestACommitThatIsNotThere(t *testing.T) {
	t.Parallel()
	r := repositoryWith(t, "a.txt", "a\n")
	_, err := r.commit(t.Context(), "HEAD~1")
	require.ErrorContains(t, err, "HEAD~1 is no commit of this repository")
	shallow := repository{t.TempDir()}
	clone := exec.CommandContext(t.Context(), "git", "clone", "-q", "--depth=1", "file://"+filepath.ToSlash(r.folder), shallow.folder)
	require.NoError(t, clone.Run())
	_, err = shallow.commit(t.Context(), "HEAD~1")
	require.ErrorContains(t, err, "git fetch --unshallow")
}

// catalogued returns the catalogue of the servers of a protocol with what units bring to it.
func partOf(t *testing.T, name string, all ...unit) changePart {
	t.Helper()
	list, err := catalogues()
	require.NoError(t, err)
	for _, b := range changeOf(all, all, list) {
		if b.name == name && b.fixture.Client == nil {
			return b
		}
	}
	require.Fail(t, "no catalogue", name)
	return changePart{}
}

// TestAReplacedWordBringsNothing: where a quarter of a catalogue has another text, a word was replaced; that is told.
func TestAReplacedWordBringsNothing(t *testing.T) {
	t.Parallel()
	count := 0
	var rows strings.Builder
	for _, f := range catalogueOf(t, "fwp").bugs {
		if count++; count <= 70 {
			fmt.Fprintf(&rows, "%s | FWP-ACK-02 | again\n", f.Name)
		}
	}
	require.Less(t, count, 4*70)
	b := partOf(t, "fwp", unitsOfFiles("fakes/bugs/bugs.txt", rows.String())...)
	assert.Empty(t, b.newBugs)
	p := &proof{bubbles: bubbles{t}, change: change{b}}
	p.plays()
	assert.Contains(t, p.String(), fmt.Sprintf("fwp: NOT PLAYED, as 70 of %d planted bugs have another text", count))
}

func TestWhatAChangeBrings(t *testing.T) {
	t.Parallel()
	b := partOf(t, "fwp", unitsOfFiles(
		"scenarios/x/scripts/push/accepted.fwp", "C: A\n", "fakes/bugs/bugs.txt", "ack-redelivered | FWP-ACK-02 | again\n",
		"fakes/variations/variations.txt", "error-empty | Errors | no text\n", "conformance/x/clauses_1.txt", "FWP-ACK-01 | S\n",
	)...)
	require.Len(t, b.newChecks, 1)
	assert.Equal(t, "push/accepted", b.newChecks[0].Describe().ID)
	require.Len(t, b.newBugs, 1)
	require.Len(t, b.newVariations, 1)
	require.Len(t, b.newClauses, 1)
	assert.Equal(t, "FWP-ACK-01", b.newClauses[0].ID)
}

// prove returns what is told and what is missing of a change to the servers of a protocol.
func prove(t *testing.T, b changePart) *proof {
	t.Helper()
	units := unitsOfFiles("fakes/x/bugs.txt", "ack-redelivered | FWP-ACK-02 | x\n")
	p := &proof{bubbles: bubbles{t}, change: change{b}, units: units}
	p.play(time.Now().Add(time.Hour))
	return p
}

// A check that finds a bug and blames nobody else has all that it needs.
func TestAProvenCheck(t *testing.T) {
	t.Parallel()
	b := changePart{catalogue: catalogueOf(t, "workq", "add/time-to-live", "inspect/job")}
	b.variations = b.variations[:3]
	b.newChecks = b.checks[:1]
	p := prove(t, b)
	assert.Empty(t, p.tasks)
	assert.Contains(t, p.String(), "workq/add/time-to-live: finds add-ttl-ignored")
	assert.Contains(t, p.String(), "nothing is missing")
}

// What is missing is told with what to do: of a check that nothing makes fail, of one that blames what is right, of a
// bug that nothing finds, and that breaks another clause than its own.
func TestWhatIsMissingOfAChange(t *testing.T) {
	t.Parallel()
	b := changePart{catalogue: catalogueOf(t, "fwp", "push/accepted", "ack/is-final")}
	bug := func(name string, clauses ...string) registry.Bug {
		f, err := registry.Default().BugNamed(name)
		require.NoError(t, err)
		f.Clauses = clauses
		return f
	}
	for name, test := range map[string]struct {
		change func(*changePart)
		want   string
	}{
		"a check that finds no planted bug": {func(b *changePart) {
			b.bugs, b.variations, b.newChecks = nil, nil, b.checks[:1]
		}, "finds no planted bug (played: none names its clauses): add a row to"},
		"a planted bug that nothing finds": {func(b *changePart) {
			b.newBugs = []registry.Bug{bug("beat-bulk", "FWP-PUSH-01")}
		}, "fwp/beat-bulk: no check finds FWP-PUSH-01 broken: write a check that does"},
		"a planted bug that breaks another clause": {func(b *changePart) {
			b.newBugs = []registry.Bug{bug("push-other-answer", "FWP-ACK-02")}
		}, "fwp/push-other-answer: push/accepted finds FWP-PUSH-01 broken, which is not declared"},
		"a clause that nothing decides": {func(b *changePart) {
			b.newClauses = []conformance.Clause{{ID: "FWP-NEW-01", Party: "S", Level: "MUST"}}
		}, "FWP-NEW-01: nothing decides it: write a check"},
		"a clause that no planted bug breaks": {func(b *changePart) {
			b.bugs, b.newClauses = nil, []conformance.Clause{{ID: "FWP-PUSH-04", Party: "S", Level: "MUST"}}
		}, "FWP-PUSH-04: no planted bug breaks it: add a row"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			with := b
			test.change(&with)
			p := prove(t, with)
			assert.Contains(t, strings.Join(p.tasks, "\n"), test.want)
		})
	}
}

// What has not begun when the time is over is told.
func TestWhatIsNotPlayedInTime(t *testing.T) {
	t.Parallel()
	b := changePart{catalogue: catalogueOf(t, "workq", "inspect/job")}
	b.newChecks = b.checks
	p := &proof{bubbles: bubbles{t}, change: change{b}}
	p.play(time.Time{})
	assert.Contains(t, p.String(), "NOT PLAYED")
}

func TestPackagesThatFollow(t *testing.T) {
	t.Parallel()
	all := packages{
		module + "a":       {Deps: []string{"fmt"}},
		module + "a/b":     {Deps: []string{module + "a"}, TestImports: []string{goldenPackage}},
		module + "c":       {XTestImports: []string{module + "a/b", goldenPackage}},
		module + "d":       {Deps: []string{"fmt"}, TestImports: []string{goldenPackage}},
		goldenPackage:      {},
		module + "a/plain": {},
	}
	names := all.byFiles([]string{"a/testdata/x/y.txt", "README.md", "a/z.go", "none/x.go"})
	assert.Equal(t, []string{module + "a"}, names)
	for name, want := range map[string]bool{"a": false, "a/b": true, "c": true, "d": false} {
		assert.Equal(t, want, all.writes(module+name) && all.reaches(module+name, names), name)
	}
}

func TestFailuresOfTests(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []failure{
		{"m/p", "TestA/one_part", "p_test.go:3: wrong"}, {"m/q", "", "q.go:1: undefined: x"},
	}, readFailures(bufio.NewScanner(strings.NewReader(`{"Action":"output","Package":"m/p","Test":"TestA","Output":"=== RUN TestA\n"}
{"Action":"output","Package":"m/p","Test":"TestA/one_part","Output":"    p_test.go:3: wrong\n"}
{"Action":"output","Package":"m/p","Test":"TestA/one_part","Output":"--- FAIL: TestA/one_part\n"}
no JSON
{"Action":"fail","Package":"m/p","Test":"TestA/one_part"}
{"Action":"fail","Package":"m/p","Test":"TestA"}
{"Action":"fail","Package":"m/p"}
{"Action":"pass","Package":"m/r"}
{"Action":"build-output","ImportPath":"m/q","Output":"q.go:1: undefined: x\n"}
{"Action":"build-fail","ImportPath":"m/q"}
`))))
	assert.Equal(t, "^TestA$/^one_part$", failure{test: "TestA/one_part"}.pattern())
}
