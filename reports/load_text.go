package reports

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
)

// loadWidth is how wide the text of a Load is at most, but for single words that are longer.
const loadWidth = 99

// LoadTextOptions says how WriteLoadText writes. The zero value is plain text of a normal length.
type LoadTextOptions struct {
	// Color paints headings, verdicts and the last line with the codes of a terminal.
	Color bool
	// Verbose names every jid that a finding has kept, and shows HI and INFO.
	Verbose bool
}

// WriteLoadText writes l for people: what was loaded, by what and how; what was carried, the times, the account of the
// jobs and the findings; how busy the generator was; the thresholds; and a last line that says in words what came out.
// Of an INVALID run it shows no rate and no times, but why, and what to do. What servers sent is escaped. It writes
// once, and returns the error of that. Judge comes first.
func WriteLoadText(w io.Writer, l *Load, o LoadTextOptions) error {
	t := &loadText{textWriter: textWriter{TextOptions: TextOptions{Color: o.Color, Verbose: o.Verbose}}}
	t.head(l)
	if len(l.Ops) > 0 || len(l.Phases) > 0 {
		t.validity(l)
		if l.Validity.Valid {
			t.rate(l)
			t.commands(l)
			t.times(l)
		} else {
			t.errors(l)
		}
		t.jobs(l)
	}
	t.findings(l)
	if len(l.Ops) > 0 || len(l.Phases) > 0 {
		t.generator(l)
	}
	t.thresholds(l)
	t.foot(l)
	if _, err := w.Write(t.out.Bytes()); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

// loadText gathers the output.
type loadText struct{ textWriter }

// fold is wrap, but words that are too long for a line are broken too.
func fold(prose string, width int) []string {
	var out []string
	for _, line := range wrap(prose, width) {
		whole := []rune(line)
		for len(whole) > width {
			out, whole = append(out, string(whole[:width])), whole[width:]
		}
		out = append(out, string(whole))
	}
	return out
}

// entry writes a label and prose beside it.
func (t *loadText) entry(label, words string) {
	for _, line := range fold(words, loadWidth-12) {
		t.line("%-11s %s", label, line)
		label = ""
	}
}

// say writes prose after indent.
func (t *loadText) say(indent int, words string) {
	for _, line := range fold(words, loadWidth-indent) {
		t.line("%s%s", strings.Repeat(" ", indent), line)
	}
}

// head says what was loaded, by what and how, and anything that kept the run from being a whole one.
func (t *loadText) head(l *Load) {
	t.entry("target", target(l.Target.URL, l.Target.Chosen))
	if t.Verbose {
		t.entry("greeting", string(l.Target.HI))
		t.entry("info", string(l.Target.Info))
	}
	t.entry("plan", l.Plan.Words)
	if l.Run != "" {
		t.entry("run", fmt.Sprintf("%s, seed %d", l.Run, l.Seed))
	}
	t.entry("generator", join2(", ", l.Version, l.Machine.words()))
	var phases []string
	for _, p := range l.Phases {
		words := p.Name + " " + short(p.Took)
		if p.Note != "" {
			words += " (" + p.Note + ")"
		}
		phases = append(phases, words)
	}
	t.entry("phases", strings.Join(phases, ", "))
	if l.Interrupted {
		t.trouble("The run was interrupted:", "what follows is what was found by then.")
	}
	t.trouble("The suite itself failed:", l.Internal)
	t.trouble("The target could not be loaded:", l.Unreachable)
	t.trouble("The target went away in mid-run:", l.Gone)
	t.trouble("Usage error:", l.Usage)
}

// target says what was loaded and how it was chosen.
func target(url, chosen string) string {
	switch {
	case url == "" && chosen == "":
		return "none"
	case url == "":
		return chosen
	case chosen == "":
		return url
	default:
		return url + " (" + chosen + ")"
	}
}

// words says what the generator ran on.
func (m *Machine) words() string {
	cores, procs := "", ""
	if m.Cores > 0 {
		cores = text.Count(m.Cores, "core")
	}
	if m.GOMAXPROCS > 0 {
		procs = fmt.Sprintf("GOMAXPROCS %d", m.GOMAXPROCS)
	}
	return join2(", ", join2(" ", m.OS, m.Kernel, m.Arch), m.CPU, cores, procs, m.Go)
}

// join2 puts separator between the parts that are not empty.
func join2(separator string, parts ...string) string {
	var kept []string
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, separator)
}

