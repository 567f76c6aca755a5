package explore

import "time"

// hit writes the line that fails, the answer to a step.
func (w *writer) hit(step, conn int) {
	came := w.expected(step, conn) // of many rounds those before were answered
	if w.r.hit.Rule == "lingers" {
		w.line("%s: +OK", w.at("S", conn))
	}
	w.clause()
	w.line("%s%s: %s", w.at("S", conn), window(w.r.hit.Window), w.wanted(came))
}

// wanted is what the line that fails expects, as a script says it; came is what comes
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

// window writes the time in which a reply must come, nothing if that does not matter.
func window(w [2]time.Duration) string {
	switch from, to := w[0], w[1]; {
	case to == 0:
		return ""
	case from == 0:
		return " .." + to.String()
	default:
		return " " + from.String() + ".." + to.String()
	}
}
