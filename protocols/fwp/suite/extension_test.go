package suite_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/internal/proof/suitetest"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
)

// faktoryOnly returns the extension of Faktory without what is FWP's.
func faktoryOnly() *conformance.Suite {
	p := *fwpsuite.Extended(fwpscript.Faktory)
	p.Title, p.Prefix, p.Scripts = "Faktory's extension", "FKT-", fwpscript.Faktory.Scripts
	p.Clauses = func() []conformance.Clause { return fwpsuite.ExtensionClauses(fwpscript.Faktory) }
	return &p
}

func TestScriptsOfTheExtensionAreInOrder(t *testing.T) {
	t.Parallel()
	p := faktoryOnly()
	p.Retired = nil
	suitetest.CheckOrder(t, p)
	ids := map[string]bool{}
	all, err := fwpsuite.Extended(fwpscript.Faktory).Scripts()
	require.NoError(t, err)
	for _, s := range all {
		assert.False(t, ids[s.Name], "%s is there twice", s.Name)
		ids[s.Name] = true
	}
}

// TestExtensionDocument writes docs/faktory-clauses.md.
func TestExtensionDocument(t *testing.T) {
	t.Parallel()
	const command = "go test ./protocols/fwp/suite -run ExtensionDocument -update"
	golden.Document(t, "../../../docs/faktory-clauses.md", suitetest.Document(t, faktoryOnly(),
		"Written by `"+command+"`; do not edit. What Contributed\n"+
			"Systems' Faktory has beyond the specification, for `--extension faktory` (see [faktory.md](faktory.md)). SHOULD is the\n"+
			"level of what no document says and the server was seen to do; it warns at most. A check is the script of that name\n"+
			"below `protocols/fwp/script/extensions/faktory`."), command)
}