// validity says why a run is INVALID, or what to know about valid figures.
func (t *loadText) validity(l *Load) {
	v := &l.Validity
	if !v.Valid {
		t.line("")
		t.line("%s", t.paint(red, v.heading()))
		t.say(2, "Its figures are not results, so no rates and no times are shown.")
		if len(v.Reasons) == 0 {
			t.say(2, "The run was not judged.")
		}
		for _, r := range v.Reasons {
			t.line("  %s", t.paint(bold, text.Printable(r.ID)))
			t.say(4, sentence(r.What))
			t.say(4, "What to do: "+r.Do+".")
		}
		return
	}
	if len(v.Remarks) > 0 {
		t.section("TO KNOW", "about the figures below")
		for _, remark := range v.Remarks {
			t.say(2, remark)
		}
	}
}

// heading says of whom an INVALID run tells nothing.
func (v *Validity) heading() string {
	if len(v.Reasons) == 0 {
		return "INVALID"
	}
	for _, r := range v.Reasons {
		switch r.ID {
		case "empty", "errors", "connections", "aborted":
			return "INVALID: the load was not carried"
		}
	}
	return "INVALID: the generator could not sustain this load"
}

// sentence makes a sentence of words without a full stop.
func sentence(words string) string {
	words = strings.TrimSuffix(text.OneLine(words), ".")
	return strings.ToUpper(words[:min(1, len(words))]) + words[min(1, len(words)):] + "."
}

// generator shows the generator's own error bar.
func (t *loadText) generator(l *Load) {
	h := &l.Health
	if h.Over <= 0 {
		return
	}
	t.section("GENERATOR", "what it and its machine were busy with while measuring: the error bar of the figures")
	worst := l.worstLateness("p99")
	if worst.ok {
		t.row("lateness", fmt.Sprintf("p99 %s, max %s (the highest of all commands)",
			measured(time.Duration(worst.value)), measured(time.Duration(l.worstLateness("max").value))))
	}
	t.row("processor", fmt.Sprintf("%s of %s, in the busiest second %s", percent(h.CPUShare), l.processors(), percent(h.CPUPeak)))
	if len(h.Loops) > 0 {
		var busy []string
		for _, share := range h.Loops {
			busy = append(busy, percent(share))
		}
		t.row("loops", "busy "+strings.Join(busy, ", "))
	}
	held := ""
	if h.Throttled > 0 {
		held = "; a cgroup throttled the generator for " + short(h.Throttled)
	}
	t.row("machine", fmt.Sprintf("busy %s, in the busiest second %s; stolen by its host %s%s",
		percent(h.MachineBusy), percent(h.MachinePeak), percent(h.Steal), held))
	t.row("memory", fmt.Sprintf("at most %s, %s of it Go's heap; %s of the garbage collector, %s in all, the longest %s",
		size(h.MemoryPeak), size(h.HeapPeak), text.Count(h.GCPauses, "pause"), short(h.GCPause), short(h.GCPauseMax)))
	if h.Files.Soft > 0 {
		t.row("descriptors", fmt.Sprintf("at most %s of %s", text.Grouped(h.Files.Peak), text.Grouped(h.Files.Soft)))
	}
}

// row writes a label and prose beside it, within a section.
func (t *loadText) row(label, words string) {
	for _, line := range fold(words, loadWidth-16) {
		t.line("  %s %s", t.paint(dim, fmt.Sprintf("%-13s", label)), line)
		label = ""
	}
}

// foot writes time, exit code and, as the last line, the outcome.
func (t *loadText) foot(l *Load) {
	code, words := l.Outcome()
	started := ""
	if !l.Started.IsZero() {
		started = ", started " + l.Started.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	t.line("")
	t.line("took %s%s, exit code %d", short(l.Took), started, code)
	colour := yellow
	switch code {
	case ExitWell:
		colour = green
	case ExitFindings, ExitInternal, ExitUnreachable, ExitUsage, ExitLoss:
		colour = red
	}
	for _, line := range fold(words, loadWidth) {
		t.line("%s", t.paint(colour, line))
	}
}
