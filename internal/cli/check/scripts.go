package check

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/input"
	"github.com/fwpsuite/fwp/internal/stress"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/scenarios"
)

// scriptFile is a script of the user's.
type scriptFile struct {
	name   string // as it was given, or below a directory that was given; "-" is standard input
	source []byte
}

// read reads scripts. A directory stands for every .fwp file below it.
func (p process) read(args []string) ([]scriptFile, error) {
	names, err := scriptNames(args)
	if err != nil {
		return nil, err
	}
	var files []scriptFile
	left := int64(mostOfScripts)
	for _, name := range names {
		source, err := p.readOne(name)
		if err != nil {
			return nil, fmt.Errorf("read script: %w", err)
		}
		if left -= int64(len(source)); left < 0 {
			return nil, fmt.Errorf("read script: more than %d MiB of scripts; name fewer", mostOfScripts>>20)
		}
		files = append(files, scriptFile{name, source})
	}
	return files, nil
}

// mostOfScripts is how many bytes all scripts of a command have at most.
const mostOfScripts = 64 << 20

func (p process) readOne(name string) ([]byte, error) {
	if name == "-" {
		return input.All(p.In, "standard input", scenarios.MaxSource)
	}
	return input.Read(name, scenarios.MaxSource)
}

// someScripts returns an error for a command line without scripts.
func someScripts(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("which script? Name files or folders, or - for standard input")
	}
	return nil
}

// completeScripts completes the names of scripts.
func completeScripts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"fwp"}, cobra.ShellCompDirectiveFilterFileExt
}

// scriptNames returns the names of all scripts, each once; a folder stands for those in it.
func scriptNames(args []string) ([]string, error) {
	var names []string
	for _, arg := range args {
		if program.IsURL(arg) {
			return nil, errors.New("a URL is not a script: use --url URL for the server")
		}
		found, err := scriptsAt(arg)
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(names, func(name string) bool {
		again := seen[name]
		seen[name] = true
		return again
	}), nil
}

// scriptsAt returns the name of a script, or of the scripts below a folder.
func scriptsAt(path string) ([]string, error) {
	if path == "-" {
		return []string{path}, nil
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read script: %w%s", err, isCheck(path))
	case info.IsDir():
		return scriptsBelow(path)
	}
	return []string{path}, nil
}

func scriptsBelow(folder string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".fwp") {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read scripts: %w", err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no .fwp file in %s", folder)
	}
	return names, nil
}

// isCheck returns a hint for the name of a check in the place of a file.
func isCheck(arg string) string {
	if slices.Contains(suiteNames(), arg) {
		return "; for the check of that name: --check " + arg
	}
	return ""
}

// examine parses and lints scripts. It returns those that parse, and the problems of all, file by file.
func examine(
	files []scriptFile, otherwise *conformance.Protocol,
) (scripts []*scenarios.Script, found scenarios.Problems) {
	for _, f := range files {
		protocol := dialectOf(f.source, otherwise)
		script, err := scenarios.Parse(protocol.Dialect, f.name, f.source)
		problems, readable := errors.AsType[scenarios.Problems](err)
		switch {
		case err == nil:
			scripts = append(scripts, script)
			problems = slices.Concat(scenarios.Lint(script), unknownClauses(protocol, script), badSettings(script))
		case !readable:
			problems = scenarios.Problems{{File: f.name, Pos: scenarios.Pos{Line: 1, Col: 1}, Message: err.Error()}}
		}
		slices.SortStableFunc(problems, func(a, b *scenarios.Problem) int { return a.Line - b.Line })
		found = append(found, problems...)
	}
	return scripts, found
}

// mistakes are the problems that keep a script from being played.
func mistakes(found scenarios.Problems) scenarios.Problems {
	return slices.DeleteFunc(slices.Clone(found), func(p *scenarios.Problem) bool { return p.Advice })
}

// unknownClauses returns problems of clauses that look like ours and are not; a script may have clauses of its own
// under other names.
func unknownClauses(p *conformance.Protocol, s *scenarios.Script) scenarios.Problems {
	var found scenarios.Problems
	seen := map[string]bool{}
	for mark := range s.Marks() {
		if _, ok := p.ClauseByID(mark.Clause); ok || seen[mark.Clause] {
			continue
		}
		seen[mark.Clause] = true
		if near := p.Suggest(mark.Clause); near != "" || strings.HasPrefix(mark.Clause, p.Prefix) {
			problem := at(s, mark.Clause)
			problem.Message = fmt.Sprintf("the catalogue has no clause %s", mark.Clause)
			problem.Help = "fwpcheck list --clauses prints it"
			if near != "" {
				problem.Help = text.DidYouMean(near)
			}
			found = append(found, problem)
		}
	}
	return found
}

// badSettings returns problems of the settings of the embedded server.
func badSettings(s *scenarios.Script) scenarios.Problems {
	err := checkSettings(s.Embedded)
	bad, ok := errors.AsType[*settingError](err)
	if !ok {
		return nil
	}
	problem := at(s, bad.key+"=")
	problem.Message, problem.Help = bad.Error(), "it takes "+bad.want
	return scenarios.Problems{problem}
}

// at returns a problem at the first place of a text in a script.
func at(s *scenarios.Script, text string) *scenarios.Problem {
	for i, line := range s.Source {
		if before, _, ok := strings.Cut(line, text); ok {
			return &scenarios.Problem{File: s.Name, Source: line,
				Pos: scenarios.Pos{Line: i + 1, Col: len([]rune(before)) + 1, Width: len([]rune(text))}}
		}
	}
	return &scenarios.Problem{File: s.Name, Source: s.Source[0], Pos: scenarios.Pos{Line: 1, Col: 1, Width: 1}}
}

// checks returns all checks of the suite: its scripts, and then its properties.
func checks() ([]conformance.Check, error) {
	all, err := stress.Suite()
	if err != nil {
		return nil, &program.InternalError{Cause: err}
	}
	return all, nil
}

// suiteNames returns the ids of the suite's checks, for suggestions.
func suiteNames() []string {
	all, err := checks()
	if err != nil {
		return nil
	}
	return namesOf(all)
}

func namesOf(checks []conformance.Check) []string {
	var names []string
	for _, c := range checks {
		names = append(names, c.Describe().ID)
	}
	return names
}

// clauseNames returns the ids of all clauses.
func clauseNames() []string {
	var ids []string
	for _, c := range allClauses() {
		ids = append(ids, c.ID)
	}
	return ids
}
