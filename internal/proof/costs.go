package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"

	"path/filepath"
	"strings"
)

// costs has the programs of another commit and those of the present tree take turns, and prints what they took.
func (p program) costs(ctx context.Context, args []string) (err error) {
	var base, faktory string
	var turns, fullTurns int
	f := flag.NewFlagSet("costs", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&base, "base", "", "")
	f.StringVar(&faktory, "faktory", "", "")
	f.IntVar(&turns, "turns", 5, "")
	f.IntVar(&fullTurns, "full", 1, "")
	if err := f.Parse(args); err != nil || f.NArg() > 0 || turns < 1 {
		return errors.Join(err, errUsage)
	}
	if base, err = baseOf(ctx, base); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "fwp-costs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // it is a temporary one
	p.log.Printf("building %s and the present tree", base)
	if err := buildBoth(ctx, base, folder); err != nil {
		return err
	}
	all := costsOf(turns, fullTurns, faktory)
	runs, err := p.takeTurns(ctx, folder, all, turns)
	return errors.Join(err, table(p.out, base, all, runs))
}

// sides are the folders of the programs.
var sides = [2]string{"base", "present"}

// takeTurns plays each cost with both sides, which are first by turns. An error leaves the turns before it.
func (p program) takeTurns(ctx context.Context, folder string, all []cost, turns int) ([]sideRuns, error) {
	runs := make([]sideRuns, len(all))
	for turn := range turns {
		for i, c := range all {
			if turn >= c.turns {
				continue
			}
			var pair [2]expense
			for n := range sides {
				side := (n + turn) % len(sides)
				s, exit, err := c.take(ctx, filepath.Join(folder, sides[side]), turn+1)
				if err != nil {
					return runs, err
				}
				p.log.Printf("turn %d of %d: %s, %s: %.1f s, exit code %d", turn+1, c.turns, c.name, sides[side], s.wall, exit)
				pair[side] = s
			}
			for side, s := range pair {
				runs[i][side] = append(runs[i][side], s)
			}
		}
	}
	return runs, nil
}

// baseOf returns the commit with a name. Without one it is that where this branch has left main; on main itself the
// last one, if something has changed since, or that before it.
func baseOf(ctx context.Context, name string) (string, error) {
	if name == "" {
		head, err := currentRepository().git(ctx, "rev-parse", "HEAD")
		if err != nil {
			return "", err
		}
		if name, err = currentRepository().git(ctx, "merge-base", "HEAD", "main"); err != nil || name == head {
			name = "HEAD~1"
			if _, err := currentRepository().git(ctx, "diff", "--quiet", "HEAD"); err != nil {
				name = "HEAD"
			}
		}
	}
	return currentRepository().git(ctx, "rev-parse", "--short", "--verify", name+"^{commit}")
}

// buildBoth builds the programs of a commit, and those of the present tree, into the folders of the sides.
func buildBoth(ctx context.Context, base, folder string) error {
	tree := filepath.Join(folder, "tree")
	if _, err := currentRepository().git(ctx, "worktree", "add", "--detach", tree, base); err != nil {
		return err
	}
	after := context.WithoutCancel(ctx)
	defer currentRepository().git(after, "worktree", "remove", "--force", tree) //nolint:errcheck // git prunes it later
	for i, source := range []string{tree, "."} {
		target := filepath.Join(folder, sides[i]) + string(filepath.Separator)
		if _, err := output(ctx, source, "go", "build", "-trimpath", "-ldflags=-s", "-o", target, "./cmd/..."); err != nil {
			return err
		}
	}
	return nil
}

// output returns what a command prints, with the blanks around it.
func output(ctx context.Context, folder, name string, args ...string) (string, error) {
	text, err := stdout(ctx, folder, name, args...)
	return strings.TrimSpace(string(text)), err
}
