package formats

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/html"
	"github.com/fwpsuite/fwp/reports/page"
)

// Output is a result with what a format may need to write it.
type Output struct {
	Result reports.Result
	// Exit is what the exit code depends on. Verbose asks for pages that show everything, and AllDetails for the evidence
	// of all findings.
	Exit                reports.ExitOptions
	Verbose, AllDetails bool
	// Text is how text is written, and Markdown how Markdown is.
	Text     page.TextOptions
	Markdown page.MarkdownOptions
	// FallbackFile is a file of the user's repository that stands for the run where the result names none. Repository,
	// Folder and Scripts are those of [reports.Suite].
	FallbackFile, Repository, Folder, Scripts string
}

// Format is a way to write a result.
type Format struct {
	// Name is what users call it; Extension is the end of the names of its files, with its point.
	Name, Extension string
	// HasScripts is set if its files point to scripts in files of their own.
	HasScripts bool

	write func(o *Output) ([]byte, error)
}

// All returns the table of formats, in the order in which help lists them.
func All() []Format {
	return []Format{
		{Name: "text", Extension: ".txt", write: writeText},
		{Name: "json", Extension: ".json", write: writeJSON},
		{Name: "junit", Extension: ".xml", write: caseWriter(JUnit)},
		{Name: "github", Extension: ".txt", write: caseWriter(GitHub)},
		{Name: "markdown", Extension: ".md", write: writeMarkdown},
		{Name: "sarif", Extension: ".sarif", HasScripts: true, write: caseWriter(SARIF)},
		{Name: "html", Extension: ".html", write: writeHTML},
	}
}

// Names returns the names of the formats.
func Names() []string {
	var names []string
	for _, f := range All() {
		names = append(names, f.Name)
	}
	return names
}

// OfFile returns the name of the format whose files have such a name; false if there is none.
func OfFile(name string) (string, bool) {
	i := slices.IndexFunc(All(), func(f Format) bool { return f.Extension == filepath.Ext(name) })
	if i < 0 {
		return "", false
	}
	return All()[i].Name, true
}

// ExtensionOf returns the end of the names of files in a format.
func ExtensionOf(name string) string {
	if f := reports.Find(All(), func(f *Format) bool { return f.Name == name }); f != nil {
		return f.Extension
	}
	return ""
}

// ErrUnknown is the error of Write for a name that no format has.
var ErrUnknown = errors.New("no such format")

// Write writes a result in the format of a name, at once. The error is ErrUnknown, or that of the result or of w.
func Write(w io.Writer, name string, o Output) error {
	for _, f := range All() {
		if f.Name != name {
			continue
		}
		out, err := f.write(&o)
		if err != nil {
			return err
		}
		return reports.WriteOut(w, out)
	}
	return fmt.Errorf("%w: %q", ErrUnknown, name)
}

// Scripts returns the texts of the scripts that a file in the format of a name points to, by the names of their files
// in the folder of [Output.HasScripts].
func Scripts(name string, o Output) map[string]string {
	if f := reports.Find(All(), func(f *Format) bool { return f.Name == name }); f == nil || !f.HasScripts ||
		o.Scripts == "" {
		return nil
	}
	suite := o.suite()
	return scripts(&suite)
}

// suite returns the result as cases, of which at least one is not well if the exit code is not.
func (o *Output) suite() reports.Suite {
	suite := o.Result.Suite(o.Exit)
	suite.FallbackFile, suite.Scripts = cmp.Or(suite.FallbackFile, o.FallbackFile), o.Scripts
	suite.Repository, suite.Folder = o.Repository, o.Folder
	suite.Conclude()
	return suite
}

// caseWriter returns the writer of the cases of a result.
func caseWriter(write func(*reports.Suite) ([]byte, error)) func(*Output) ([]byte, error) {
	return func(o *Output) ([]byte, error) {
		suite := o.suite()
		return write(&suite)
	}
}

// page returns the result for people, with pictures for the formats that have them.
func (o *Output) page(figures bool) reports.Page { return o.Result.Page(o.pageOptions(figures)) }

func (o *Output) pageOptions(figures bool) reports.PageOptions {
	return reports.PageOptions{Verbose: o.Verbose, AllDetails: o.AllDetails, Figures: figures, Exit: o.Exit}
}

// resultPage returns the page for readers who do not see the exit code: it begins with the case of a run in which
// nothing was tested.
func (o *Output) resultPage(figures bool) (p reports.Page) {
	suite := o.suite()
	if c := reports.Find(suite.Cases, func(c *reports.Case) bool { return c.Name == reports.NothingTested }); c != nil {
		p.AddTrouble("NOTHING WAS TESTED: the outcome is not a pass", c.Message)
	}
	p.Add(o.page(figures).Blocks...)
	return p
}

func writeText(o *Output) ([]byte, error) {
	options := o.pageOptions(false)
	options.ForTerminal = true
	return page.Text(o.Result.Page(options), o.Text), nil
}

func writeMarkdown(o *Output) ([]byte, error) {
	return page.Markdown(o.resultPage(false), o.Markdown), nil
}

func writeJSON(o *Output) ([]byte, error) {
	var out bytes.Buffer
	err := o.Result.WriteJSON(&out, o.Exit)
	return out.Bytes(), err
}

// writeHTML writes the page as one HTML file, with the JSON in it.
func writeHTML(o *Output) ([]byte, error) {
	data, err := writeJSON(o)
	if err != nil {
		return nil, err
	}
	suite := o.suite()
	var out bytes.Buffer
	err = html.Write(&out, html.Document{Title: suite.Name, Subject: suite.Target, Page: o.resultPage(true), Data: data})
	return out.Bytes(), err
}
