package formats

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
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
		ID        string    `json:"id"`
		ShortText sarifText `json:"shortDescription"`
		Help      sarifText `json:"help"`
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
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region sarifRegion `json:"region"`
	}
	sarifRegion struct {
		Line int `json:"startLine"`
		Col  int `json:"startColumn,omitempty"`
		End  int `json:"endColumn,omitempty"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

// SARIF returns the cases that did not pass, and warns, in SARIF 2.1.0, which code scanning reads. A rule is a
// clause, or the kind of a case that has none. What is known is suppressed. A result is located in the file that says
// most about it, a line of a script as a rule, and in the check.
func SARIF(s *reports.Suite) ([]byte, error) {
	name, version, _ := strings.Cut(s.Version, " ")
	run := sarifRun{
		Invocations: []sarifInvocation{{
			Successful: s.Code != reports.ExitInternal && s.Code != reports.ExitInterrupted, ExitCode: s.Code,
			ExitWords: text.Printable(text.OneLine(s.Words)),
		}},
		Properties: sarifProperties{text.Printable(s.Target), fmt.Sprint(s.Seed)},
		Results:    []sarifResult{}, ColumnKind: "unicodeCodePoints",
	}
	run.Tool.Driver = sarifDriver{Name: cmp.Or(name, "fwp"), Version: version, Rules: []sarifRule{}}
	index := map[string]int{}
	for i := range s.Cases {
		c := &s.Cases[i]
		if state := c.State; state == reports.CaseSkipped || state == reports.CasePassed && c.Kind != reports.Warn.String() {
			continue
		}
		rule := cmp.Or(c.Clause, c.Kind)
		if _, ok := index[rule]; !ok {
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
		Message:      sarifText{text.Printable(strings.TrimSpace(c.Name + ": " + shortMessage(c)))},
		Fingerprints: map[string]string{"fwpCase/v1": text.Printable(c.Name)},
	}
	switch {
	case c.State == reports.CaseErrored && c.Class != reports.RunClass: // viewers do not show it
		r.Kind, r.Level = "open", "none"
	case c.State == reports.CasePassed:
		r.Level = "warning"
	}
	r.Locations = locations(s, c)
	if c.KnownPlace != "" {
		r.Suppressions = []sarifSuppression{{"external", "known, " + text.Printable(c.KnownPlace)}}
	}
	return r
}

// locations returns where the result of a case is: at most one place in a file, and the check.
func locations(s *reports.Suite, c *reports.Case) []sarifLocation {
	var loc sarifLocation
	if at := locate(s, c); at.file != "" {
		loc.Physical = &sarifPhysical{Region: sarifRegion{Line: max(at.line, 1), Col: at.col}}
		if at.col > 0 {
			loc.Physical.Region.End = at.col + at.width
		}
		loc.Physical.Artifact.URI = uri(s, at.file)
	}
	if name := cmp.Or(c.Check, c.Class); name != "" {
		loc.Logical = []sarifLogical{{text.Printable(name)}}
	}
	if loc.Physical == nil && loc.Logical == nil {
		return nil
	}
	return []sarifLocation{loc}
}
