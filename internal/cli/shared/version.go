package shared

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/reports/formats"
	"github.com/fwpsuite/fwp/reports/page"
)

// Version returns which build this is: "v1.2.3 (go1.26.8, linux/amd64)".
func Version() string {
	info, _ := debug.ReadBuildInfo()
	return revision(info) + " (" + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH + ")"
}

// revision returns the version of the module of a build, or else the commit that it was built from: "0123456789ab of
// 2026-11-20". It begins with "(devel)" if files were changed after that commit, or no commit is known. info may be
// nil.
func revision(info *debug.BuildInfo) string {
	if info == nil {
		return "(devel)"
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	isChanged := settings["vcs.modified"] == "true" || strings.HasSuffix(info.Main.Version, "+dirty")
	if v := info.Main.Version; v != "" && v != "(devel)" && !isChanged {
		return v
	}
	commit := settings["vcs.revision"]
	if commit == "" {
		return "(devel)"
	}
	commit = commit[:min(12, len(commit))]
	if at, err := time.Parse(time.RFC3339, settings["vcs.time"]); err == nil {
		commit += " of " + at.UTC().Format(time.DateOnly)
	}
	if isChanged {
		return "(devel) after " + commit
	}
	return commit
}

// maxSummary is how long the summary of a step may be, in bytes: GitHub drops one of more than 1 MiB as a whole.
const maxSummary = 1_000_000

// annotate makes, in a step of GitHub Actions, annotations of what was found and appends the report to the summary of
// the step. Annotations go to standard error, where the runner reads them too, so that a report on standard output
// stays as it is; not if they are that report.
func (p Process) annotate(o *Output, isAnnotated bool) {
	if p.env("GITHUB_ACTIONS") != "true" {
		return
	}
	suite := o.Report.Suite(o.Exit)
	if !isAnnotated {
		var out bytes.Buffer
		if err := formats.Write(&out, "github", p.completeOutput(o, formats.Output{})); err == nil {
			_, _ = io.WriteString(p.Err, p.Secrets.Hide(out.String()))
		}
	}
	if name := p.env("GITHUB_STEP_SUMMARY"); name != "" {
		if err := p.appendSummary(name, o, suite.Name); err != nil {
			p.Logf("the summary of the CI step cannot be written: %v", err)
		}
	}
}

// appendSummary appends the report to the summary of a step, which may have those of other commands.
func (p Process) appendSummary(name string, o *Output, title string) (err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644) //nolint:gosec // results are no secret
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if room := maxSummary - int(info.Size()) - 1; room > 0 {
		var out bytes.Buffer
		output := p.completeOutput(o, formats.Output{Markdown: page.MarkdownOptions{Title: title, MaxBytes: room}})
		if err := formats.Write(&out, "markdown", output); err != nil {
			return err
		}
		_, err = f.Write(append(out.Bytes(), '\n'))
	}
	return err
}
