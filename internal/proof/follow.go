package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/input"
	"github.com/fwpsuite/fwp/internal/registry"
)

// follow writes the pages, schemas and golden files that follow from a change, and tests the packages that it touches.
func (p *proof) follow(ctx context.Context, in repository, commit string) error {
	files, err := in.changedFiles(ctx, commit)
	if err != nil {
		return err
	}
	packages, err := packagesOf(ctx)
	if err != nil {
		return err
	}
	changedNames := packages.byFiles(files)
	oldHashes, err := in.hashes(ctx)
	if err != nil {
		return err
	}
	var writers []string
	for name := range packages {
		if packages.writes(name) && name != selftestPackage && packages.reaches(name, changedNames) {
			writers = append(writers, name)
		}
	}
	var rest []string
	for _, name := range append(changedNames, alwaysTested...) {
		if _, ok := packages[name]; ok && !slices.Contains(writers, name) && !slices.Contains(rest, name) {
			rest = append(rest, name)
		}
	}
	first := slices.DeleteFunc(slices.Clone(writers), func(name string) bool { return slices.Contains(readers, name) })
	second := slices.DeleteFunc(writers, func(name string) bool { return !slices.Contains(readers, name) })
	err = errors.Join(
		p.test(ctx, first, "-update"), p.test(ctx, second, "-update"), p.writeBugs(ctx), p.test(ctx, rest))
	after, hashErr := in.hashes(ctx)
	for name, hash := range after {
		if oldHashes[name] != hash {
			p.files = append(p.files, name)
		}
	}
	return errors.Join(err, hashErr)
}

const (
	module          = "github.com/fwpsuite/fwp/"
	selftestPackage = module + "internal/proof/selftest"
	goldenPackage   = module + "internal/proof/golden"
)

// alwaysTested are the packages whose tests look at everything, and take a second.
var alwaysTested = []string{module + "internal/proof/archtest", module + "docs"}

// readers are the packages whose tests read files that the tests of others write.
var readers = []string{module + "internal/proof/schematest", module + "reports/html"}

// goPackage is a package as the go command lists it.
type goPackage struct {
	ImportPath, Dir                 string
	Deps, TestImports, XTestImports []string
}

// packages are those of the module, by their import path.
type packages map[string]goPackage

func packagesOf(ctx context.Context) (packages, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,Deps,TestImports,XTestImports", "./...")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	all := packages{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var pkg goPackage
		if err := d.Decode(&pkg); err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all[pkg.ImportPath] = pkg
	}
	return all, nil
}

// byFiles returns the packages of files: that of the folder, or else of the nearest one above it that has a package.
func (all packages) byFiles(files []string) (names []string) {
	for _, file := range files {
		for folder := path.Dir(file); folder != "."; folder = path.Dir(folder) {
			if _, ok := all[module+folder]; ok {
				names = append(names, module+folder)
				break
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// tests returns what the tests of a package import.
func (all packages) tests(name string) []string {
	return slices.Concat(all[name].TestImports, all[name].XTestImports)
}

// writes reports whether the tests of a package write files with -update.
func (all packages) writes(name string) bool { return slices.Contains(all.tests(name), goldenPackage) }

// reaches reports whether a package, or its tests, are some others or import them, however far.
func (all packages) reaches(name string, targets []string) bool {
	deps := append([]string{name}, all[name].Deps...)
	for _, imported := range all.tests(name) {
		deps = append(append(deps, imported), all[imported].Deps...)
	}
	return slices.ContainsFunc(deps, func(r string) bool { return slices.Contains(targets, r) })
}

// hashes returns the hashes of the files that differ from the last commit.
func (r repository) hashes(ctx context.Context) (map[string][sha256.Size]byte, error) {
	files, err := r.changedFiles(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	all := map[string][sha256.Size]byte{}
	for _, name := range files {
		text, err := input.Read(filepath.Join(r.folder, filepath.FromSlash(name)), fileLimit)
		if err == nil {
			all[name] = sha256.Sum256(text)
		}
	}
	return all, nil
}

// writeBugs writes the rows of the pages of bugs that are new, or that a new check may catch.
func (p *proof) writeBugs(ctx context.Context) error {
	for _, b := range p.change {
		var names []string
		for _, f := range b.bugs {
			isNew := slices.ContainsFunc(b.newBugs, func(n registry.Bug) bool { return n.Name == f.Name })
			if isNew || slices.Contains(p.caughtBugs, b.name+"/"+f.Name) {
				names = append(names, f.Name)
			}
		}
		if len(names) == 0 || b.fixture.Entry.Extension != "" { // no page has those of an extension
			continue
		}
		role := "server"
		if b.fixture.Client != nil {
			role = b.fixture.Client.Role
		}
		table := "^" + b.fixture.Entry.Name + "-" + role + "$"
		run := "TestBugs$/" + table + "/each/^(" + strings.Join(names, "|") + ")$"
		if err := p.test(ctx, []string{selftestPackage}, "-run", run, "-update"); err != nil {
			return err
		}
	}
	return nil
}

// test runs the tests of packages with some flags, all that a page is made of. It says of each that fails what to type.
func (p *proof) test(ctx context.Context, packages []string, flags ...string) error {
	if len(packages) == 0 {
		return nil
	}
	slices.Sort(packages)
	cmd := exec.CommandContext(ctx, "go", slices.Concat([]string{"test", "-json"}, packages, flags)...)
	if slices.Contains(packages, selftestPackage) && len(flags) > 0 { // a page has what all checks find
		cmd.Env = append(os.Environ(), "FWP_SLOW=1")
	}
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	failures := readFailures(bufio.NewScanner(out))
	for _, f := range failures {
		p.miss("go test ./%s -run '%s'\n%s", strings.TrimPrefix(f.pack, module), f.pattern(), f.text)
	}
	if err := cmd.Wait(); err != nil && len(failures) == 0 {
		return fmt.Errorf("go test: %w\n%s", err, &complaints)
	}
	return nil
}

// failure is a test that has failed, or a package that has no tests that failed.
type failure struct{ pack, test, text string }

// pattern is what picks the test.
func (f failure) pattern() string {
	names := strings.Split(f.test, "/")
	return "^" + strings.Join(names, "$/^") + "$"
}

// failureLimit is how many lines of the output of a test are shown.
const failureLimit = 12

// readFailures reads what go test -json prints.
func readFailures(lines *bufio.Scanner) (all []failure) {
	lines.Buffer(nil, 1<<24)
	output := map[failure][]string{}
	for lines.Scan() {
		var e struct{ Action, Package, ImportPath, Test, Output string }
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue
		}
		id := failure{pack: cmp.Or(e.Package, e.ImportPath), test: e.Test}
		switch e.Action {
		case "output", "build-output":
			text := strings.TrimSpace(e.Output)
			if text != "" && !strings.HasPrefix(text, "=== ") && !strings.HasPrefix(text, "--- ") &&
				len(output[id]) < failureLimit {
				output[id] = append(output[id], text)
			}
		case "fail", "build-fail":
			// A test fails with each of its parts, and a package with each of its tests.
			isInside := slices.ContainsFunc(all, func(f failure) bool {
				return f.pack == id.pack && (id.test == "" || strings.HasPrefix(f.test, id.test+"/"))
			})
			if !isInside {
				all = append(all, failure{id.pack, id.test, strings.Join(output[id], "\n")})
			}
		}
	}
	return all
}
