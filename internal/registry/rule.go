package registry

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fakes/rule"
	"github.com/fwpsuite/fwp/internal/base/input"
)

// Rules are the rules by which a user has the embedded server of a protocol misbehave.
type Rules struct {
	// Parse reads one rule, and ParseFile the content of a file of them. An error is a *[rule.Error].
	Parse     func(text string) (Bug, error)
	ParseFile func(content string) ([]Bug, error)

	// Table is the words of the rules as tables in Markdown.
	Table func() string
}

// rulesOf returns the rules of a fake. hook returns where the configuration of a server has its hook.
func rulesOf[E, C any](v *rule.Vocabulary[E], hook func(*C) *func(*E)) *Rules {
	bugs := func(rules ...rule.Rule[E]) []Bug {
		var rows []catalogue.Bug[E]
		for _, r := range rules {
			rows = append(rows, catalogue.Bug[E]{Name: r.Text, Hook: r.Hook})
		}
		return bugsOf(rows, hook)
	}
	return &Rules{
		Parse: func(text string) (Bug, error) {
			r, err := v.Parse(text)
			if err != nil {
				return Bug{}, err
			}
			return bugs(r)[0], nil
		},
		ParseFile: func(content string) ([]Bug, error) {
			rules, err := v.ParseFile(content)
			return bugs(rules...), err
		},
		Table: v.Table,
	}
}

// maxRules is how many bytes a file of rules may have.
const maxRules = 1 << 20

// RulesOf returns the bugs of some rules, and of the rules of files. An error names the flag and the place.
func (p *Entry) RulesOf(rules, files []string) (bugs []Bug, err error) {
	if p.Rules == nil && len(rules)+len(files) > 0 {
		return nil, fmt.Errorf("--rule: the embedded server of %s takes no rules", p.Name)
	}
	for _, text := range rules {
		f, err := p.parseRule(text)
		if err != nil {
			return nil, fmt.Errorf("--rule %w", err)
		}
		bugs = append(bugs, f)
	}
	for _, name := range files {
		content, err := input.Read(name, maxRules)
		if err != nil {
			return nil, fmt.Errorf("--rules: %w", err)
		}
		added, err := p.Rules.ParseFile(string(content))
		if err != nil {
			return nil, fmt.Errorf("--rules %s:%w", name, err)
		}
		bugs = append(bugs, added...)
	}
	return bugs, nil
}

// parseRule returns the bug of a rule.
func (p *Entry) parseRule(text string) (Bug, error) {
	f, err := p.Rules.Parse(text)
	if ruleErr, ok := errors.AsType[*rule.Error](err); ok {
		err = fmt.Errorf("%q, column %d: %s", text, ruleErr.Column, ruleErr.Text)
	}
	return f, err
}

// BugOrRule returns the bug with a name, or that of a rule, which begins with "on".
func (p *Entry) BugOrRule(text string) (Bug, error) {
	if p.Rules != nil && strings.HasPrefix(text, "on ") {
		return p.parseRule(text)
	}
	return p.BugNamed(text)
}
