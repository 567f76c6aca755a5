package main

import (
	"io/fs"
	"log"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// 25 submissions in a row play each part, when it was said, and each of them plays three minutes at most.
func TestEachSlowPartIsPlayed(t *testing.T) {
	t.Parallel()
	const first, submissions, limit = 1431, 25, 180
	parts, err := slowParts(slowTable)
	require.NoError(t, err)
	parts = slices.DeleteFunc(parts, func(s slowPart) bool { return s.omission != "" })
	plays := make([]int, len(parts))
	for n := first; n < first+submissions; n++ {
		seconds := 0
		for i, s := range parts {
			if s.distance(n) == 0 {
				seconds += s.seconds
				plays[i]++
			}
			assert.Zero(t, s.distance(n+s.distance(n)), s.args)
		}
		assert.LessOrEqual(t, seconds, limit, "seconds of submission %d", n)
	}
	assert.NotContains(t, plays, 0)
}

// option returns the word behind a text, as in " -run " or " ONLY=".
func (s slowPart) option(text string) string {
	_, value, _ := strings.Cut(" "+strings.Join(s.args, " "), text)
	value, _, _ = strings.Cut(value, " ")
	return value
}

// isListed reports whether parts play a test of a folder with all of its sub-tests: another part has what one skips.
func isListed(parts []slowPart, folder, test string) bool {
	match := func(pattern string) bool { return pattern != "" && regexp.MustCompile(pattern).MatchString(test) }
	isMissing := func(pattern string) bool {
		name, _, isSplit := strings.Cut(pattern, "/")
		return match(name) && !(isSplit && slices.ContainsFunc(parts, func(s slowPart) bool {
			return slices.Contains(s.args, folder) && s.option(" -run ") == pattern
		}))
	}
	return slices.ContainsFunc(parts, func(s slowPart) bool {
		run := s.option(" -run ")
		if strings.HasPrefix(test, "Fuzz") {
			return slices.Contains(strings.Split(s.option(" PACKAGES="), ","), folder)
		}
		return slices.Contains(s.args, folder) && (run == "" || match(run) && !strings.Contains(run, "/")) &&
			!slices.ContainsFunc(strings.Split(s.option(" -skip "), "|"), isMissing)
	})
}

func TestWhatIsListed(t *testing.T) {
	t.Parallel()
	const rest = "1 ./a -run TestA$ -skip TestA$/x|TestA$/y\n1 ./a -run TestA$/x\n"
	for table, want := range map[string]bool{
		"1 ./a": true, "1 ./a/b": false, "1 ./a -run TestA$": true, "1 ./a -run TestB": false, "1 ./a -skip TestB|TestA$": false,
		"1 ./a -run TestA$/x": false, rest: false, rest + "1 ./b -run TestA$/y": false, rest + "1 ./a -run TestA$/y": true,
		"1 make fuzz PACKAGES=./a": false,
	} {
		parts, err := slowParts(table)
		require.NoError(t, err)
		assert.Equal(t, want, isListed(parts, "./a", "TestA"), table)
	}
}

// The tests of a file that asks for FWP_SLOW=1 are in a part, or in make matrix or make permitted. So is each fuzz target,
// and what .ci/run leaves out of make race and make cross. Each part plays something.
func TestWhatIsSlowIsListed(t *testing.T) {
	t.Parallel()
	tests, files := moduleTests(t)
	parts, err := slowParts(slowTable)
	require.NoError(t, err)
	all, ci := slices.Clone(parts), files[".ci/run"]
	makefile := strings.NewReplacer("$$", "$", "'", "", "$(or $(OF),-server)", "-server").Replace(files["Makefile"])
	for _, recipe := range regexp.MustCompile(`(?m)^\tFWP_SLOW=1 \$\(GO\) test (.*)$`).FindAllStringSubmatch(makefile, -1) {
		all = append(all, slowPart{args: strings.Fields(recipe[1])})
	}
	assert.Regexp(t, `(?m)^step make matrix\b(.*\n)*step make permitted\b`, ci)
	has := func(option, value string) bool {
		return slices.ContainsFunc(parts, func(s slowPart) bool {
			return regexp.MustCompile("^(?:" + s.option(option) + ")$").MatchString(value)
		})
	}
	skip := regexp.MustCompile(`make race SKIP='(.*)'`).FindStringSubmatch(ci)[1]
	idle := slices.DeleteFunc(slices.Clone(parts), func(s slowPart) bool { return s.args[0] == "make" })
	for test, isSlow := range tests {
		folder, name := "./"+path.Dir(test), path.Base(test)
		assert.True(t, !isSlow || isListed(all, folder, name), "add %s of %s to slow.txt", name, folder)
		idle = slices.DeleteFunc(idle, func(s slowPart) bool {
			run, _, _ := strings.Cut(s.option(" -run "), "/")
			return slices.Contains(s.args, folder) && regexp.MustCompile(run).MatchString(name)
		})
		isRaced := !regexp.MustCompile(`^\./(?:` + skip + `)$`).MatchString(folder)
		assert.True(t, isRaced || has(" race ONLY=", folder[2:]), "add make race ONLY=%s to slow.txt", folder[2:])
	}
	assert.Empty(t, idle, "no test has such a name")
	for platform := range strings.FieldsSeq(regexp.MustCompile(`(?m)^PLATFORMS := (.*)$`).FindStringSubmatch(makefile)[1]) {
		assert.True(t, strings.Contains(ci, "PLATFORMS="+platform) || has(" cross PLATFORMS=", platform), platform)
	}
}

// moduleTests returns the tests of the module, as in folder/TestName, and whether they are slow: fuzz targets, and
// those of a file that asks for FWP_SLOW=1. It returns the texts of the files that say what is played, too.
func moduleTests(t *testing.T) (tests map[string]bool, texts map[string]string) {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(\w+ \*testing\.[TF]\)`)
	asks := regexp.MustCompile(`\bgolden\.(IsSlow|Sample|OnlySlow)\b`)
	tests, texts = map[string]bool{}, map[string]string{}
	root := os.DirFS("../..")
	require.NoError(t, fs.WalkDir(root, ".", func(file string, entry fs.DirEntry, err error) error {
		isPlan := file == "Makefile" || file == ".ci/run"
		if err != nil || entry.IsDir() || !isPlan && !strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(root, file)
		if isPlan {
			texts[file] = string(text)
		}
		for _, found := range function.FindAllSubmatch(text, -1) {
			name := string(found[1])
			tests[path.Dir(file)+"/"+name] = asks.Match(text) || strings.HasPrefix(name, "Fuzz")
		}
		return err
	}))
	return tests, texts
}

// What fails does not stop what follows it. Tests of Go are played with FWP_SLOW=1.
func TestSlowPartsAfterAFailure(t *testing.T) {
	t.Parallel()
	parts, err := slowParts("# nothing\n\n1 ./none\n2 -n ../base/number\n- ./a: red\n")
	require.NoError(t, err)
	var out, lines strings.Builder
	failed := program{out: &out, log: log.New(&lines, "", 0)}.playSlow(t.Context(), parts[:2])
	assert.Equal(t, []string{"env FWP_SLOW=1 go test -timeout 60m ./none: exit status 1"}, failed)
	assert.Contains(t, lines.String(), "env FWP_SLOW=1 go test -timeout 60m -n ../base/number: took ")
	assert.Equal(t, "submission 24 plays share 1 of 23 of what is slow; each part is played after so many more:\n"+
		"   0     1 s  ./none\n  22     2 s  -n ../base/number\nleft out: red: ./a\n", schedule(parts, 24))
}

// A submission is a commit of the first parents. A clone without them says so.
func TestTheNumberOfASubmission(t *testing.T) {
	t.Parallel()
	r, shallow := repositoryWith(t, "a.txt", "a\n"), repository{t.TempDir() + "/clone"}
	for _, args := range []string{
		"-c user.name=a -c user.email=a@example.org commit -q --allow-empty -m second",
		"clone -q --depth 1 file://" + r.folder + " " + shallow.folder,
	} {
		_, err := r.git(t.Context(), strings.Fields(args)...)
		require.NoError(t, err)
	}
	var lines strings.Builder
	p := program{log: log.New(&lines, "", 0)}
	n, err := p.submission(t.Context(), r, "HEAD")
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	_, err = p.submission(t.Context(), shallow, "HEAD")
	require.NoError(t, err)
	assert.Contains(t, lines.String(), "only the newest history")
}
