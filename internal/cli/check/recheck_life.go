package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/base/input"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/life"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// printLife lists what became of one job, as each of some files has it.
func (p process) printLife(o *recheckOptions, names []string) error {
	if o.expect.name != "" || len(o.require) > 0 {
		return errors.New("--expect and --require do not work with --job")
	}
	all, jids := &reports.Histories{Job: o.job}, []string{}
	for _, name := range names {
		records, err := p.records(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		f := reports.History{Name: name}
		for _, r := range records {
			// A script has names in the place of jids, which a shell takes for its own.
			for _, jid := range []string{o.job, "$" + o.job} {
				if l := r.Life(jid); l != nil {
					f.Lives = append(f.Lives, *l)
					f.Inconclusive = causes(slices.DeleteFunc(slices.Clone(r.Undecided),
						func(u history.Undecided) bool { return u.JID != jid }))
				}
			}
			jids = append(jids, r.JIDs()...)
		}
		if len(f.Lives) > 0 {
			all.Files = append(all.Files, f)
		}
	}
	if len(all.Files) == 0 {
		words := fmt.Sprintf("no call of job %s in %s (%s)",
			o.job, strings.Join(names, ", "), text.Count(len(jids), "other job"))
		if hint := text.DidYouMean(life.Nearest(o.job, jids)...); hint != "" {
			words += "; " + hint
		}
		return errors.New(words)
	}
	return o.deliver(p, all)
}

// records reads what a file has of jobs: a report, a recording or a history.
func (p process) records(name string) ([]*life.Record, error) {
	data, isReport, err := p.ReadReport(name, reportSchema, "fwpexplore/", "fwpbench/")
	switch {
	case err != nil:
		return nil, err
	case isReport:
		return p.recordsOf(name, data)
	case filepath.Ext(name) == scriptSuffix:
		source, err := input.Read(name, scenarios.MaxSource)
		if err != nil {
			return nil, err
		}
		script, err := scenarios.Parse(registry.Default().Dialect, name, source)
		if err != nil {
			return nil, err
		}
		return []*life.Record{life.OfScript(script)}, nil
	}
	h, err := p.loadHistory(name)
	if err != nil {
		return nil, err
	}
	report := history.Examine(h)
	return []*life.Record{recordOf(name, h, &report)}, nil
}

// recordsOf returns the conversations of a report; that of a load names its history.
func (p process) recordsOf(name string, data []byte) (all []*life.Record, err error) {
	var head struct {
		Schema  string `json:"schema"`
		History string `json:"history"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("read the report: %w", err)
	}
	switch {
	case strings.HasPrefix(head.Schema, "fwpbench") && head.History == "":
		return nil, errors.New("the report of a load has no calls of single jobs: use fwpbench run --history FILE, and " +
			"give that file")
	case head.History != "":
		return p.records(head.History)
	case head.Schema == reports.ExplorationSchema:
		return explorationRecords(name, data)
	}
	r, err := reports.ReadJSON(data)
	if err != nil {
		return nil, err
	}
	for i := range r.Checks {
		c := &r.Checks[i]
		place := name + ", " + c.ID
		if len(c.Findings) == 0 {
			all = append(all, life.OfConversation(place, c.Conversation, 0, reports.LifeFinding{}))
		}
		for k := range c.Findings {
			f := &c.Findings[k]
			lines := f.Conversation
			if lines == nil {
				lines = c.Conversation
			}
			all = append(all, conversationOf(place, f, lines))
		}
	}
	return all, nil
}

// explorationRecords returns the conversations of an exploration.
func explorationRecords(name string, data []byte) (all []*life.Record, err error) {
	e := &reports.Exploration{}
	if err := reports.CheckBounds(data); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, e); err != nil {
		return nil, fmt.Errorf("read the report: %w", err)
	}
	for i := range e.Findings {
		all = append(all, conversationOf(name, &e.Findings[i].Finding, e.Findings[i].Conversation))
	}
	return all, nil
}

// conversationOf returns the record of a finding.
func conversationOf(name string, f *reports.Finding, lines []reports.Line) *life.Record {
	const limit = 200
	found := reports.LifeFinding{Clause: f.Clause, Description: "expected " + text.Brief(text.OneLine(f.Expected), limit) +
		"; got " +
		text.Brief(text.OneLine(f.Actual), limit)}
	return life.OfConversation(name, lines, f.MarkedLine, found)
}

// recordOf returns the record of a history.
func recordOf(name string, h *history.History, found *history.Report) *life.Record {
	return life.OfHistory(name, h, found, func(b history.Breach) string { return registry.Default().ClauseOf(string(b)) })
}

// maxLives is how many jobs of the findings in a history are listed.
const maxLives = 50

// livesOf returns the lives of the first jobs that findings are about.
func livesOf(r *life.Record) (all []reports.Life) {
	var jids []string
	for _, f := range r.Findings {
		if l := r.Life(f.JID); l != nil && len(jids) < maxLives && !slices.Contains(jids, f.JID) {
			jids = append(jids, f.JID)
			all = append(all, *l)
		}
	}
	return all
}

// maxCompletionFile is the size of the largest file whose jobs are completed, in bytes.
const maxCompletionFile = 16 << 20

// completeJobs completes the jobs of the findings in the files on the command line.
func (p process) completeJobs(_ *cobra.Command, names []string, _ string) (jids []string, _ cobra.ShellCompDirective) {
	for _, name := range names {
		if _, err := input.Read(name, maxCompletionFile); err != nil {
			continue
		}
		records, _ := p.records(name) // no words to complete are no error
		for _, r := range records {
			for _, f := range r.Findings {
				if f.JID != "" {
					jids = append(jids, f.JID)
				} else {
					jids = append(jids, r.JIDs()...)
				}
			}
		}
	}
	slices.Sort(jids)
	return slices.Compact(jids), cobra.ShellCompDirectiveNoFileComp
}
