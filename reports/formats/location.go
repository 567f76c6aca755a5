package formats

import (
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/reports"
)

// location is a place in a file.
type location struct {
	file             string // empty: there is none
	line, col, width int    // counted from 1; col is 0 for the whole line
}

// locate returns the place that says most about a case: the line of the file of known findings that lists it, that of
// the user's own script, that of a script beside the report, the script that was saved for it, or the file that stands
// for the run.
func locate(s *reports.Suite, c *reports.Case) location {
	if at := strings.LastIndexByte(c.KnownPlace, ':'); at > 0 {
		if n, err := strconv.Atoi(c.KnownPlace[at+1:]); err == nil {
			return location{file: c.KnownPlace[:at], line: n}
		}
	}
	in := c.Script
	switch {
	case c.Kind == "stale" && isUsersFile(c):
		return location{file: c.File, line: c.Line}
	case isUsersFile(c):
		return location{c.File, in.Line, in.Col, in.Width}
	case in.Text != "" && s.Scripts != "":
		return location{filepath.Join(s.Scripts, scriptFile(&in)), in.Line, in.Col, in.Width}
	case c.Reproducer != "":
		return location{file: c.Reproducer}
	}
	return location{file: s.FallbackFile}
}

// isUsersFile reports whether File is one of the user's: a script that was given, or the file of known findings.
func isUsersFile(c *reports.Case) bool {
	return c.File != "" && c.File == c.Check && (c.Kind == "stale" || strings.HasSuffix(c.File, ".fwp"))
}

// inRepository returns the name of a file as seen from the root of the user's repository; empty if it is elsewhere.
func inRepository(s *reports.Suite, file string) string {
	name, err := filepath.Rel(s.Repository, absolute(s, file))
	if file == "" || err != nil || !filepath.IsLocal(name) {
		return ""
	}
	return filepath.ToSlash(name)
}

// absolute returns the name of a file that may be relative to the folder of the call.
func absolute(s *reports.Suite, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(s.Folder, file)
}

// uri returns the name of a file as SARIF has it: relative to the repository if it is in there.
func uri(s *reports.Suite, file string) string {
	if name := inRepository(s, file); name != "" {
		return (&url.URL{Path: name}).String()
	}
	u := url.URL{Path: filepath.ToSlash(absolute(s, file))}
	if path.IsAbs(u.Path) {
		u.Scheme = "file"
	}
	return u.String()
}

// scripts returns the texts of the scripts that cases are about, by the names of their files.
func scripts(s *reports.Suite) map[string]string {
	files := map[string]string{}
	for i := range s.Cases {
		if in := &s.Cases[i].Script; in.Text != "" {
			files[scriptFile(in)] = in.Text
		}
	}
	return files
}

var scriptFileChars = regexp.MustCompile(`[^A-Za-z0-9/_]+`)

// scriptFile returns the name of the file of a script in the folder of scripts: "ack/is-final.fwp".
func scriptFile(in *reports.ScriptPlace) string {
	name := scriptFileChars.ReplaceAllString(strings.TrimSuffix(in.Name, ".fwp"), "-")
	return strings.Trim(name, "-/") + ".fwp"
}
