package scenarios

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/internal/target"
)

// The limits of a script.
const (
	// MaxSource is how many bytes the file of a script has at most.
	MaxSource = 4 << 20

	maxLines    = 100_000
	maxLine     = 1 << 20 // bytes
	maxDepth    = 200     // values in each other
	maxConns    = 1000    // of connections
	maxProblems = 100     // that are reported
)

// Parse reads a script of a dialect; name is the file that problems and reports point at.
// On error the result is nil and the error is [Problems]: all of them, not
// only the first, but for those after the hundredth.
func Parse(d Dialect, name string, source []byte) (*Script, error) {
	p := &parser{script: &Script{Dialect: d, Name: name}, grammar: d.Grammar()}
	if err := checkSize(source); err != nil {
		p.problem(1, err)
		return nil, p.problems
	}
	source = bytes.TrimPrefix(source, []byte("\ufeff"))
	lines := strings.Split(string(source), "\n")
	for i := range lines {
		if len(p.problems) >= maxProblems {
			p.problem(i, errorAt(0, 1, "", "more problems follow these %d", maxProblems))
			return nil, p.problems
		}
		lines[i] = strings.TrimRight(lines[i], "\r")
		p.script.Source = lines[:i+1]
		p.line(i + 1)
	}
	if p.block != nil {
		p.problems = append(p.problems, &Problem{File: name, Pos: p.block.Pos, Source: p.source(p.block.Line),
			Message: fmt.Sprintf("this %s block is not closed", p.block.Kind), Help: "close it with the line: end"})
	}
	p.finish()
	if len(p.problems) > 0 {
		return nil, p.problems
	}
	return p.script, nil
}

// checkSize returns why a file is not read at all, nil if it is.
func checkSize(source []byte) error {
	switch {
	case len(source) > MaxSource:
		return errorAt(0, 1, "", "the file has more than %d MiB", MaxSource>>20)
	case bytes.Count(source, []byte("\n")) > maxLines:
		return errorAt(0, 1, "", "the file has more than %d lines", maxLines)
	case !utf8.Valid(source):
		return errorAt(0, 1, `write other bytes in C raw: lines, as "\xff"`, "the file is not UTF-8")
	}
	return nil
}

// parser reads the lines once, in order.
type parser struct {
	script    *Script
	grammar   *Grammar
	problems  Problems
	helpLists []string     // the lists of known words that some help has given
	block     *Block       // the open one
	marks     []ClauseMark // of the following lines with an expectation
	asides    []Aside      // since the last step, or line of the header
	body      bool         // the header is over
}

// takeAsides returns the asides since the last step, and forgets them.
func (p *parser) takeAsides() []Aside {
	asides := p.asides
	p.asides = nil
	return asides
}

// placed is a statement at a place, below the asides that were read before it.
func (p *parser) placed(at Pos) Statement { return Statement{Pos: at, Asides: p.takeAsides()} }

func (p *parser) source(line int) string { return p.script.Source[line-1] }

// problem notes a lineError about a line.
func (p *parser) problem(line int, err error) {
	var c *lineError
	if !errors.As(err, &c) {
		c = errorAt(0, 1, "", "%v", err)
	}
	src := ""
	if line <= len(p.script.Source) {
		src = p.source(line)
	}
	col := column(src, c.at)
	if strings.HasPrefix(c.help, knownWordsHelp) {
		if slices.Contains(p.helpLists, c.help) {
			c.help = ""
		} else {
			p.helpLists = append(p.helpLists, c.help)
		}
	}
	p.problems = append(p.problems, &Problem{File: p.script.Name, Source: src, Message: c.message, Help: c.help,
		Pos: Pos{line, col, max(column(src, c.at+c.width)-col, 1)}})
}

// line parses one line: blank, comment, header or statement.
func (p *parser) line(n int) {
	c := &cursor{line: p.source(n), grammar: p.grammar}
	if len(c.line) > maxLine {
		p.problem(n, errorAt(0, 1, "$filler(64KiB) stands for a long text", "the line has more than %d KiB", maxLine>>10))
		return
	}
	c.skipBlanks()
	if strings.TrimSpace(c.rest()) == "" || c.peek() == '#' {
		p.asides = append(p.asides, Aside{Comment: strings.TrimSpace(c.rest())})
		return
	}
	if isHeader, err := p.header(c); isHeader {
		if err != nil {
			p.problem(n, err)
		}
		return
	}
	p.body = true
	step, err := p.statement(c, n)
	if err != nil {
		p.problem(n, err)
		return
	}
	if step != nil {
		p.add(step)
	}
}

// add puts a step where it belongs.
func (p *parser) add(s Step) {
	if b, ok := s.(*Block); ok {
		p.script.Steps = append(p.script.Steps, b)
		p.block = b
		return
	}
	if p.block != nil {
		p.block.Steps = append(p.block.Steps, s)
		return
	}
	p.script.Steps = append(p.script.Steps, s)
}

