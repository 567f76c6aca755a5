package archtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/fwpsuite/fwp"

// modulePackage is what the tests need of the output of go list. Name is the import
// path without the module.
type modulePackage struct {
	Name         string `json:"-"`
	ImportPath   string
	Dir          string
	GoFiles      []string // without the tests
	Imports      []string
	TestImports  []string // of the tests inside the package
	XTestImports []string // of package x_test

	parseOnce func() (source, error) // of GoFiles, once
}

// source is the parsed files of a package.
type source struct {
	fset  *token.FileSet
	files []*ast.File
}

// modulePackages lists the packages of the module, those behind a build tag too. All tests share one list.
func modulePackages(t *testing.T) []*modulePackage {
	t.Helper()
	packages, err := packageList()
	require.NoError(t, err)
	require.NotEmpty(t, packages)
	return packages
}

var packageList = sync.OnceValues(func() (packages []*modulePackage, err error) {
	list := exec.Command("go", "list", "-e", "-tags=npm",
		"-json=ImportPath,Dir,GoFiles,Imports,TestImports,XTestImports", "./...")
	list.Dir = filepath.Join("..", "..", "..")
	var complaints bytes.Buffer
	list.Stderr = &complaints
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, complaints.String())
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &modulePackage{}
		err := decoder.Decode(p)
		if err == io.EOF {
			return packages, nil
		}
		if err != nil {
			return nil, err
		}
		p.Name = strings.TrimPrefix(p.ImportPath, module+"/")
		p.parseOnce = sync.OnceValues(p.parseFiles)
		packages = append(packages, p)
	}
})

// parse returns the package's files, without the tests. Callers must not change them.
func (p *modulePackage) parse(t *testing.T) (*token.FileSet, []*ast.File) {
	t.Helper()
	s, err := p.parseOnce()
	require.NoError(t, err)
	return s.fset, s.files
}

func (p *modulePackage) parseFiles() (source, error) {
	s := source{fset: token.NewFileSet()}
	for _, name := range p.GoFiles {
		const mode = parser.ParseComments | parser.SkipObjectResolution
		file, err := parser.ParseFile(s.fset, filepath.Join(p.Dir, name), nil, mode)
		if err != nil {
			return s, err
		}
		s.files = append(s.files, file)
	}
	return s, nil
}

// parseText is parse for one made-up file.
func parseText(t *testing.T, text string) (*token.FileSet, []*ast.File) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "x.go", text, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	return fset, []*ast.File{file}
}
