package archtest

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// registryUsers are the rooms that learn from internal/registry all that differs between protocols.
var registryUsers = []string{"internal/cli/bench", "internal/cli/check", "internal/cli/shared", "internal/proof/selftest"}

// protocolImports are the imports of packages of a protocol that those rooms have nevertheless, with the reason.
var protocolImports = map[string]string{
	"internal/cli/bench protocols/fwp/situations":      "what FWP's situations of workers are set up with serves all protocols",
	"internal/cli/bench protocols/fwp/workerload":      "loads on workers are those of FWP",
	"internal/cli/check protocols/fwp/clientrules":     "recordings are those of FWP",
	"internal/cli/check protocols/fwp/crowd":           "crowds of clients are those of FWP",
	"internal/cli/check protocols/fwp/double":          "serve has the journal of FWP's test double",
	"internal/cli/check protocols/fwp/record":          "recordings are those of FWP",
	"internal/cli/check protocols/fwp/situations":      "what FWP's situations of workers are set up with serves all protocols",
	"internal/cli/check protocols/fwp/upgrade":         "upgrades are those of FWP",
	"internal/proof/selftest protocols/fwp/situations": "what FWP's situations of workers are set up with serves all protocols",
	"internal/cli/check protocols/fwp/script":          "clean works with FWP only, and says so by its refusals",
	"internal/cli/check protocols/fwp/moves":           "histories are those of FWP: kind asks for the rule of their clauses",
}

// TestOnlyTheRegistryNamesAProtocol: what a protocol is, and that it is there, is known to internal/registry. The
// rooms above it import no package of one, and compare nothing with a name.
func TestOnlyTheRegistryNamesAProtocol(t *testing.T) {
	t.Parallel()
	hits := map[string]bool{}
	for _, p := range modulePackages(t) {
		if !slices.Contains(registryUsers, p.Name) {
			continue
		}
		for _, path := range p.Imports {
			name := strings.TrimPrefix(path, module+"/")
			ofProtocol := strings.HasPrefix(name, "protocols/") || strings.HasPrefix(name, "fakes")
			assert.False(t, ofProtocol && protocolImports[p.Name+" "+name] == "", "%s imports %s", p.Name, name)
			hits[p.Name+" "+name] = true
		}
		assert.Empty(t, namesIn(p.parse(t)), "names of protocols: see package registry")
	}
	for pair := range protocolImports {
		assert.True(t, hits[pair], "%s: this is no more, leave it out of the list", pair)
	}
}

// peers are the names of the protocols, and the packages of their bytes.
var peers = []string{"fwp", "workq", "emqp", "zmtp"}

// namesIn returns the string literals that are the name of a protocol.
func namesIn(fset *token.FileSet, files []*ast.File) (list []string) {
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING &&
				slices.Contains(peers, strings.Trim(lit.Value, "\"`")) {
				list = append(list, fset.Position(lit.Pos()).String()+": "+lit.Value)
			}
			return true
		})
	}
	return list
}
