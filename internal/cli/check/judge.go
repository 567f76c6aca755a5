package check

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/reports"
)

// newJudge builds `fwpcheck judge`.
func newJudge(p process) *cobra.Command {
	format := program.Formats()
	cmd := &cobra.Command{
		Use:   "judge FILE...|-",
		Short: "Check saved histories: what clients sent and received",
		Long: "judge reads histories that a run has saved (- for standard input), checks them against the\n" +
			"specification, job by job, and prints each finding with its clause and with the calls that prove it.\n" +
			"A call without a reply may have had its effect at any time, or none. Each file is checked by itself.\n\n" +
			"Exit codes: 0 nothing was found, and the end of every job is known, 1 findings, 2 usage, or a file that\n" +
			"is damaged (what could be read of it is checked all the same), 3 nothing was evaluated, or the end of\n" +
			"some jobs is not known.",
		Example: "  fwpbench run --history run.history --url tcp://localhost:7419\n" +
			"  fwpcheck judge run.history",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("which history? Name files, or - for standard input")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return p.judge(args, format.String()) },
	}
	cmd.Flags().Var(&format, "format", "format of the report")
	program.CompleteFlags(cmd, map[string]func() []string{"format": format.Words})
	return cmd
}

// judge judges the histories of some files, each of which is told as soon as it is done
// if a person may be waiting for it.
func (p process) judge(names []string, format string) error {
	all := judgement{Schema: judgeSchema, Histories: []judgedFile{}}
	for _, name := range names {
		f := p.judgeFile(name)
		if f.Damage != "" {
			p.Logf("%s: %s", name, f.Damage)
		}
		all.Histories = append(all.Histories, f)
		if format == "text" && f.readable {
			if err := p.PrintPage(f.page()); err != nil {
				return err
			}
		}
	}
	all.conclude()
	if format == "json" {
		if err := p.PrintJSON(&all); err != nil {
			return err
		}
	}
	return program.Ended(all.Exit)
}

// judgeSchema is that of the JSON; its number grows when a key is removed, or gets
// another meaning.
const judgeSchema = "fwpcheck-judge/2"

// judgement is all that `judge` says.
type judgement struct {
	Schema    string       `json:"schema"`
	Exit      int          `json:"exit_code"`
	Histories []judgedFile `json:"histories"`
}

// judgedFile is what the history of one file says.
type judgedFile struct {
	Name      string          `json:"file"`
	Damage    string          `json:"damage,omitempty"` // why not all of it could be read
	Events    int             `json:"events"`
	Drained   bool            `json:"drained"`
	Cut       int64           `json:"cut_ns,omitempty"` // where the record breaks off
	Jobs      int             `json:"jobs"`
	Settled   int             `json:"settled"`
	Findings  []judgedFinding `json:"findings"`
	Undecided []judgedCause   `json:"inconclusive"`

	readable bool // at least in part
}

// judgedFinding is a finding with its clause and its proof.
type judgedFinding struct {
	Clause    string        `json:"clause"`
	Level     reports.Level `json:"level"`
	Statement string        `json:"statement"`
	Or        []string      `json:"or,omitempty"` // clauses one of which is broken if that one is not
	JID       string        `json:"jid,omitempty"`
	What      string        `json:"what"`
	Events    []judgedEvent `json:"events"`
}

// judgedEvent is an event with its index in the history.
type judgedEvent struct {
	Index int `json:"index"`
	history.Event
}

// judgedCause is why it is not known what became of some jobs.
type judgedCause struct {
	Why  string   `json:"why"`
	Jobs int      `json:"jobs"`
	JIDs []string `json:"jids"` // the first of them
}

// judgeFile reads a history and judges what could be read of it.
func (p process) judgeFile(name string) judgedFile {
	f := judgedFile{Name: name, Findings: []judgedFinding{}, Undecided: []judgedCause{}}
	h, err := p.loadHistory(name)
	if err != nil {
		f.Damage = err.Error()
	}
	if f.readable = h != nil; f.readable {
		f.examine(h)
	}
	return f
}

// loadHistory returns nil if there is no such file, and with an error what is before the
// damage.
func (p process) loadHistory(name string) (*history.History, error) {
	in := p.In
	if name != "-" {
		file, err := os.Open(name)
		if failed, ok := errors.AsType[*fs.PathError](err); ok {
			return nil, failed.Err // whoever tells it names the file
		}
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }() // it was only read
		in = file
	}
	h, err := history.Load(in)
	if damage, ok := errors.AsType[*history.DamageError](err); ok && damage.Line == 1 {
		return nil, fmt.Errorf("not an fwp history (line 1: %w)", damage.Err)
	}
	if err != nil && len(h.Events) == 0 {
		return nil, err
	}
	return h, err
}

func (f *judgedFile) examine(h *history.History) {
	report := history.Examine(h)
	f.Events, f.Drained, f.Cut = len(h.Events), h.Drained, int64(h.Cut)
	f.Jobs, f.Settled = report.Jobs, report.Settled
	for _, found := range report.Findings {
		clause, _ := conformance.ClauseByID(conformance.ClauseOf(string(found.Breach))) // a test knows that there is one
		shown := judgedFinding{
			Clause: clause.ID, Level: clause.Level, Statement: clause.Statement, JID: found.JID, What: found.What,
		}
		for _, other := range found.Or {
			shown.Or = append(shown.Or, conformance.ClauseOf(string(other)))
		}
		for _, i := range found.Events {
			shown.Events = append(shown.Events, judgedEvent{i, h.Events[i]})
		}
		f.Findings = append(f.Findings, shown)
	}
	f.explain(report.Undecided)
}

// jidsShown is how many of the jobs are named of which the end is not known.
const jidsShown = 5

// explain counts the jobs by the reason why their end is not known.
func (f *judgedFile) explain(undecided []history.Undecided) {
	place := map[string]int{}
	for _, job := range undecided {
		i, known := place[job.Why]
		if !known {
			i = len(f.Undecided)
			place[job.Why] = i
			f.Undecided = append(f.Undecided, judgedCause{Why: job.Why})
		}
		cause := &f.Undecided[i]
		if cause.Jobs++; len(cause.JIDs) < jidsShown {
			cause.JIDs = append(cause.JIDs, job.JID)
		}
	}
}

// conclude works out the exit code, the worst of the files.
func (all *judgement) conclude() {
	all.Exit = reports.ExitWell
	for i := range all.Histories {
		f := &all.Histories[i]
		switch {
		case f.Damage != "":
			all.Exit = reports.WorstExit(all.Exit, reports.ExitUsage)
		case len(f.Findings) > 0:
			all.Exit = reports.WorstExit(all.Exit, reports.ExitFindings)
		case f.Settled == 0 || len(f.Undecided) > 0:
			all.Exit = reports.WorstExit(all.Exit, reports.ExitInconclusive)
		}
	}
}
