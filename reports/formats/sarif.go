package formats

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

// The parts of SARIF 2.1.0 that are written. Names and values are those of its specification.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
		Properties  sarifProperties   `json:"properties"`
		ColumnKind  string            `json:"columnKind"`
	}
	sarifProperties struct {
		Target string `json:"target"`
		Seed   string `json:"seed"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
		Help  sarifText `json:"help"`
	}
	sarifInvocation struct {
		Successful bool   `json:"executionSuccessful"`
		ExitCode   int    `json:"exitCode"`
		ExitWords  string `json:"exitCodeDescription"`
	}
	sarifResult struct {
		Rule         string             `json:"ruleId"`
		Index        int                `json:"ruleIndex"`
		Kind         string             `json:"kind"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations,omitempty"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region struct {
				Line int `json:"startLine"`
			} `json:"region"`
		} `json:"physicalLocation"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

// SARIF returns the cases that did not pass, and warns, in SARIF 2.1.0, which code scanning reads. A rule is a
// clause, or the kind of a case that has none. What is known is suppressed. A result is located in a file of the user's
// repository: the script that shows it again, the line that lists it, or Place.
func SARIF(s *reports.Suite) ([]byte, error) {
	name, version, _ := strings.Cut(s.Version, " ")
	run := sarifRun{
		Invocations: []sarifInvocation{{
			Successful: s.Code != reports.ExitInternal && s.Code != reports.ExitInterrupted, ExitCode: s.Code,
			ExitWords: text.Printable(text.OneLine(s.Words)),
		}},
		Properties: sarifProperties{text.Printable(s.Target), fmt.Sprint(s.Seed)},
		Results:    []sarifResult{}, ColumnKind: "utf16CodeUnits",
	}
	run.Tool.Driver = sarifDriver{Name: cmp.Or(name, "fwp"), Version: version, Rules: []sarifRule{}}
	index := map[string]int{}
	for i := range s.Cases {
		c := &s.Cases[i]
		if state := c.State; state == reports.CaseSkipped || state == reports.CasePassed && c.Kind != reports.Warn.String() {
			continue
		}
		rule := cmp.Or(c.Clause, c.Kind)
		if _, known := index[rule]; !known {
			index[rule] = len(run.Tool.Driver.Rules)
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, ruleOf(rule, c))
		}
		run.Results = append(run.Results, sarifOf(s, c, rule, index[rule]))
	}
	out, err := json.MarshalIndent(sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run},
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write SARIF: %w", err)
	}
	return append(out, '\n'), nil
}

// ruleOf describes the rule of a case.
func ruleOf(rule string, c *reports.Case) sarifRule {
	if c.Clause == "" {
		return sarifRule{rule, sarifText{"Results without a clause: " + rule}, sarifText{"See docs/reading-a-report.md."}}
	}
	return sarifRule{
		rule, sarifText{"The clause " + rule + " of the specification"},
		sarifText{"`fwpcheck explain " + rule + "` prints it."},
	}
}

// sarifOf returns the result of a case.
func sarifOf(s *reports.Suite, c *reports.Case, rule string, index int) sarifResult {
	r := sarifResult{
		Rule: rule, Index: index, Kind: "fail", Level: "error",
		Message:      sarifText{text.Printable(strings.TrimSpace(c.Name + ": " + short(c)))},
		Fingerprints: map[string]string{"fwpCase/v1": text.Printable(c.Name)},
	}
	switch c.State {
	case reports.CaseErrored:
		r.Kind, r.Level = "open", "none"
	case reports.CasePassed:
		r.Level = "warning"
	}
	if file, line := placeOf(s, c); file != "" {
		var at sarifLocation
		at.Physical.Artifact.URI = (&url.URL{Path: filepath.ToSlash(file)}).String()
		at.Physical.Region.Line = max(line, 1)
		r.Locations = []sarifLocation{at}
	}
	if c.Known != "" {
		r.Suppressions = []sarifSuppression{{"external", "known, " + text.Printable(c.Known)}}
	}
	return r
}

// placeOf returns the file of the user's repository, and the line, that stands for a case; empty if there is none.
func placeOf(s *reports.Suite, c *reports.Case) (file string, line int) {
	if c.Reproducer != "" {
		return c.Reproducer, 1
	}
	if at := strings.LastIndexByte(c.Known, ':'); at > 0 {
		if n, err := strconv.Atoi(c.Known[at+1:]); err == nil {
			return c.Known[:at], n
		}
	}
	if usersFile(c) {
		return c.File, c.Line
	}
	return s.Place, 1
}
