package reports

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSubjectsAreNamedByWhatIsKnown(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("0123456789abcdef", 4)
	node, worker := SubjectFile{"node", 1234567, hash}, SubjectFile{"worker.mjs", 10, hash}
	tests := map[string]struct {
		subject Subject
		url     string
		line    string
		file    string
		lines   []string
	}{
		"nothing": {line: "started by --start", file: "fwpcheck-run-started-by-start"},
		"url": {url: "tcp://[::1]:7419", line: "tcp://[::1]:7419 (started by --start)",
			file: "fwpcheck-run-tcp-1-7419"},
		"name and version": {subject: Subject{Name: "faktory", Version: "1.9.3"}, url: "tcp://a:1",
			line: "faktory 1.9.3, tcp://a:1 (started by --start)", file: "fwpcheck-run-faktory-1.9.3",
			lines: []string{"subject: faktory 1.9.3"}},
		"the server says something else": {subject: Subject{Name: "Acme", Version: "2", Reports: "faktory 1.9.3"},
			line: "Acme 2, started by --start", file: "fwpcheck-run-acme-2",
			lines: []string{"subject: Acme 2, which reports faktory 1.9.3 about itself"}},
		"a program": {subject: Subject{Command: "./node {port}", Files: []SubjectFile{node}},
			line: "node 0123456789ab, started by --start", file: "fwpcheck-run-node-0123456789ab",
			lines: []string{"started: ./node {port}", "file: node, 1,234,567 bytes, SHA-256 0123456789ab"}},
		"a program of an interpreter": {subject: Subject{Files: []SubjectFile{node, worker}},
			line: "worker.mjs 0123456789ab, started by --start", file: "fwpcheck-run-worker.mjs-0123456789ab",
			lines: []string{
				"file: node, 1,234,567 bytes, SHA-256 0123456789ab", "file: worker.mjs, 10 bytes, SHA-256 0123456789ab",
			}},
		"hostile": {subject: Subject{Name: "../../etc\n/\x1b[2J", Version: "1/0"}, line: "../../etc\n/\x1b[2J 1/0, started by --start",
			file: "fwpcheck-run-..-..-etc-2j-1-0", lines: []string{"subject: ../../etc /\x1b[2J 1/0"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := Target{Subject: test.subject, URL: test.url, Chosen: "started by --start"}
			assert.Equal(t, test.line, target.String())
			suite := (&Report{Target: target}).Suite(ExitOptions{})
			assert.Equal(t, test.file, suite.FileName())
			var lines []string
			for _, f := range test.subject.Fields("subject") {
				for _, line := range f.Lines {
					lines = append(lines, f.Label+": "+line.String())
				}
			}
			assert.Equal(t, test.lines, lines)
		})
	}
}

func TestParseSubject(t *testing.T) {
	t.Parallel()
	for value, want := range map[string][2]string{
		"faktory 1.9.3": {"faktory", "1.9.3"}, "faktory": {"faktory", ""}, " my  server v2.0-rc1 ": {"my server", "2.0-rc1"},
		"my server": {"my server", ""}, "faktory2": {"faktory2", ""}, "server main@4f2a": {"server", "main@4f2a"},
	} {
		name, version, err := ParseSubject(value)
		require.NoError(t, err, value)
		assert.Equal(t, want, [2]string{name, version}, value)
	}
	_, _, err := ParseSubject("  ")
	require.ErrorContains(t, err, "empty")
}
