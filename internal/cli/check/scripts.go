package check

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/input"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/reports"
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
	rest := int64(maxScriptBytes)
	for _, name := range names {
		source, err := p.readScript(name)
		if err != nil {
			return nil, fmt.Errorf("read script: %w", err)
		}
		if rest -= int64(len(source)); rest < 0 {
			return nil, fmt.Errorf("read script: the scripts have more than %d MiB; give fewer files", maxScriptBytes>>20)
		}
		files = append(files, scriptFile{name, source})
	}
	return files, nil
}

// maxScriptBytes is how many bytes all scripts of a command have at most.
const maxScriptBytes = 64 << 20

func (p process) readScript(name string) ([]byte, error) {
	if name == "-" {
		return input.All(p.In, "standard input", scenarios.MaxSource)
	}
	return input.Read(name, scenarios.MaxSource)
}

// requireScripts returns an error for a command line without scripts.
func requireScripts(_ *cobra.Command, args []string) error {
	return errorIf(len(args) == 0, "give script files, folders, or - for standard input")
}

// scriptSuffix ends the names of scripts.
const scriptSuffix = ".fwp"

// completeScripts completes the names of scripts.
func completeScripts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{scriptSuffix[1:]}, cobra.ShellCompDirectiveFilterFileExt
}

// scriptNames returns the names of all scripts, each once; a folder stands for those in it.
func scriptNames(args []string) (names []string, err error) {
	set := map[string]bool{}
	for _, arg := range args {
		if shared.IsURL(arg) {
			return nil, errors.New("this is a URL, not a script: use --url URL for the server")
		}
		found, err := scriptPaths(arg)
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			if !set[name] {
				set[name], names = true, append(names, name)
			}
		}
	}
	return names, nil
}

// scriptPaths returns the name of a script, or of the scripts below a folder.
func scriptPaths(path string) (names []string, err error) {
	if path == "-" {
		return []string{path}, nil
	}
	switch info, err := os.Stat(path); {
	case err != nil:
		return nil, fmt.Errorf("read script: %w%s", err, checkHint(path))
	case !info.IsDir():
		return []string{path}, nil
	}
	err = filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, scriptSuffix) {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read scripts: %w", err)
	}
	return names, errorIf(len(names) == 0, "no .fwp file in "+path)
}

// checkHint returns a hint for the name of a check in the place of a file.
func checkHint(arg string) string {
	if slices.Contains(suiteNames(), arg) {
		return "; to play the check of that name: --check " + arg
	}
	return ""
}

