package formats

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/page"
)

// Bounds of what one case has in JUnit and annotations, in bytes: GitLab refuses files of more than 30 MB.
const (
	messageLimit  = 1000
	evidenceLimit = 16 << 10
)

type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []junitSuite
}

type junitSuite struct {
	XMLName    xml.Name        `xml:"testsuite"`
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Timestamp  string          `xml:"timestamp,attr,omitempty"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	XMLName   xml.Name     `xml:"testcase"`
	Class     string       `xml:"classname,attr"`
	Name      string       `xml:"name,attr"`
	Time      string       `xml:"time,attr"`
	Failure   *junitResult `xml:"failure"`
	Error     *junitResult `xml:"error"`
	Skipped   *junitResult `xml:"skipped"`
	SystemOut string       `xml:"system-out,omitempty"`
}

type junitResult struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit returns the cases as the XML that Jenkins and GitLab read: a failure is an error of the target, an error is
// a case without a result, and what is known is skipped. The evidence is the content of the element, because GitLab
// does not read its message. It has no attribute that the schema of Jenkins' xunit plugin refuses. What XML cannot hold
// is escaped, and what is long is cut.
func JUnit(s *reports.Suite) ([]byte, error) {
	counts := s.Count()
	suite := junitSuite{
		Name: s.Name, Tests: len(s.Cases), Failures: counts[reports.CaseFailed], Errors: counts[reports.CaseErrored],
		Skipped: counts[reports.CaseSkipped], Time: secondsText(s.Took),
		Properties: []junitProperty{
			{"version", text.Printable(s.Version)}, {"target", text.Printable(s.Target)}, {"seed", fmt.Sprint(s.Seed)},
			{"exit code", fmt.Sprint(s.Code)}, {"outcome", text.Printable(text.OneLine(s.Words))},
		},
	}
	if !s.StartTime.IsZero() {
		suite.Timestamp = s.StartTime.UTC().Format("2006-01-02T15:04:05")
	}
	for i := range s.Cases {
		suite.Cases = append(suite.Cases, junit(&s.Cases[i]))
	}
	var out bytes.Buffer
	out.WriteString(xml.Header)
	enc := xml.NewEncoder(&out)
	enc.Indent("", "  ")
	if err := enc.Encode(junitSuites{Suites: []junitSuite{suite}}); err != nil {
		return nil, fmt.Errorf("encode report: %w", err)
	}
	out.WriteString("\n")
	return bytes.ReplaceAll(out.Bytes(), []byte("&#xA;"), []byte("\n")), nil // attributes have none
}

// junit returns the element of a case.
func junit(c *reports.Case) junitCase {
	element := junitCase{
		Class: text.Printable("fwp." + c.Class), Name: text.Printable(c.Name), Time: secondsText(c.Took),
	}
	message, evidence := shortMessage(c), evidenceText(c)
	result := &junitResult{
		Message: message, Type: text.Printable(c.Kind), Text: strings.Trim(message+"\n\n"+evidence, "\n"),
	}
	switch c.EffectiveState() {
	case reports.CaseFailed:
		element.Failure = result
	case reports.CaseErrored:
		element.Error = result
	case reports.CaseSkipped:
		result.Type = ""
		element.Skipped = result
	case reports.CasePassed:
		if c.Kind == reports.Warn.String() || c.Kind == reports.Observed.String() {
			element.SystemOut = strings.Trim(c.Kind+": "+message+"\n\n"+evidence, "\n")
		}
	}
	return element
}

// shortMessage returns the message of a case on one line, cut where it is too long.
func shortMessage(c *reports.Case) string {
	return text.Printable(truncate(text.OneLine(c.Reason()), messageLimit))
}

// evidenceText returns the evidence of a case, cut where it is too long.
func evidenceText(c *reports.Case) string {
	evidence := string(page.Text(reports.Page{Blocks: c.Evidence}, page.TextOptions{}))
	lines := strings.Split(truncate(strings.TrimRight(evidence, "\n"), evidenceLimit), "\n")
	for i := range lines {
		lines[i] = text.Printable(lines[i])
	}
	return strings.Join(lines, "\n")
}

// truncate returns the beginning of a text that is longer than so many bytes.
func truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + " … (cut)"
}

// secondsText writes a duration as JUnit has it.
func secondsText(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
