package plan

import (
	"strings"
	"time"
)

// Rate is a number of arrivals a second.
type Rate float64

const (
	maxRate     = 1e9
	rateExample = "5000/s, 300/m or 10/h"
)

// ParseRate reads "5000/s", "300/m", "10/h" or "5000", which is a second's. A rate is
// from 0 to 10^9/s. The error is a *Problem.
func ParseRate(text string) (Rate, error) {
	digits, seconds, err := cutUnit(text)
	if err != nil {
		return 0, err
	}
	x, err := parseFloat(digits, 0, maxRate, rateExample)
	return Rate(x / seconds), err
}

// cutUnit returns a rate without its unit, and the seconds of the unit.
func cutUnit(text string) (digits string, seconds float64, err error) {
	digits, unit, hasUnit := strings.Cut(text, "/")
	switch {
	case !hasUnit, unit == "s":
		return digits, 1, nil
	case unit == "m":
		return digits, 60, nil
	case unit == "h":
		return digits, 3600, nil
	}
	return "", 0, newProblem(text, "has an unknown unit", "/s, /m or /h after the number", "write it as in "+rateExample)
}

// String is what ParseRate reads.
func (r Rate) String() string { return formatNumber(float64(r)) + "/s" }

// Stages are the stages of a plan, one after the other.
type Stages []Stage

const stageExample = "10s:0-1000,60s:1000"

// ParseStages reads stages as in "10s:0-1000,60s:1000,5s:5000": how long, and the rate
// or the two rates between which it moves in a straight line. A unit after the second
// rate is meant for both. The error is a *Problem.
func ParseStages(text string) (Stages, error) {
	var stages Stages
	for part := range strings.SplitSeq(text, ",") {
		stage, err := parseStage(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		stages = append(stages, stage)
	}
	return stages, nil
}

func parseStage(text string) (Stage, error) {
	fail := func(err error) (Stage, error) { return Stage{}, err }
	length, rates, found := strings.Cut(text, ":")
	if !found {
		return fail(newProblem(text, "is not a valid stage", "a duration, a colon and a rate",
			"write stages as in "+stageExample))
	}
	duration, err := ParseDuration(length)
	if err != nil {
		return fail(err)
	}
	if duration == 0 {
		return fail(newProblem(text, "has no duration", "a duration above 0", "remove the stage or give it a duration"))
	}
	first, last, isRamp := cutRange(rates)
	if !isRamp {
		last = first
	} else if _, unit, hasUnit := strings.Cut(last, "/"); hasUnit && !strings.Contains(first, "/") {
		first += "/" + unit
	}
	from, err := ParseRate(first)
	if err != nil {
		return fail(err)
	}
	to, err := ParseRate(last)
	if err != nil {
		return fail(err)
	}
	return Stage{Length: time.Duration(duration), From: float64(from), To: float64(to)}, nil
}

// String is what ParseStages reads.
func (s Stages) String() string {
	parts := make([]string, len(s))
	for i, stage := range s {
		parts[i] = Duration(stage.Length).String() + ":" + formatNumber(stage.From)
		if stage.To != stage.From {
			parts[i] += "-" + formatNumber(stage.To)
		}
	}
	return strings.Join(parts, ",")
}

// Length is the length of all stages.
func (s Stages) Length() time.Duration {
	var total time.Duration
	for _, stage := range s {
		total += stage.Length
	}
	return total
}
