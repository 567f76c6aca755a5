package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/reports"
)

// stranger is a server or a worker that others have written.
type stranger struct {
	name    string // protocol/name
	command string // for a shell
}

// strangers are a flag that may be repeated.
type strangers []stranger

// String implements [flag.Value].
func (r *strangers) String() string { return "" }

// Set reads NAME=COMMAND.
func (r *strangers) Set(text string) error {
	name, command, ok := strings.Cut(text, "=")
	protocol, rest, _ := strings.Cut(name, "/")
	if _, err := registry.Lookup(protocol); !ok || err != nil || rest == "" || command == "" {
		return errors.New("it must be PROTOCOL/NAME=COMMAND")
	}
	*r = append(*r, stranger{name, command})
	return nil
}

// How real ones are played. Chance has a part in what they do, so each is played a few times.
const (
	realPlays   = 3
	realSeed    = "1"
	exploreTime = "30s"
)

// playsOf returns the plays of servers and workers with the fwpcheck at a path.
func playsOf(fwpcheck string, servers, workers []stranger) (all []play) {
	add := func(kind string, r stranger, args ...string) {
		protocol, _, _ := strings.Cut(r.name, "/")
		args = append([]string{
			kind, "--protocol", protocol, "--format", "json", "--no-progress", "--seed", realSeed,
		}, args...)
		for n := range realPlays {
			all = append(all, play{key{kind, r.name, n + 1}, func(ctx context.Context) (outcome, error) {
				return command(ctx, fwpcheck, args...)
			}})
		}
	}
	for _, s := range servers {
		add("run", s, "--start", s.command)
		add("explore", s, "--start", s.command, "--time", exploreTime)
	}
	for _, w := range workers {
		add("worker", w, "--", "sh", "-c", "exec "+w.command)
	}
	return all
}

// command runs fwpcheck, and returns what its result says.
func command(ctx context.Context, fwpcheck string, args ...string) (outcome, error) {
	cmd := exec.CommandContext(ctx, fwpcheck, args...)
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err := cmd.Run()
	if ctx.Err() != nil {
		return outcome{}, ctx.Err()
	}
	exitErr, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case err != nil && !ok:
		return outcome{}, err
	case ok && (exitErr.ExitCode() == reports.ExitUsage || exitErr.ExitCode() == reports.ExitUnreachable ||
		exitErr.ExitCode() == reports.ExitInternal):
		return outcome{}, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, &complaints)
	}
	o, err := outcomeOfJSON(out.Bytes())
	o.exit = cmd.ProcessState.ExitCode()
	return o, err
}

// outcomeOfJSON returns what a result of whatever command says, without the exit code.
func outcomeOfJSON(text []byte) (outcome, error) {
	var result struct {
		Checks   []reports.Check
		Findings []struct {
			Clause, Check string
			Verdict       reports.Verdict
		}
	}
	if err := json.Unmarshal(text, &result); err != nil {
		return outcome{}, fmt.Errorf("the result of fwpcheck: %w", err)
	}
	o := outcomeOf(&reports.Report{Checks: result.Checks})
	for _, f := range result.Findings {
		if !f.Verdict.IsBreach() {
			continue
		}
		o.result, o.checks = resultFound, append(o.checks, cmp.Or(f.Check, emptyField))
		if f.Clause != "" {
			o.clauses = append(o.clauses, f.Clause)
		}
	}
	o.clauses, o.checks = set(o.clauses), set(o.checks)
	return o, nil
}
