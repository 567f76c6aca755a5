package reports

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// Subject is the software that was tested: a server, or a worker or a client library. Every result has one for each
// target. What is not known of it is empty.
type Subject struct {
	// Name and Version are those of --subject, or else what the software reports about itself: "faktory", "1.9.3".
	Name    string `json:"name,omitempty" from:"target"`
	Version string `json:"version,omitempty" from:"target"`
	// Reports is what it reports about itself, where --subject gives another name or version.
	Reports string `json:"reports,omitempty" from:"target"`
	// Command is what started it, as the user wrote it: "./server --port {port} --password {password}" for example.
	Command string `json:"command,omitempty"`
	// Files are those that the command names, its program first.
	Files []SubjectFile `json:"files,omitempty"`
}

// SubjectFile is a file that a command names.
type SubjectFile struct {
	// Name is without the folder.
	Name string `json:"name" from:"target"`
	Size int64  `json:"size"` // in bytes
	// SHA256 is in hexadecimal digits; empty for a file that is too large.
	SHA256 string `json:"sha256,omitempty"`
}

// Target is the server under test, or the worker or producer.
type Target struct {
	// Subject is the software.
	Subject Subject `json:"subject,omitzero"`
	// Command is what started the worker or the producer that was tested; empty for a server.
	Command string `json:"command,omitempty"`
	// Role is what the program of IsCommand is: "worker" or "client"; empty for a server.
	Role string `json:"role,omitempty"`
	// URL is the address, without the password; it may be empty for the embedded server.
	URL string `json:"url,omitempty"`
	// Chosen is how the target was chosen: "from --url", "from FAKTORY_URL", "the embedded server" for example.
	Chosen string `json:"chosen,omitempty"`
	// HI is the server's greeting, escaped, without its sign and line end: `HI {"v":2}` for example.
	HI string `json:"hi,omitempty" from:"target"`
}

// role is what was tested.
func (t *Target) role() string {
	if t.Command != "" {
		return cmp.Or(t.Role, "program")
	}
	return "server"
}

// String names the target in a line: "faktory 1.9.3, started by --start".
func (t *Target) String() string { return t.Subject.At(cmp.Or(t.Command, t.URL), t.Chosen) }

func (t *Target) shortName() string { return t.Subject.ShortName(cmp.Or(t.Command, t.URL), t.Chosen) }

// At names the software, where it was, and how it was chosen: "faktory 1.9.3, tcp://localhost:7419 (from --url)".
func (s *Subject) At(place, chosen string) string {
	if place != "" && chosen != "" {
		chosen = " (" + chosen + ")"
	}
	return cmp.Or(JoinWith(", ", s.Title(), place+chosen), "none")
}

// Title returns the name and the version, or else the file of the program and the beginning of its hash.
func (s *Subject) Title() string {
	if s.Name == "" {
		if f := s.program(); f != nil {
			return JoinWith(" ", f.Name, f.shortHash())
		}
	}
	return JoinWith(" ", s.Name, s.Version)
}

// ShortName returns Title, or else the place, or how it was chosen.
func (s *Subject) ShortName(place, chosen string) string {
	return cmp.Or(s.Title(), place, strings.TrimPrefix(chosen, "the "))
}

// interpreter matches the name of a program that runs the one that the command names next.
var interpreter = regexp.MustCompile(
	`^(?:(?:ba|da|z)?sh|bun|bundle|deno|dotnet|elixir|java|lua|node(?:js)?|perl|php|pypy|python|ruby)[0-9.]*(?:\.exe)?$`)

// program returns the file of the program; nil if none is known.
func (s *Subject) program() *SubjectFile {
	switch n := len(s.Files); {
	case n == 0:
		return nil
	case n > 1 && interpreter.MatchString(s.Files[0].Name):
		return &s.Files[1]
	}
	return &s.Files[0]
}

// shortHash returns the beginning of the hash.
func (f *SubjectFile) shortHash() string { return f.SHA256[:min(len(f.SHA256), 12)] }

// Fields returns what is known of the software, each labelled. label is that of its name.
func (s *Subject) Fields(label string) []Field {
	name := JoinWith(", ", JoinWith(" ", s.Name, s.Version),
		wordsIf(len(s.Reports), "which reports "+s.Reports+" about itself"))
	var files []Text
	for _, f := range s.Files {
		files = append(files, PlainText(JoinWith(", ", f.Name, text.GroupDigits(int(f.Size))+" bytes",
			wordsIf(len(f.SHA256), "SHA-256 "+f.shortHash()))))
	}
	return []Field{verbatimField(label, LinesOf(text.OneLine(name))...), verbatimField("started", LinesOf(s.Command)...),
		verbatimField("file", files...)}
}

// Target appends what was tested, and by what. label is that of the target.
func (p *Page) Target(label string, t Target, version string) {
	software := t.Subject
	if t.Command != "" {
		software.Command = "" // the target itself
	}
	place := Subject{}
	fields := append([]Field{verbatimField(label, PlainText(place.At(cmp.Or(t.Command, t.URL), t.Chosen)))},
		software.Fields("subject")...)
	p.Add(Fields{LabelWidth: 8, Fields: append(fields, verbatimField("greeting", PlainText(t.HI)),
		verbatimField("suite", PlainText(version)))})
}

// ParseSubject returns the name and the version in a value such as "faktory 1.9.3": the last word is the version if it
// has a digit. The error says what is wrong with the value.
func ParseSubject(value string) (name, version string, err error) {
	words := strings.Fields(value)
	last := len(words) - 1
	switch {
	case last < 0:
		return "", "", fmt.Errorf("it is empty: write a name and a version, such as \"faktory 1.9.3\"")
	case last > 0 && strings.ContainsAny(words[last], "0123456789"):
		return strings.Join(words[:last], " "), strings.TrimPrefix(words[last], "v"), nil
	}
	return strings.Join(words, " "), "", nil
}
