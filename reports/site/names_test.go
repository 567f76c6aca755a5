package site

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/reports"
)

func TestSlug(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Faktory": "faktory", "1.9.4": "1.9.4", "FWP-ACK-02": "fwp-ack-02", "a/b": "a-b", "../..": "unnamed", "": "unnamed",
		"a  b!": "a-b", "-x-": "x", ".git": "git", "Ünïcode": "n-code", strings.Repeat("ab", 100): strings.Repeat("ab", 40),
	} {
		assert.Equal(t, want, slug(name), name)
	}
	addrs := addresses{}
	assert.Equal(t, []string{"x/a-b", "x/a-b-2", "y/a-b"}, []string{addrs.take("x/", "a b"), addrs.take("x/", "A/B"),
		addrs.take("y/", "a b")})
}

func TestVersions(t *testing.T) {
	t.Parallel()
	want := []string{"", "0.9", "1.9", "1.9.0", "1.9.4", "1.9.4-1", "1.10.0-alpha", "1.10.0-rc1", "1.10.0-rc2", "1.10.0", "v2",
		"10", "head", "main"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, compareVersions)
	assert.Equal(t, want, got)
}

func TestNameOfFile(t *testing.T) {
	t.Parallel()
	for file, want := range map[string][2]string{
		"runs/faktory-1.9.4.json": {"faktory", "1.9.4"}, "faktory_worker_go v1.2.html": {"faktory_worker_go", "1.2"},
		`c:\x\my-server@2.0-rc1.json`: {"my-server", "2.0-rc1"}, "report.json": {"report", ""}, "faktory-main.json": {"faktory", "main"},
		"-": {"-", ""},
	} {
		name, version := NameOfFile(file)
		assert.Equal(t, want, [2]string{name, version}, file)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	verdicts := map[rune]reports.Verdict{'P': reports.Pass, 'F': reports.Fail, '?': reports.Inconclusive, '.': reports.NotSelected}
	for runs, want := range map[string]string{
		"PPP":  "",
		"???":  "",
		"F":    "failing in all 1",
		"FFF":  "failing in all 3",
		"PFF":  "failing since 2",
		"P?F":  "failing since 3; no result in 2",
		"?FF":  "failing since 2, the first version with a result",
		"PF?":  "failing since 2; no result in 3, the newest",
		"PFP":  "failing in 2, fixed in 3",
		"FFP":  "failing from 1 to 2, fixed in 3",
		"F?P":  "failing in 1, fixed in 3; no result in 2",
		"FPF":  "failing again since 3",
		"FPFP": "failing again in 3, fixed in 4",
		"FP.":  "failing in 1, fixed in 2; no result in 3, the newest",
		"F?F":  "failing since 1, the first version here",
	} {
		var versions []string
		var all []reports.Verdict
		for i, letter := range runs {
			versions, all = append(versions, string(rune('1'+i))), append(all, verdicts[letter])
		}
		assert.Equal(t, want, historyOf(versions, all).String(), runs)
	}
}