// examine parses and lints scripts. It returns those that parse, and the problems of all, file by file.
func examine(
	files []scriptFile, fallback *registry.Entry,
) (scripts []*scenarios.Script, found scenarios.Problems) {
	for _, f := range files {
		protocol := scriptProtocol(f.source, fallback)
		script, err := scenarios.Parse(protocol.Dialect, f.name, f.source)
		problems, ok := errors.AsType[scenarios.Problems](err)
		switch {
		case err == nil:
			scripts = append(scripts, script)
			problems = slices.Concat(scenarios.Lint(script), unknownClauses(protocol, script), idleMarks(script))
		case !ok:
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
func unknownClauses(p *registry.Entry, s *scenarios.Script) scenarios.Problems {
	var found scenarios.Problems
	ids := map[string]bool{}
	for mark := range s.Marks() {
		if _, ok := p.ClauseByID(mark.Clause); ok || ids[mark.Clause] {
			continue
		}
		ids[mark.Clause] = true
		if suggestion := p.Suggest(mark.Clause); suggestion != "" || strings.HasPrefix(mark.Clause, p.Prefix) {
			problem := problemAt(s, mark.Clause)
			problem.Message = fmt.Sprintf("the catalogue has no clause %s", mark.Clause)
			problem.Help = "fwpcheck list --clauses prints it"
			if suggestion != "" {
				problem.Help = text.DidYouMean(suggestion)
			}
			found = append(found, problem)
		}
	}
	return found
}

// idleMarks returns advice about each clause and record line that is about no line, since none of those up to the next
// such line has an outcome.
func idleMarks(s *scenarios.Script) (found scenarios.Problems) {
	outcomes := map[int]bool{}
	for step := range s.All() {
		if _, ok := scenarios.JudgedMarks(step); ok {
			outcomes[step.Place().Line] = true
		}
	}
	var mark *scenarios.Problem // of the last such line, until a line with an outcome follows
	for i, line := range append(slices.Clone(s.Source), "setup") {
		words := append(strings.Fields(line), "")
		if mark != nil && slices.Contains([]string{"clause", "record", "setup"}, words[0]) {
			found = append(found, mark)
		}
		switch {
		case outcomes[i+1] || words[0] == "setup":
			mark = nil
		case words[0] == "clause" || words[0] == "record":
			mark = &scenarios.Problem{File: s.Name, Source: line, Advice: true,
				Pos:     scenarios.Pos{Line: i + 1, Col: strings.Index(line, words[0]) + 1, Width: len(words[0])},
				Message: "no S: line or silence follows for this clause",
				Help:    "write it above the line that decides the clause"}
		}
	}
	return found
}

// problemAt returns a problem at the first place of a text in a script.
func problemAt(s *scenarios.Script, text string) *scenarios.Problem {
	for i, line := range s.Source {
		if before, _, ok := strings.Cut(line, text); ok {
			return &scenarios.Problem{File: s.Name, Source: line,
				Pos: scenarios.Pos{Line: i + 1, Col: len([]rune(before)) + 1, Width: len([]rune(text))}}
		}
	}
	return &scenarios.Problem{File: s.Name, Source: s.Source[0], Pos: scenarios.Pos{Line: 1, Col: 1, Width: 1}}
}

// suiteNames returns the ids of the suite's checks, for suggestions.
func suiteNames() []string {
	all, err := checksOf(registry.Default())
	if err != nil {
		return nil
	}
	return namesOf(all)
}

func namesOf(checks []conformance.Check) []string {
	return texts(checks, func(c conformance.Check) string { return c.Describe().ID })
}

// clauseNames returns the ids of all clauses.
func clauseNames() []string {
	return texts(registry.Clauses(), func(c conformance.Clause) string { return c.ID })
}

// texts returns a text for each of some values.
func texts[T any](all []T, text func(T) string) (texts []string) {
	for _, value := range all {
		texts = append(texts, text(value))
	}
	return texts
}

// checksOf returns the checks of a protocol: its scripts, and then its properties.
func checksOf(p *registry.Entry) ([]conformance.Check, error) {
	all, err := p.Checks()
	if err != nil {
		return nil, &shared.InternalError{Cause: err}
	}
	return all, nil
}

// expandExtensions returns the protocol of a name, all of them if it is empty, and each of them with each of its
// extensions.
func expandExtensions(name string) (all []*registry.Entry, err error) {
	protocols := registry.All()
	if name != "" {
		p, err := shared.EntryNamed(name)
		if err != nil {
			return nil, err
		}
		protocols = []*registry.Entry{p}
	}
	all = slices.Clone(protocols)
	for _, entry := range protocols {
		for _, extension := range entry.ExtensionNames() {
			all = append(all, entry.Extensions[extension]())
		}
	}
	return all, nil
}

// scriptProtocol returns the protocol whose dialect a script is written in: that of its header, else the given one.
// What the header names and is unknown is reported by the parser.
func scriptProtocol(source []byte, fallback *registry.Entry) *registry.Entry {
	if name := scenarios.Protocol(source); name != "" {
		if p, err := registry.Lookup(name); err == nil {
			return p
		}
	}
	return fallback
}

// protocolOf returns the protocol of the scripts of a command; that of the flags where no header names one. It
// is an error if they have several, or another one than the flags name.
func protocolOf(files []scriptFile, name, extension string) (*registry.Entry, error) {
	fallback, err := shared.EntryWith(name, extension)
	if err != nil {
		return nil, err
	}
	protocol := fallback
	for i, f := range files {
		switch p := scriptProtocol(f.source, fallback); {
		case name != "" && p != fallback:
			return nil, fmt.Errorf("the protocol of %s is %s, and that of the target is %s", f.name, p.Name, name)
		case i > 0 && p != protocol:
			return nil, fmt.Errorf("the protocol of %s is %s, and that of %s is %s: play them in separate runs",
				files[0].name, protocol.Name, f.name,
				p.Name)
		default:
			protocol = p
		}
	}
	return protocol, nil
}

// badSelection returns an error about a selection from these checks in the words of the command line.
func badSelection(err error, checks []conformance.Check) error {
	if errors.Is(err, conformance.ErrAllSlow) {
		return fmt.Errorf("--quick: %w", err)
	}
	if e, ok := errors.AsType[*conformance.SelectionError](err); ok {
		words := map[string][]string{"check": namesOf(checks), "clause": clauseNames()}[e.Part]
		if strings.HasPrefix(e.Pattern, reports.LawPrefix) && e.Part == "check" {
			e.Explanation = "this rule is applied to all checks and cannot be selected: select the check whose finding " +
				"names it; " +
				"see fwpcheck explain " + e.Pattern
		}
		e.Explanation = cmp.Or(e.Explanation, patternHint(e.Part, e.Pattern, words))
		return badPattern(e, "check")
	}
	return err
}

// badPattern returns an error about the pattern of a flag.
func badPattern(e *conformance.SelectionError, thing string) error {
	switch {
	case e.Err != nil:
		return fmt.Errorf("--%s %s: not a pattern: %w", e.Part, e.Pattern, e.Err)
	case e.Explanation != "":
		return fmt.Errorf("--%s %s matches no %s; %s", e.Part, e.Pattern, thing, e.Explanation)
	}
	return fmt.Errorf("--%s %s matches no %s", e.Part, e.Pattern, thing)
}

// matchPattern returns an error if the pattern of a flag is malformed or matches none of the words.
func matchPattern(flag, pattern string, words []string) *conformance.SelectionError {
	_, err := path.Match(pattern, "")
	if err == nil && matches([]string{pattern}, words) {
		return nil
	}
	return &conformance.SelectionError{Part: flag, Pattern: pattern, Err: err,
		Explanation: patternHint(flag, pattern, words)}
}

func matches(patterns, words []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return conformance.Match(pattern, word) })
	})
}
