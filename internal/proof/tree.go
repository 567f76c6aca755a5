package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/input"
)

// repository is a work tree of git.
type repository struct{ folder string }

// currentRepository returns that of the working folder.
func currentRepository() repository { return repository{"."} }

// git returns what a command of git prints, with the blanks around it.
func (r repository) git(ctx context.Context, args ...string) (string, error) {
	return output(ctx, r.folder, "git", args...)
}

// stdout returns what a command prints on its standard output.
func stdout(ctx context.Context, folder, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = folder
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(complaints.Bytes()))
	}
	return out.Bytes(), nil
}

// commit returns the id of a commit. A clone that has no history before it says so.
func (r repository) commit(ctx context.Context, name string) (string, error) {
	id, err := r.git(ctx, "rev-parse", "--verify", "--quiet", name+"^{commit}")
	if err == nil {
		return id, nil
	}
	if shallow, _ := r.git(ctx, "rev-parse", "--is-shallow-repository"); shallow == "true" {
		return "", fmt.Errorf("%s is not in this clone, which has only the newest history: git fetch --unshallow", name)
	}
	return "", fmt.Errorf("%s is no commit of this repository", name)
}

// unitsAt returns the units of a commit.
func (r repository) unitsAt(ctx context.Context, commit string) (all []unit, err error) {
	archive, err := stdout(ctx, r.folder, "git", "archive", "--format=tar", commit)
	if err != nil {
		return nil, err
	}
	for files := tar.NewReader(bytes.NewReader(archive)); ; {
		head, err := files.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := input.All(files, head.Name, fileLimit)
		if err != nil {
			return nil, err
		}
		all = append(all, unitsOf(head.Name, text)...)
	}
}

// currentUnits returns the units of the work tree, with its new files.
func (r repository) currentUnits(ctx context.Context) (all []unit, err error) {
	list, err := r.git(ctx, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	names := strings.Split(strings.TrimSuffix(list, "\x00"), "\x00")
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		text, err := input.Read(filepath.Join(r.folder, filepath.FromSlash(name)), fileLimit)
		switch {
		case errors.Is(err, fs.ErrNotExist): // it was removed
		case err != nil:
			return nil, err
		default:
			all = append(all, unitsOf(name, text)...)
		}
	}
	return all, nil
}

// changedFiles returns the files that differ from a commit, those that are new with them.
func (r repository) changedFiles(ctx context.Context, commit string) (names []string, err error) {
	for _, args := range [][]string{
		{"diff", "--name-only", "-z", commit}, {"ls-files", "-z", "--others", "--exclude-standard"},
	} {
		list, err := r.git(ctx, args...)
		if err != nil {
			return nil, err
		}
		names = append(names, strings.FieldsFunc(list, func(c rune) bool { return c == 0 })...)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
