package law

import (
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// words are the texts that a FAIL had for a job.
type words struct {
	jid   string
	texts []string
}

const (
	remembered = 100 // FAILs whose texts are kept
	telling    = 12  // bytes of a text that no other FAIL has by chance
)

// said keeps the texts of a FAIL that was accepted.
func (w *World) said(k *call) {
	if k.Verb != fwp.FAIL {
		return
	}
	lines, _ := k.Fields["backtrace"].([]any)
	all := []string{k.text("message")}
	for _, line := range lines {
		text, _ := line.(string)
		all = append(all, text)
	}
	all = slices.DeleteFunc(all, func(s string) bool { return len(s) < telling })
	if len(all) == 0 {
		return
	}
	if w.failures = append(w.failures, words{k.text("jid"), all}); len(w.failures) > remembered {
		w.failures = slices.Delete(w.failures, 0, len(w.failures)-remembered)
	}
}

// stray judges whether the failure of a job has a text that was sent of other jobs only. (FWP-WU-13)
func (w *World) stray(j *Job, f map[string]any) *law.Violation {
	got := texts(f["failure"])
	if got == "" {
		return nil
	}
	for _, other := range w.failures {
		for _, s := range other.texts {
			if other.jid != j.JID && strings.Contains(got, s) && !w.ownWords(j, s) {
				v := wrong("FWP-WU-13", "failure", "null | absent | contains(!"+written(s)+")", f["failure"])
				v.What = "that was sent of another job"
				return v
			}
		}
	}
	return nil
}

// ownWords reports whether a text was sent of a job itself.
func (w *World) ownWords(j *Job, s string) bool {
	own := func(k words) bool { return k.jid == j.JID && strings.Contains(strings.Join(k.texts, "\n"), s) }
	return slices.ContainsFunc(w.failures, own) || strings.Contains(texts(j.failure)+texts(j.before), s)
}
