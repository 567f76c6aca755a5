package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// systemUsers are the packages outside internal/target that start processes ("exec"), send or get signals ("signals"), or
// read what the kernel tells of processes ("/proc"), with the reason.
var systemUsers = map[string]string{
	"internal/cli/bench exec":        "the embedded server of a load is a process of its own, with its own processors",
	"internal/cli/bench signals":     "that server stands still where the user asks for a pause",
	"internal/cli/shared exec":       "it finds the program that --start names, for its hash, and starts none",
	"internal/cli/shared signals":    "an interrupt from the keyboard ends a command in good order",
	"internal/cli/shared /proc":      "the image of the programs tells whether its server listens, without a shell",
	"load/validity /proc":            "figures of this machine, and of a worker with all that it has started",
	"internal/proof exec":            "it plays real servers with the programs themselves",
	"internal/proof signals":         "an interrupt from the keyboard ends it in good order",
	"internal/proof/scripttest exec": "tests of the commands start the programs",
}

// TestOnlyTargetActsOnProcesses: what starts, stops and watches processes is in internal/target.
func TestOnlyTargetActsOnProcesses(t *testing.T) {
	t.Parallel()
	hits := map[string]bool{}
	for _, p := range modulePackages(t) {
		if p.Name == "internal/target" || strings.HasPrefix(p.Name, "internal/target/") {
			continue
		}
		names, err := filepath.Glob(filepath.Join(p.Dir, "*.go")) // of all systems
		require.NoError(t, err)
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			const mode = parser.SkipObjectResolution
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, mode)
			require.NoError(t, err)
			for call := range usesOfSystem(file) {
				assert.Contains(t, systemUsers, p.Name+" "+call, name)
				hits[p.Name+" "+call] = true
			}
		}
	}
	for exception := range systemUsers {
		assert.True(t, hits[exception], "%s: this is no more, leave it out of the list", exception)
	}
}

var (
	processFuncs = regexp.MustCompile(`^(os\.(StartProcess|FindProcess)|syscall\.(StartProcess|ForkExec|Exec))$`)
	signalFuncs  = regexp.MustCompile(`^(syscall\.(Kill|SIG[A-Z0-9]+)|unix\.(Kill|SIG[A-Z0-9]+|PidfdSendSignal))$`)
	// procFolder finds the folder, and those of a kind of processes in it.
	procFolder = regexp.MustCompile(`^/proc(/|$)`)
)

// usesOfSystem returns which of the things above a file does.
func usesOfSystem(file *ast.File) map[string]bool {
	calls := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			switch n.Path.Value {
			case `"os/exec"`:
				calls["exec"] = true
			case `"os/signal"`:
				calls["signals"] = true
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				name := x.Name + "." + n.Sel.Name
				if processFuncs.MatchString(name) {
					calls["exec"] = true
				}
				if signalFuncs.MatchString(name) {
					calls["signals"] = true
				}
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && procFolder.MatchString(text) {
				calls["/proc"] = true
			}
		}
		return true
	})
	return calls
}

func TestUsesOfSystem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"import \"os/exec\"":                     {"exec"},
		"import \"os/signal\"":                   {"signals"},
		"func f() { os.FindProcess(1) }":         {"exec"},
		"func f() { p.Signal(syscall.SIGSTOP) }": {"signals"},
		"const a = `/proc`":                      {"/proc"},
		"const a = `/proc/%d/stat`":              {"/proc"},
		"const a = `/process`":                   nil,
		"func f() { p.Signal(`TERM`) }":          nil, // of a program under test
		"import \"os\"":                          nil,
	} {
		_, files := parseText(t, "package x\n"+text)
		assert.Equal(t, want, slices.Sorted(maps.Keys(usesOfSystem(files[0]))), text)
	}
}
