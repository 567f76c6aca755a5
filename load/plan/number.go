package plan

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// The parsers of this package return a *Problem without a place and a key, so that
// flags and YAML can each add their own.

func newProblem(text, message, expected, do string) *Problem {
	return &Problem{Description: fmt.Sprintf("%q %s", text, message), Expected: expected, Do: do}
}

// parseInt reads a whole number from low to high; underscores may group its digits.
func parseInt(text string, low, high int64) (int64, error) {
	n, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, 64)
	expected := fmt.Sprintf("a whole number from %d to %d", low, high)
	switch {
	case errors.Is(err, strconv.ErrSyntax):
		return 0, newProblem(text, "is not a valid whole number", expected, "write digits, as in 50")
	case err != nil || n < low || n > high:
		return 0, newProblem(text, "is out of range", expected, "choose a number in that range")
	}
	return n, nil
}

// parseFloat reads a finite number from low to high.
func parseFloat(text string, low, high float64, example string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	expected := fmt.Sprintf("a number from %s to %s", formatNumber(low), formatNumber(high))
	switch {
	case errors.Is(err, strconv.ErrSyntax) || math.IsNaN(x):
		return 0, newProblem(text, "is not a valid number", expected, "write it as in "+example)
	case err != nil || x < low || x > high:
		return 0, newProblem(text, "is out of range", expected, "choose a number in that range")
	}
	return x, nil
}

// ParseShare reads a part of one: 0.05 or 5%. The error is a *Problem.
func ParseShare(text string) (float64, error) {
	digits, isPercent := strings.CutSuffix(text, "%")
	scale := 1.0
	if isPercent {
		scale = 100
	}
	x, err := parseFloat(digits, 0, scale, "")
	if err != nil {
		return 0, newProblem(text, "is not a valid share", "a share from 0 to 1, or from 0% to 100%",
			"write it as in 0.05 or 5%")
	}
	return x / scale, nil
}

func formatNumber(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// Duration is a length of time in Go's notation, as in 1m30s.
type Duration time.Duration

// maxDuration is the longest duration of a workload; plans stay within what their
// arithmetic holds exactly.
const maxDuration = 1000 * time.Hour

// ParseDuration reads a duration from 0 to 1000h. A bare number has no unit and is
// refused, except 0. The error is a *Problem.
func ParseDuration(text string) (Duration, error) {
	d, err := time.ParseDuration(text)
	const expected = "a duration from 0s to 1000h"
	if err != nil {
		do := "write a number and a unit, as in 500ms, 30s or 5m"
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			return 0, newProblem(text, "has no unit", expected, do)
		}
		return 0, newProblem(text, "is not a valid duration", expected, do)
	}
	if d < 0 || d > maxDuration {
		return 0, newProblem(text, "is out of range", expected, "choose a duration in that range")
	}
	return Duration(d), nil
}

// String is what ParseDuration reads.
func (d Duration) String() string { return shorten(time.Duration(d).String()) }

// shorten takes off zero units: 1h0m0s is 1h.
func shorten(text string) string {
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// cutRange returns the two halves of "5-20". A text that begins or ends with its hyphen, as -5 does, is not a range.
func cutRange(text string) (low, high string, isRange bool) {
	low, high, isRange = strings.Cut(text, "-")
	if low == "" || high == "" {
		return text, "", false
	}
	return low, high, isRange
}

// parseSpan reads one value or two, the smaller one first; both are zero with an error.
func parseSpan[T ~int | ~int64](text, kind string, parse func(string) (T, error)) (low, high T, err error) {
	first, second, isRange := cutRange(text)
	if low, err = parse(first); err == nil && isRange {
		high, err = parse(second)
	} else {
		high = low
	}
	if err == nil && high < low {
		err = newProblem(text, "ends before it begins", "the smaller "+kind+" first", "swap the two")
	}
	if err != nil {
		return 0, 0, err
	}
	return low, high, nil
}

// Range is a duration between two bounds, uniformly distributed. The zero Range is 0.
type Range struct{ Min, Max time.Duration }

// ParseRange reads "10ms" or "5ms-20ms". The error is a *Problem.
func ParseRange(text string) (Range, error) {
	low, high, err := parseSpan(text, "duration", ParseDuration)
	return Range{time.Duration(low), time.Duration(high)}, err
}

// String is what ParseRange reads.
func (r Range) String() string {
	if r.Min == r.Max {
		return Duration(r.Min).String()
	}
	return Duration(r.Min).String() + "-" + Duration(r.Max).String()
}

// at is the duration that belongs to a random number.
func (r Range) at(random uint64) time.Duration {
	return r.Min + time.Duration(scaleTo(random, uint64(max(0, r.Max-r.Min))+1))
}