var headerKeys = []string{"protocol", "title", "needs", "waits"}

// header parses `key: value` above the first statement.
func (p *parser) header(c *cursor) (bool, error) {
	key, value, ok := strings.Cut(c.rest(), ":")
	if !ok || p.body || strings.ToLower(key) != key || strings.ContainsAny(key, " \t[") {
		return false, nil
	}
	start, valueAt := c.pos, c.pos+len(key)+1+len(value)-len(strings.TrimLeft(value, " \t"))
	value = strings.TrimSpace(value)
	if asides := p.takeAsides(); len(asides) > 0 {
		if p.script.Header == nil {
			p.script.Header = map[string][]Aside{}
		}
		p.script.Header[key] = append(p.script.Header[key], asides...)
	}
	switch key {
	case "protocol":
		if name := p.grammar.Name; value != name {
			return true, errorAt(valueAt, max(len(value), 1), "write protocol: "+name,
				"the script is read as %s, but its protocol is %q", name, value)
		}
		p.script.protocol = true
	case "title":
		p.script.Title = value
	case "needs":
		return true, p.needs(strings.Fields(value), valueAt, len(value))
	case "waits":
		var err error
		if p.script.Waits, err = time.ParseDuration(value); err != nil || p.script.Waits <= 0 {
			return true, errorAt(valueAt, max(len(value), 1), "write waits: 60s", "%q is not a valid duration", value)
		}
		p.script.waits = value
	default:
		return true, errorAt(start, len(key), didYouMean(key, headerKeys), "unknown header %q", key)
	}
	return true, nil
}

var declarable = []string{string(NeedOpen), string(NeedPassword), string(NeedAlone), string(NeedFlush)}

func (p *parser) needs(words []string, at, width int) error {
	for _, w := range words {
		if !slices.Contains(declarable, w) {
			return errorAt(at, width, didYouMean(w, declarable), "unknown value %q for needs", w)
		}
		p.script.Needs = append(p.script.Needs, Need(w))
	}
	p.script.declared = slices.Clone(p.script.Needs)
	return nil
}

// finish adds the needs that the steps imply.
func (p *parser) finish() {
	p.script.After = p.takeAsides()
	conns := map[string]bool{}
	for s := range p.script.All() {
		if conns[ConnectionOf(s)] = true; len(conns) > maxConns {
			p.problem(s.Place().Line, errorAt(0, 1, "", "the script has more than %d connections", maxConns))
			return
		}
		switch s := s.(type) {
		case *Operate:
			p.script.Needs = append(p.script.Needs, s.need())
		case *Send:
			p.script.Needs = append(p.script.Needs, s.needs()...)
		}
	}
	slices.Sort(p.script.Needs)
	p.script.Needs = slices.Compact(p.script.Needs)
	if len(p.script.Steps) == 0 && len(p.problems) == 0 {
		p.problem(1, errorAt(0, 1, "a script has lines such as   "+p.grammar.Example,
			"the script has no statements"))
	}
}

// need returns what an action needs.
func (s *Operate) need() Need {
	switch {
	case s.Action.OnWorker():
		return NeedSignals
	case s.Action == target.Restart:
		return NeedRestart
	default:
		return NeedKill
	}
}

// needs returns the needs of the values that a line computes.
func (s *Send) needs() (needs []Need) {
	for _, t := range s.Segments {
		for _, r := range t.refs() {
			if r.computation != nil && r.formula != nil && r.formula.Needs != "" {
				needs = append(needs, r.formula.Needs)
			}
		}
	}
	return needs
}

// All returns the steps, those of blocks included.
func (s *Script) All() iter.Seq[Step] {
	return func(yield func(Step) bool) {
		for _, step := range s.Steps {
			if !yield(step) {
				return
			}
			b, ok := step.(*Block)
			if !ok {
				continue
			}
			for _, inner := range b.Steps {
				if !yield(inner) {
					return
				}
			}
		}
	}
}

// Protocol returns the protocol that the header of a script names, "" if it names none. It reads no more than that.
func Protocol(source []byte) string {
	for line := range strings.Lines(string(bytes.TrimPrefix(source, []byte("\ufeff")))) {
		line = strings.TrimSpace(line)
		if value, ok := strings.CutPrefix(line, "protocol:"); ok {
			return strings.TrimSpace(value)
		}
		if line != "" && !strings.HasPrefix(line, "#") && !isHeaderLine(line) {
			break
		}
	}
	return ""
}

func isHeaderLine(line string) bool {
	key, _, ok := strings.Cut(line, ":")
	return ok && slices.Contains(headerKeys, key)
}
