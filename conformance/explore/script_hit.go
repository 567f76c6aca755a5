package explore

import "github.com/fwpsuite/fwp/scenarios"

// hit writes the line that fails, the answer to a step.
func (w *writer) hit(step, conn int) {
	came := w.expected(step, conn) // of many rounds those before were answered
	if w.r.hit.Rule == "lingers" {
		w.expect(conn, scenarios.Window{}, w.r.subject.Accepted)
	}
	w.clause()
	var within scenarios.Window // in which the reply must come
	if from, to := w.r.hit.Window[0], w.r.hit.Window[1]; to > 0 {
		within = scenarios.Window{From: from, To: to}
	}
	w.expect(conn, within, w.wanted(came))
}

// wanted is what the line that fails expects, as a script has it; came is what comes
// where the finding is about something beside it.
func (w *writer) wanted(came string) string {
	switch w.r.hit.Rule {
	case "extra", "grammar", "unasked", "closed":
		return came
	case "crash":
		if w.t.N > 1 {
			return came
		}
		return "<any>"
	case "silent":
		return "<any>"
	case "lingers":
		return "<close>"
	}
	if w.r.hit.Rule == "delivered" && w.t.N > 1 { // other rounds bring a job there
		return came
	}
	if text := w.symbols(w.r.hit.Expected); text != "" {
		return text
	}
	return "<any>"
}
