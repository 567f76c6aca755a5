package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheTableOfCosts(t *testing.T) {
	t.Parallel()
	wall := func(all ...float64) (s []expense) {
		for _, x := range all {
			s = append(s, expense{wall: x})
		}
		return s
	}
	figures := []figure{{"wall, s", func(s expense) float64 { return s.wall }}}
	expenses := func(commands float64) []expense {
		return []expense{{cpu: 3, Took: 30 * time.Second, Commands: commands}}
	}
	all := []cost{
		{name: "the same", figures: figures}, {name: "slower", figures: figures}, {name: "even", figures: figures},
		costsOf(5, 1, "faktory")[1], {name: "not played", figures: figures},
	}
	var w strings.Builder
	require.NoError(t, table(&w, "abc", all, []sideRuns{
		{wall(3, 1, 2), wall(2.5, 0.5, 2)}, {wall(1, 2, 1.5), wall(4, 3, 2.25)}, {wall(1, 2), wall(2, 4)},
		{expenses(3000), expenses(6000)}, {},
	}))
	assert.Equal(t, `cost              figure             base abc     present        ratio  ranges
the same          wall, s            2 (1 - 3)    2 (0.5 - 2.5)  1.00   overlap
slower            wall, s            1.5 (1 - 2)  3 (2.25 - 4)   2.00   apart
even              wall, s            1.5 (1 - 2)  3 (2 - 4)      2.00   overlap
explore, Faktory  commands a second  100          200            2.00   one turn
explore, Faktory  CPU a command, us  1,000        500            0.50   one turn
`, w.String())
}

// Both sides have the same seed in a turn, and each is first in every other one. What has no result is an error, and
// leaves the turns before it.
func TestSidesTakeTurns(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the program of this test is a script of a shell")
	}
	folder := t.TempDir()
	log := filepath.Join(folder, "log")
	for _, side := range sides {
		require.NoError(t, os.Mkdir(filepath.Join(folder, side), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(folder, side, "fwpbench"), []byte(`#!/bin/sh
echo `+side+` "$@" >>`+log+`
case "$*" in *"--seed 3") echo "it is broken" >&2; exit 4;; esac
echo '{"took_ns":2000000000,"jobs":{"acked":10}}'; exit 1
`), 0o700)) //nolint:gosec // it is a program
	}
	all := []cost{costsOf(3, 1, "")[2]}
	all = append(all, all[0])
	all[1].turns, all[1].args = 1, []string{"fwpbench", "full"}
	runs, err := program{log: discardLog()}.takeTurns(t.Context(), folder, all, 3)
	require.ErrorContains(t, err, "it is broken")
	for i, want := range []int{2, 1} {
		for side := range sides {
			require.Len(t, runs[i][side], want)
			assert.InDelta(t, 5, all[0].figures[0].value(runs[i][side][0]), 1e-9)
		}
	}
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	jobs := " run --embedded --jobs 50000 --format json --seed "
	assert.Equal(t, []string{
		"base" + jobs + "1", "present" + jobs + "1", "base full --format json --seed 1", "present full --format json --seed 1",
		"present" + jobs + "2", "base" + jobs + "2", "base" + jobs + "3",
	}, strings.Split(strings.TrimSpace(string(text)), "\n"))
}
