package law

import (
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// failTexts are the texts that a FAIL had for a job.
type failTexts struct {
	jid   string
	texts []string
}

const (
	failLimit  = 100 // FAILs whose texts are kept
	textLength = 12  // bytes of a text that no other FAIL has by chance
)

// keepTexts keeps the texts of a FAIL that was accepted.
func (w *World) keepTexts(k *call) {
	if k.Verb != fwp.FAIL {
		return
	}
	lines, _ := k.Fields["backtrace"].([]any)
	all := []string{k.text("message")}
	for _, line := range lines {
		text, _ := line.(string)
		all = append(all, text)
	}
	all = slices.DeleteFunc(all, func(s string) bool { return len(s) < textLength })
	if len(all) == 0 {
		return
	}
	if w.failures = append(w.failures, failTexts{k.text("jid"), all}); len(w.failures) > failLimit {
		w.failures = slices.Delete(w.failures, 0, len(w.failures)-failLimit)
	}
}

// judgeStray judges whether the failure of a job has a text that was sent of other jobs only. (FWP-WU-13)
func (w *World) judgeStray(j *Job, f map[string]any) *law.Violation {
	got := joinTexts(f["failure"])
	if got == "" {
		return nil
	}
	for _, other := range w.failures {
		for _, s := range other.texts {
			if other.jid != j.JID && strings.Contains(got, s) && !w.isOwnText(j, s) {
				v := fieldViolation("FWP-WU-13", "failure", "null | absent | contains(!"+formatJSON(s)+")", f["failure"])
				v.Detail = "that was sent of another job"
				return v
			}
		}
	}
	return nil
}

// isOwnText reports whether a text was sent of a job itself.
func (w *World) isOwnText(j *Job, s string) bool {
	isOwn := func(k failTexts) bool { return k.jid == j.JID && strings.Contains(strings.Join(k.texts, "\n"), s) }
	return slices.ContainsFunc(w.failures, isOwn) || strings.Contains(joinTexts(j.failure)+joinTexts(j.earlierFailure), s)
}
