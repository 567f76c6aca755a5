package search

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// Differences returns in what the loads of A and B differ; also what is not the same in all of one side.
func Differences(a, b []*results.Load) (all []results.LoadDifference) {
	var order []string
	decides := map[string]bool{}
	sideValues := [2]map[string][]string{{}, {}}
	for i, side := range [][]*results.Load{a, b} {
		for _, l := range side {
			for _, f := range identity(l) {
				if !slices.Contains(order, f.Name) {
					order = append(order, f.Name)
				}
				decides[f.Name] = f.Decides
				if values := sideValues[i][f.Name]; !slices.Contains(values, f.A) {
					sideValues[i][f.Name] = append(values, f.A)
				}
			}
		}
	}
	for _, name := range order {
		d := results.LoadDifference{Name: name, Decides: decides[name]}
		for i, to := range []*string{&d.A, &d.B} {
			slices.Sort(sideValues[i][name])
			*to = strings.Join(sideValues[i][name], ", ")
		}
		if d.A != d.B || len(sideValues[0][name])+len(sideValues[1][name]) > 2 {
			all = append(all, d)
		}
	}
	return all
}

// identity returns what makes a load comparable with another one, as what differs from nothing.
func identity(l *results.Load) (all []results.LoadDifference) {
	add := func(name, value string, decides bool) {
		all = append(all, results.LoadDifference{Name: name, A: cmp.Or(value, "none"), Decides: decides})
	}
	settings := l.Plan.Settings()
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if key != "seed" && key != "drain" && key != "preset" {
			add(strings.ReplaceAll(key, "_", " "), settings[key], true)
		}
	}
	if settings == nil {
		add("plan", l.Plan.Words, true)
	}
	m := &l.Machine
	add("overload", l.Plan.Overload, true)
	add("architecture", m.Arch, true)
	add("processors", strconv.Itoa(m.Cores), true)
	add("processors of the generator", strconv.Itoa(m.GOMAXPROCS), false)
	add("CPU", m.CPU, false)
	add("kernel", reports.JoinWith(" ", m.OS, m.Kernel), false)
	add("fwpbench", l.Version, false)
	return all
}

// IdentityReport returns a report with nothing but its identity: reports of a thousand runs need not stay in memory.
func IdentityReport(l *results.Load) *results.Load {
	return &results.Load{Head: reports.Head{Version: l.Version}, Machine: l.Machine, Plan: l.Plan}
}
