package archtest

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/fwpsuite/fwp"

// modulePackage is what the tests need of the output of go list. Name is the import
// path without the module.
type modulePackage struct {
	Name        string `json:"-"`
	ImportPath  string
	Dir         string
	GoFiles     []string // without the tests
	Imports     []string
	TestImports []string // of the tests inside the package, not of package x_test
}

// modulePackages lists the packages of the module, those behind a build tag too.
func modulePackages(t *testing.T) []modulePackage {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-e", "-tags=npm",
		"-json=ImportPath,Dir,GoFiles,Imports,TestImports", "./...")
	list.Dir = filepath.Join("..", "..")
	var complaints bytes.Buffer
	list.Stderr = &complaints
	out, err := list.Output()
	require.NoError(t, err, complaints.String())

	var packages []modulePackage
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p modulePackage
		err := decoder.Decode(&p)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		p.Name = strings.TrimPrefix(p.ImportPath, module+"/")
		packages = append(packages, p)
	}
	require.NotEmpty(t, packages)
	return packages
}

// parse reads the package's files, without the tests.
func (p modulePackage) parse(t *testing.T) (*token.FileSet, []*ast.File) {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, file)
	}
	return fset, files
}

// parseText is parse for one made-up file.
func parseText(t *testing.T, text string) (*token.FileSet, []*ast.File) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "x.go", text, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	return fset, []*ast.File{file}
}
