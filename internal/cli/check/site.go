package check

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/docs"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/site"
)

// newSite builds `fwpcheck site`.
func newSite(p process) *cobra.Command {
	var folder string
	var subjects []string
	cmd := &cobra.Command{
		Use:   "site REPORT... -o FOLDER",
		Short: "Make a web site from saved reports of servers and workers",
		Args: func(_ *cobra.Command, args []string) error {
			return errorIf(len(args) == 0, "give reports; fwpcheck run -o report.json writes one")
		},
		RunE: func(_ *cobra.Command, args []string) error { return p.site(args, subjects, folder) },
	}
	cmd.Flags().StringVarP(&folder, "output", "o", "", "write the site to `FOLDER`, which is created if it is missing")
	cmd.Flags().StringArrayVar(&subjects, "subject", nil,
		"`FILE=NAME VERSION`: the name and version for a report; may be repeated")
	return cmd
}

// site makes the site of some reports.
func (p process) site(files, subjects []string, folder string) error {
	if folder == "" {
		return errors.New("give the folder to write to with -o FOLDER")
	}
	names, err := parseSubjects(files, subjects)
	if err != nil {
		return err
	}
	result := site.Site{Suite: version()}
	protocols := map[*registry.Entry]bool{}
	for _, file := range files {
		r, err := p.readReport(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		protocol := reportProtocol(r)
		protocols[protocol] = true
		name, number, err := subjectOf(r, file, names[file])
		if err != nil {
			return fmt.Errorf("--subject: %w", err)
		}
		result.Runs = append(result.Runs, site.Run{Kind: kindOf(r, protocol), Name: name, Version: number, Report: r})
	}
	for _, protocol := range registry.All() {
		if protocols[protocol] {
			if err := describe(&result, protocol); err != nil {
				return err
			}
		}
	}
	pages, err := result.Build()
	if err != nil {
		return &shared.InternalError{Cause: err}
	}
	if err := writeSite(folder, pages); err != nil {
		return err
	}
	p.Logf("%s of %s; open %s", text.Count(len(pages), "file"), text.Count(len(files), "report"),
		filepath.Join(folder, site.Index))
	return nil
}

// parseSubjects returns what --subject says of each file.
func parseSubjects(files, subjects []string) (map[string]string, error) {
	names := map[string]string{}
	for _, s := range subjects {
		file, name, ok := strings.Cut(s, "=")
		if !ok || !slices.Contains(files, file) {
			return nil, fmt.Errorf("--subject %q: write FILE=NAME VERSION, in which FILE is one of the reports", s)
		}
		names[file] = name
	}
	return names, nil
}

// reportProtocol returns the protocol whose clauses a report has.
func reportProtocol(r *reports.Report) *registry.Entry {
	for _, c := range r.Clauses {
		if entry := registry.OfClause(c.ID); entry != nil {
			return entry
		}
	}
	return registry.Default()
}

// kindOf returns what a report is about: servers of a protocol, workers or clients.
func kindOf(r *reports.Report, entry *registry.Entry) site.Kind {
	role := cmp.Or(r.Target.Role, "server")
	k := site.Kind{Folder: role + "s", Title: entry.Title + " " + role}
	if !entry.IsDefault() {
		k.Folder = entry.Name + "-" + k.Folder
	}
	return k
}

// subjectOf returns the name and the version of what a report is about; value is that of --subject, if any.
func subjectOf(r *reports.Report, file, value string) (name, version string, err error) {
	switch s := r.Target.Subject; {
	case value != "":
		return reports.ParseSubject(value)
	case s.Name != "":
		return s.Name, s.Version, nil
	}
	name, version = site.NameOfFile(file)
	return name, version, nil
}

// describe adds the clauses of a protocol, and the documents about it.
func describe(s *site.Site, protocol *registry.Entry) error {
	checks, err := checksOf(protocol)
	if err != nil {
		return err
	}
	byClause := checksByClause(checks)
	for _, c := range protocol.Clauses() {
		s.Clauses = append(s.Clauses, site.Clause{
			ID: c.ID, Level: string(c.Level), Party: spellOut(c.Party, parties), Statement: c.Statement,
			Page: explainClause(c, byClause[c.ID]),
		})
	}
	prefix := protocol.Name + "-"
	if protocol.IsDefault() {
		prefix = ""
	}
	for _, name := range []string{prefix + "bugs.md", prefix + "worker-bugs.md"} {
		data, err := fs.ReadFile(docs.Bugs, name)
		if err != nil {
			return &shared.InternalError{Cause: err}
		}
		s.Documents = append(s.Documents, document(strings.TrimSuffix(name, ".md"), string(data)))
	}
	return nil
}

// document returns the page of a document that consists of a title, paragraphs and a table.
func document(name, markdown string) site.Document {
	title, body, _ := strings.Cut(strings.TrimPrefix(markdown, "# "), "\n")
	d := site.Document{Name: name, Title: title}
	for part := range strings.SplitSeq(strings.TrimSpace(body), "\n\n") {
		if !strings.HasPrefix(part, "|") {
			d.Page.Add(reports.Prose{Lines: reports.LinesOf(stripMarks(text.OneLine(part)))})
			continue
		}
		var t reports.Table
		for i, line := range strings.Split(part, "\n") {
			cells := strings.Split(stripMarks(strings.Trim(line, "| ")), " | ")
			switch i {
			case 0:
				for _, title := range cells {
					t.Columns = append(t.Columns, reports.Column{Title: title})
				}
			case 1: // the line below the titles
			default:
				row := reports.Cells(cells...)
				row.Anchor = cells[0]
				t.Rows = append(t.Rows, row)
			}
		}
		d.Page.Add(t)
	}
	return d
}

// writeSite writes the files of a site to a folder, and nothing outside of it, wherever links in it lead.
func writeSite(folder string, files []site.File) error {
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // a site is for all to read
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // each file is closed by itself
	if !isReplaceable(root) {
		return fmt.Errorf("%s has an %s that fwpcheck site did not write: give another folder", folder, site.Index)
	}
	for _, f := range files {
		err := root.MkdirAll(path.Dir(f.Address), 0o755)
		if err = cmp.Or(err, root.WriteFile(f.Address, f.Data, 0o644)); err != nil {
			return &shared.InternalError{Cause: err}
		}
	}
	return nil
}

// isReplaceable reports whether a folder has no first page yet, or that of a site.
func isReplaceable(root *os.Root) bool {
	f, err := root.Open(site.Index)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close() //nolint:errcheck // it was only read
	var head [1 << 10]byte
	n, _ := io.ReadFull(f, head[:])
	return strings.Contains(string(head[:n]), "<title>"+site.Title)
}
