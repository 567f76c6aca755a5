package validity

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/load/results"
)

// ThresholdError reports what is wrong with a threshold, and where.
type ThresholdError struct {
	Source string
	// Col is the place in Source, in characters counted from 1.
	Col int
	// Reason is what is wrong, and what to write instead.
	Reason string
}

// Error returns `threshold "push.p99<20ms", column 1: ...`.
func (e *ThresholdError) Error() string {
	return fmt.Sprintf("threshold %q, column %d: %s", e.Source, e.Col, e.Reason)
}

// ParseThreshold reads a threshold of a load with these kinds of commands; see Threshold for the grammar. Blanks around
// its parts do not matter. Every error is a *ThresholdError.
func ParseThreshold(source string, ops ...string) (Threshold, error) {
	t := Threshold{Source: strings.TrimSpace(source)}
	fail := func(at int, format string, args ...any) (Threshold, error) {
		col := utf8.RuneCountInString(source[:at]) + 1
		return Threshold{}, &ThresholdError{Source: source, Col: col, Reason: fmt.Sprintf(format, args...)}
	}
	from := skipBlanks(source, 0)
	operator := strings.IndexAny(source, "<>=!")
	if operator < 0 {
		return fail(len(source), "an operator is missing: one of < <= > >= == !=, as in push.response.p99<20ms")
	}
	t.Metric = strings.TrimSpace(source[:operator])
	m, ok := results.FindMetric(t.Metric, ops)
	switch {
	case t.Metric == "":
		return fail(from, "a metric is missing before %s, as in push.response.p99<20ms", source[operator:operator+1])
	case !ok:
		return fail(from, "unknown metric %q; did you mean %s? (fwpbench metrics lists all)", t.Metric,
			nearestMetric(t.Metric, ops))
	}
	end := operator
	for end < len(source) && strings.IndexByte("<>=!", source[end]) >= 0 {
		end++
	}
	t.Operator = source[operator:end]
	if operators[t.Operator] == nil {
		return fail(operator, "unknown operator %s: use < <= > >= == !=", t.Operator)
	}
	value := skipBlanks(source, end)
	if reason := t.parseValue(m, strings.TrimSpace(source[value:])); reason != "" {
		return fail(value, "%s", reason)
	}
	return t, nil
}

func skipBlanks(s string, from int) int {
	return len(s) - len(strings.TrimLeft(s[from:], " \t"))
}

// parseValue reads a number and its unit; it returns what is wrong.
func (t *Threshold) parseValue(m results.Metric, text string) (reason string) {
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end] == '.' || text[end] == '_') {
		end++
	}
	number, unit := text[:end], strings.TrimSpace(text[end:])
	value, err := strconv.ParseFloat(strings.ReplaceAll(number, "_", ""), 64)
	if strings.HasPrefix(unit, ",") {
		return fmt.Sprintf("%q has a comma: write fractions with a point, as in 0.1, and thousands without a separator",
			text)
	}
	if err != nil || math.IsInf(value, 0) {
		return fmt.Sprintf("%q is not a valid number; write %s%s%s for example", text, t.Metric, t.Operator, m.Example())
	}
	return t.scale(m, value, number, unit)
}

// scale sets the value, in a unit; it returns what is wrong.
func (t *Threshold) scale(m results.Metric, value float64, number, unit string) (reason string) {
	scale, ok := m.Unit.Factors()[unit]
	switch {
	case unit == "%" && m.HasShare:
		t.IsShare, t.Value = true, value/100 // exact for what people write, as value * 0.01 is not
		return ""
	case unit == "%":
		return fmt.Sprintf("%s is not a share, so it takes no %%; write %s for example", t.Metric, m.Example())
	case !ok && unit == "":
		return fmt.Sprintf("%s is a time and needs a unit (ns, us, ms, s, m): %sms for example", t.Metric, number)
	case !ok:
		return fmt.Sprintf("unknown unit %q for %s; write %s for example", unit, t.Metric, m.Example())
	}
	t.Value = value * scale
	return ""
}

// nearestMetric returns the metric that was most likely meant: that of the response time of a push if only the kind of
// command is missing, one that has all parts of name in their order, or else the one that takes the fewest changes.
func nearestMetric(name string, ops []string) string {
	if now := text.Replacement(name); now != "" {
		return now
	}
	for _, candidate := range []string{"push.response." + name, "push." + name} {
		if m, ok := results.FindMetric(candidate, ops); ok {
			return m.Name
		}
	}
	parts, best, fewest := strings.Split(strings.ToLower(name), "."), "", math.MaxInt
	for _, m := range results.Metrics(ops) {
		changes := text.Distance(name, m.Name)
		if candidate := strings.Split(m.Name, "."); hasParts(candidate, parts) {
			changes = len(candidate) - 100
		}
		if changes < fewest {
			best, fewest = m.Name, changes
		}
	}
	return best
}

// hasParts reports whether all of parts are in names, in their order.
func hasParts(names, parts []string) bool {
	for _, part := range parts {
		at := slices.Index(names, part)
		if at < 0 {
			return false
		}
		names = names[at+1:]
	}
	return true
}
