package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/fwpsuite/fwp/reports"
)

// cost is something whose costs are compared.
type cost struct {
	name    string
	turns   int
	args    []string // of the command line, with its program
	figures []figure
}

// figure is a number of a spent.
type figure struct {
	name  string
	value func(expense) float64
}

// expense is what a command took, in seconds, and what it did meanwhile.
type expense struct {
	wall, cpu float64       // cpu: of the processes that it started, too
	Took      time.Duration `json:"took_ns"`
	Commands  float64
	Jobs      struct{ Acked float64 }
}

// costsOf returns the four. A full run takes more than two minutes.
func costsOf(turns, fullTurns int, faktory string) []cost {
	run := []figure{
		{"wall, s", func(s expense) float64 { return s.wall }}, {"CPU, s", func(s expense) float64 { return s.cpu }},
	}
	title, server := "explore, embedded", "--embedded"
	if faktory != "" {
		title, server = "explore, Faktory", "--start=faktory="+faktory
	}
	return []cost{
		{"quick run", turns, []string{"fwpcheck", "run", "--embedded", "--quick", "--no-progress"}, run},
		{title, turns, []string{
			"fwpcheck", "explore", server, "--time", exploreTime, "--no-shrink", "--no-progress",
		}, []figure{
			{"commands a second", func(s expense) float64 { return s.Commands / s.Took.Seconds() }},
			{"CPU a command, us", func(s expense) float64 { return 1e6 * s.cpu / s.Commands }},
		}},
		{"fwpbench", turns, []string{"fwpbench", "run", "--embedded", "--jobs", "50000"}, []figure{
			{"jobs a second", func(s expense) float64 { return s.Jobs.Acked / s.Took.Seconds() }},
			{"CPU a job, us", func(s expense) float64 { return 1e6 * s.cpu / s.Jobs.Acked }},
		}},
		{"full run", min(fullTurns, turns), []string{"fwpcheck", "run", "--embedded", "--no-progress"}, run},
	}
}

// take plays a cost once, by the programs in a folder.
func (c cost) take(ctx context.Context, folder string, seed int) (s expense, exit int, err error) {
	args := append(slices.Clone(c.args), "--format", "json", "--seed", strconv.Itoa(seed))
	cmd := exec.CommandContext(ctx, filepath.Join(folder, args[0]), args[1:]...)
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	begin := time.Now()
	err = cmd.Run()
	s.wall = time.Since(begin).Seconds()
	if jsonErr := json.Unmarshal(out.Bytes(), &s); jsonErr != nil || s.Took == 0 || ctx.Err() != nil {
		err = errors.Join(ctx.Err(), err, jsonErr)
		return s, 0, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, &complaints)
	}
	s.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return s, cmd.ProcessState.ExitCode(), nil
}

// sideRuns are the samples of a cost, of the base and of the present state.
type sideRuns [2][]expense

// table writes the medians of all figures with their ranges, and how they are to each other.
func table(to io.Writer, base string, all []cost, runs []sideRuns) error {
	var rows strings.Builder
	fmt.Fprintf(&rows, "cost\tfigure\tbase %s\tpresent\tratio\tranges\n", base)
	for i, c := range all {
		for _, f := range c.figures {
			if old, now := f.values(runs[i][0]), f.values(runs[i][1]); len(old) > 0 {
				fmt.Fprintf(&rows, "%s\t%s\t%s\t%s\t%s\n", c.name, f.name, old, now, versus(old, now))
			}
		}
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	_, err := io.WriteString(w, rows.String())
	return errors.Join(err, w.Flush())
}

// values are numbers of the same kind, sorted.
type values []float64

func (f figure) values(all []expense) (v values) {
	for _, s := range all {
		v = append(v, f.value(s))
	}
	slices.Sort(v)
	return v
}

// median returns the one in the middle, or what is between the two there.
func (v values) median() float64 { return (v[(len(v)-1)/2] + v[len(v)/2]) / 2 }

// String returns the median, and the range of more than one.
func (v values) String() string {
	if len(v) == 1 {
		return reports.Digits(v[0])
	}
	return fmt.Sprintf("%s (%s - %s)", reports.Digits(v.median()), reports.Digits(v[0]), reports.Digits(v[len(v)-1]))
}

// versus returns the ratio of the medians, and whether the ranges have nothing in common.
func versus(old, now values) string {
	ranges := "overlap"
	switch {
	case len(old) == 1:
		ranges = "one turn"
	case old[len(old)-1] < now[0] || now[len(now)-1] < old[0]:
		ranges = "apart"
	}
	return fmt.Sprintf("%.2f\t%s", now.median()/old.median(), ranges)
}
