package program

import (
	"bytes"
	"io"
	"os"

	"github.com/fwpsuite/fwp/reports/formats"
	"github.com/fwpsuite/fwp/reports/page"
)

// mostSummary is how long the summary of a step may be, in bytes: GitHub drops one of more than 1 MiB as a whole.
const mostSummary = 1_000_000

// annotate makes, in a step of GitHub Actions, annotations of what was found and appends the report to the summary of
// the step. Annotations go to standard error, where the runner reads them too, so that a report on standard output
// stays as it is; not if they are that report.
func (p Process) annotate(o *Output, annotated bool) {
	if p.env("GITHUB_ACTIONS") != "true" {
		return
	}
	suite := o.Report.Suite(o.Exit)
	if !annotated {
		var out bytes.Buffer
		if err := o.write("github", &out, formats.Output{}); err == nil {
			_, _ = io.WriteString(p.Err, p.Secrets.Hide(out.String()))
		}
	}
	if name := p.env("GITHUB_STEP_SUMMARY"); name != "" {
		if err := appendSummary(name, o, suite.Name); err != nil {
			p.Logf("the summary of the step cannot be written: %v", err)
		}
	}
}

// appendSummary appends the report to the summary of a step, which may have those of other commands.
func appendSummary(name string, o *Output, title string) (err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644) //nolint:gosec // results are no secret
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if room := mostSummary - int(info.Size()) - 1; room > 0 {
		var out bytes.Buffer
		how := formats.Output{Markdown: page.MarkdownOptions{Title: title, Most: room}}
		if err := o.write("markdown", &out, how); err != nil {
			return err
		}
		_, err = f.Write(append(out.Bytes(), '\n'))
	}
	return err
}
