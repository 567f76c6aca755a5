package archtest

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// speech has the words of each protocol that no other text of the engines has a use for: its verbs, and its names.
// FWP's and eMQP's verbs are written in capitals; of Workq's, which are English words, these are the ones that an
// engine would have to spell.
var speech = map[string]*regexp.Regexp{
	"FWP": regexp.MustCompile(`\b(HELLO|PUSH|FETCH|ACK|FAIL|BEAT|INFO|FLUSH|END|MUTATE|FWP|RESP|Faktory)\b`),
	"Workq": regexp.MustCompile(`\b(max-fails|max-attempts|scheduled-jobs|ready-len|CLIENT-ERROR|SERVER-ERROR|` +
		`NOT-FOUND|ttr|[Ww]orkq|WORKQ)\b|^(add|schedule|run|result|lease|complete|fail|delete|inspect) [$]`),
	"eMQP": regexp.MustCompile(`\b(INFORM|READY|REQUEST|REPLY|PUBLISH|SCHEDULE|UNSCHEDULE|HEARTBEAT|DISCONNECT|KBAI|` +
		`eMQP|EMQP|emqp|ZMTP|zmtp)\b`),
}

// engineRooms know no verb of a protocol, in code and comments.
var engineRooms = []string{
	"scenarios", "internal/session", "conformance", "conformance/run", "conformance/explore", "load", "load/client",
	"load/engine",
	"load/ledger", "load/protocol", "load/workload", "load/measure", "load/capacity", "load/compare", "load/paired",
	"reports", "reports/html",
}

func TestEnginesSpeakNoProtocol(t *testing.T) {
	t.Parallel()
	for _, p := range modulePackages(t) {
		if !slices.Contains(engineRooms, p.Name) {
			continue
		}
		fset, files := p.parse(t)
		for _, file := range files {
			name := p.Name + "/" + filepath.Base(fset.Position(file.Pos()).Filename)
			for _, found := range spoken(fset, file) {
				assert.Fail(t, "a word of a protocol in an engine", "%s: %s", name, found)
			}
		}
	}
}

// spoken returns the words of protocols in the comments, the strings and the names of a file, each with its line.
func spoken(fset *token.FileSet, file *ast.File) (found []string) {
	look := func(at token.Pos, text string) {
		if strings.HasPrefix(text, `"`+module) { // an import, which other tests look at
			return
		}
		for protocol, words := range speech {
			for _, word := range words.FindAllString(strings.Trim(text, "\"`"), -1) {
				found = append(found, fset.Position(at).String()+": "+word+" of "+protocol)
			}
		}
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			look(c.Pos(), c.Text)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			look(n.Pos(), n.Value)
		case *ast.SelectorExpr:
			if pkg, is := n.X.(*ast.Ident); is {
				look(n.Pos(), pkg.Name+"."+n.Sel.Name)
			}
		}
		return true
	})
	slices.Sort(found)
	return found
}

func TestSpoken(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		`package x; const a = "PUSH $job"`: 1, `package x; const a = "a push"`: 0, "package x // a FETCH may wait": 1,
		`package x; const a = "lease $name"`: 1, `package x; const a = "run it"`: 0, "package x // the KBAI of a peer": 1,
		`package x; var a = fwp.INFO`: 1, `package x; const a = "INFORMATION"`: 0,
		`package x; const a = "not an FWP server"`: 1, `package x; import "github.com/fwpsuite/fwp/workq"`: 0,
	} {
		fset, files := parseText(t, text)
		assert.Len(t, spoken(fset, files[0]), want, text)
	}
}
