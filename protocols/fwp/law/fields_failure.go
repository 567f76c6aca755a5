package law

import (
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
)

// judgeFailure judges the field about the last failure. (FWP-WU-13, FWP-FAIL-06)
func (j *Job) judgeFailure(f map[string]any, now time.Time) *law.Violation {
	got, isObject := f["failure"].(map[string]any)
	isGiven := f["failure"] != nil
	object := fieldViolation("FWP-WU-13", "failure", "object", f["failure"])
	object.Doubtful = !isGiven // it may be the job as it was before, given out once more
	switch {
	case j.hasExpired && !isObject && f["enqueued_at"] != j.enqueuedAt, j.Failures > 0 && isGiven && !isObject:
		return object
	case j.isUncertain:
		return nil
	case j.Failures == 0 && isGiven:
		return fieldViolation("FWP-WU-13", "failure", "null | absent", f["failure"])
	case j.Failures == 0 || j.failure == nil:
		return nil
	case !isObject:
		return object
	}
	return j.judgeDescription(f, joinTexts(got), now)
}

// judgeDescription judges whether the field about the last failure has what FAIL said of it. White space around that
// may be left out: the field is information about the failure, and nothing says that it is verbatim.
func (j *Job) judgeDescription(f map[string]any, text string, now time.Time) *law.Violation {
	for _, name := range []string{"errtype", "message"} {
		if s, _ := j.failure[name].(string); len(s) <= 100 && !strings.Contains(text, strings.TrimSpace(s)) {
			clause := "FWP-FAIL-06"
			if old, _ := j.earlierFailure[name].(string); old != "" && strings.Contains(text, old) {
				clause = "FWP-WU-13"
			}
			v := fieldViolation(clause, "failure", fmt.Sprintf("contains(%s)", formatJSON(s)), f["failure"])
			v.Doubtful = !now.Before(j.reservationEnd) // it may have come back because its reservation ended
			return v
		}
	}
	return j.judgeBacktrace(f, text)
}

// judgeBacktrace judges how many lines are kept, those of the failure before included. No server has to keep more than
// five. (AMB-22)
func (j *Job) judgeBacktrace(f map[string]any, text string) *law.Violation {
	lines, _ := j.failure["backtrace"].([]any)
	keep, isGiven := integer(j.pushFields["backtrace"])
	clause := "FWP-WU-09"
	if !isGiven || keep == 0 {
		clause = "FWP-WU-08"
	}
	var holds []string
	isBad, count := false, int64(0)
	for i, line := range lines {
		s, _ := line.(string)
		isFound := strings.Contains(text, s)
		if isFound {
			count++
		}
		switch {
		case len(s) < 8 || int64(i) < keep && i >= 5:
		case int64(i) < keep:
			holds, isBad = append(holds, formatJSON(s)), isBad || !isFound
		default:
			holds, isBad = append(holds, "!"+formatJSON(s)), isBad || isFound
		}
	}
	if old, oldClause := j.oldLine(text, count, keep); !isBad && old != "" {
		holds, isBad, clause = append(holds, "!"+formatJSON(old)), true, oldClause
	}
	if isBad {
		return fieldViolation(clause, "failure", "contains("+strings.Join(holds, ",")+")", f["failure"])
	}
	return nil
}

// oldLine returns a line of the failure before the last one that must not be beside so many kept lines of that, and the
// clause; "" for none.
func (j *Job) oldLine(text string, count, keep int64) (line, clause string) {
	oldLines := j.oldLines(text)
	lines, _ := j.failure["backtrace"].([]any)
	switch {
	case len(oldLines) == 0:
		return "", ""
	case int64(len(oldLines))+count > keep:
		return oldLines[0], "FWP-WU-08"
	case len(lines) == 0 && j.lacksTexts(text):
		return oldLines[0], "FWP-WU-13"
	}
	return "", ""
}

// lacksTexts reports whether a text does not tell what the failure before the last one was, in the words of its FAIL:
// so lines of that one are no history of failures.
func (j *Job) lacksTexts(text string) bool {
	for _, name := range []string{"errtype", "message"} {
		if s, _ := j.earlierFailure[name].(string); len(s) > 0 && len(s) <= 100 &&
			!strings.Contains(text, strings.TrimSpace(s)) {
			return true
		}
	}
	return false
}

// oldLines returns the lines of the failure before the last one that stand in a text, and in no line of the last one.
func (j *Job) oldLines(text string) (all []string) {
	lines, _ := j.earlierFailure["backtrace"].([]any)
	for _, line := range lines {
		s, _ := line.(string)
		if len(s) >= 8 && strings.Contains(text, s) && !strings.Contains(joinTexts(j.failure), s) {
			all = append(all, s)
		}
	}
	return all
}
