package law

import (
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
)

// failures judges the field about the last failure. (FWP-WU-13, FWP-FAIL-06)
func (j *Job) failures(f map[string]any, now time.Time) *law.Violation {
	got, is := f["failure"].(map[string]any)
	given := f["failure"] != nil
	object := wrong("FWP-WU-13", "failure", "object", f["failure"])
	object.Doubtful = !given // it may be the job as it was before, given out once more
	switch {
	case j.expired && !is && f["enqueued_at"] != j.enqueued, j.Failures > 0 && given && !is:
		return object
	case j.uncertain:
		return nil
	case j.Failures == 0 && given:
		return wrong("FWP-WU-13", "failure", "null | absent", f["failure"])
	case j.Failures == 0 || j.failure == nil:
		return nil
	case !is:
		return object
	}
	return j.described(f, texts(got), now)
}

// described judges whether the field about the last failure has what FAIL said of it. White space around that may be
// left out: the field is information about the failure, and nothing says that it is verbatim.
func (j *Job) described(f map[string]any, text string, now time.Time) *law.Violation {
	for _, name := range []string{"errtype", "message"} {
		if s, _ := j.failure[name].(string); len(s) <= 100 && !strings.Contains(text, strings.TrimSpace(s)) {
			clause := "FWP-FAIL-06"
			if old, _ := j.before[name].(string); old != "" && strings.Contains(text, old) {
				clause = "FWP-WU-13"
			}
			v := wrong(clause, "failure", fmt.Sprintf("contains(%s)", written(s)), f["failure"])
			v.Doubtful = !now.Before(j.until) // it may have come back because its reservation ended
			return v
		}
	}
	return j.backtrace(f, text)
}

// backtrace judges how many lines are kept, those of the failure before included. No server has to keep more than five.
// (AMB-22)
func (j *Job) backtrace(f map[string]any, text string) *law.Violation {
	lines, _ := j.failure["backtrace"].([]any)
	keep, asked := integer(j.sent["backtrace"])
	clause := "FWP-WU-09"
	if !asked || keep == 0 {
		clause = "FWP-WU-08"
	}
	var holds []string
	bad, kept := false, int64(0)
	for i, line := range lines {
		s, _ := line.(string)
		is := strings.Contains(text, s)
		if is {
			kept++
		}
		switch {
		case len(s) < 8 || int64(i) < keep && i >= 5:
		case int64(i) < keep:
			holds, bad = append(holds, written(s)), bad || !is
		default:
			holds, bad = append(holds, "!"+written(s)), bad || is
		}
	}
	if old, of := j.old(text, kept, keep); !bad && old != "" {
		holds, bad, clause = append(holds, "!"+written(old)), true, of
	}
	if bad {
		return wrong(clause, "failure", "contains("+strings.Join(holds, ",")+")", f["failure"])
	}
	return nil
}

// old returns a line of the failure before the last one that must not be beside so many kept lines of that, and the
// clause; "" for none.
func (j *Job) old(text string, kept, keep int64) (line, clause string) {
	old := j.kept(text)
	lines, _ := j.failure["backtrace"].([]any)
	switch {
	case len(old) == 0:
		return "", ""
	case int64(len(old))+kept > keep:
		return old[0], "FWP-WU-08"
	case len(lines) == 0 && j.mixed(text):
		return old[0], "FWP-WU-13"
	}
	return "", ""
}

// mixed reports whether a text does not tell what the failure before the last one was, in the words of its FAIL: so
// lines of that one are no history of failures.
func (j *Job) mixed(text string) bool {
	for _, name := range []string{"errtype", "message"} {
		if s, _ := j.before[name].(string); len(s) > 0 && len(s) <= 100 && !strings.Contains(text, strings.TrimSpace(s)) {
			return true
		}
	}
	return false
}

// kept returns the lines of the failure before the last one that stand in a text, and in no line of the last one.
func (j *Job) kept(text string) (all []string) {
	lines, _ := j.before["backtrace"].([]any)
	for _, line := range lines {
		s, _ := line.(string)
		if len(s) >= 8 && strings.Contains(text, s) && !strings.Contains(texts(j.failure), s) {
			all = append(all, s)
		}
	}
	return all
}
