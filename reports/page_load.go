package reports

import (
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
)

// Page returns l for people: the result in one line; what was loaded, by what and how; the achieved rate, the times,
// the account of the jobs and the findings; how busy the generator was; the thresholds; and the result again. Of an
// INVALID run it has no rate and no times unless o.ShowInvalid is set, but why, and what to do. Evaluate comes first.
func (l *Load) Page(o PageOptions) Page {
	var p Page
	ran, result := len(l.Ops) > 0 || len(l.Phases) > 0, l.result()
	if ran {
		p.add(Prose{[]Text{result}})
	}
	p.loaded(l, o)
	if ran {
		p.validity(l)
		if l.Validity.Valid || o.ShowInvalid {
			p.figures(l, o)
		} else {
			p.errors(l)
		}
		p.disrupted(l)
		p.jobs(l)
		if o.Figures {
			p.jobsFigure(l)
		}
	}
	p.loadFindings(l, o)
	if ran {
		p.agents(l, o)
		p.generator(l)
		if o.Figures {
			p.healthFigure(l)
		}
	}
	p.thresholds(l)
	facts := fmt.Sprintf("took %s%s, exit code %d", short(l.Took), began(l.Started), l.decide().code)
	p.add(Conclusion{facts, result})
	return p
}

// result returns the outcome in words. That of a run below its target is not all well.
func (l *Load) result() Text {
	decided := l.decide()
	style := exitOf(decided.code).style
	if style == Good && l.belowTarget() {
		style = Caution
	}
	return Styled(style, decided.words)
}

// figures appends the rate and the times, under a heading of their own if they are no results.
func (p *Page) figures(l *Load, o PageOptions) {
	if !l.Validity.Valid {
		p.ofInvalid()
	}
	p.rate(l)
	if o.Figures {
		p.rateFigure(l)
	}
	p.commands(l)
	p.times(l)
	if o.Figures {
		p.timesFigures(l)
		p.latencyFigure(l)
		p.heatFigure(l)
	}
}

// ofInvalid begins the figures of a run that is INVALID.
func (p *Page) ofInvalid() {
	p.add(Heading{1, Styled(Bad, "FIGURES OF AN INVALID RUN")}, Prose{wordsOf([]string{
		"They contain what the generator or its machine did wrong, and are shown to look for the cause: do not quote " +
			"them, and do not compare them with those of other runs."})})
}

// loaded appends what was loaded, by what and how, and what kept the run from being complete.
func (p *Page) loaded(l *Load, o PageOptions) {
	fields := []Field{field("target", named(l.Target.URL, l.Target.Chosen))}
	if o.Verbose {
		fields = append(fields, field("greeting", text.Shorten(string(l.Target.HI))),
			field("info", text.Shorten(string(l.Target.Info))))
	}
	fields = append(fields, field("plan", l.Plan.Words))
	if l.Run != "" {
		fields = append(fields, field("run", fmt.Sprintf("%s, seed %d", l.Run, l.Seed)))
	}
	generator := join2(", ", l.Version, l.Machine.words())
	if n := len(l.Agents); n > 0 {
		generator = join2(", ", l.Version, text.Count(n, "agent"))
	}
	if l.Engine != "" {
		generator = join2(", ", generator, "engine "+l.Engine)
	}
	fields = append(fields, field("generator", generator), field("phases", l.phases()))
	p.add(Fields{LabelWidth: 10, Fields: fields})
	if l.Interrupted {
		p.trouble("The run was interrupted:", "the report has the results until then.")
	}
	p.trouble("The target was lost during the run:", l.Gone)
}

// phases returns the phases of a run and how long they were.
func (l *Load) phases() string {
	var phases []string
	for _, p := range l.Phases {
		words := p.Name + " " + short(p.Took)
		if p.Note != "" {
			words += " (" + p.Note + ")"
		}
		phases = append(phases, words)
	}
	return strings.Join(phases, ", ")
}

// words returns what the generator ran on.
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

// join2 returns the parts that are not empty, with separator between them.
func join2(separator string, parts ...string) string {
	var kept []string
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, separator)
}

// validity appends why a run is INVALID, or what to know about valid figures.
func (p *Page) validity(l *Load) {
	v := &l.Validity
	if v.Valid {
		if len(v.Remarks) > 0 {
			p.section("REMARKS", "about the figures below")
			p.add(Prose{wordsOf(v.Remarks)})
		}
		return
	}
	why := []string{"Its rates and times are not results, and are shown with --show-invalid only. The account of the " +
		"jobs is exact all the same."}
	if len(v.Reasons) == 0 {
		why = append(why, "The run was not evaluated.")
	}
	p.add(Heading{1, Styled(Bad, v.heading())}, Prose{wordsOf(why)})
	for _, r := range v.Reasons {
		p.add(Heading{3, Styled(Strong, r.ID)}, Prose{wordsOf([]string{sentence(r.What), "What to do: " + r.Do + "."})})
	}
}

// heading returns the heading of an INVALID run.
func (v *Validity) heading() string {
	if len(v.Reasons) == 0 {
		return "INVALID"
	}
	for _, r := range v.Reasons {
		switch r.ID {
		case "empty", "errors", "connections", "aborted", "start", "agent":
			return "INVALID: the load was not achieved"
		}
	}
	return "INVALID: the generator could not sustain this load"
}

// sentence returns words as a sentence.
func sentence(words string) string {
	words = strings.TrimSuffix(text.OneLine(words), ".")
	return strings.ToUpper(words[:min(1, len(words))]) + words[min(1, len(words)):] + "."
}

// generator appends how busy the generator and its machine were.
func (p *Page) generator(l *Load) {
	h := &l.Health
	if h.Over <= 0 {
		return
	}
	p.section("GENERATOR", "its own load and that of its machine while measuring")
	var fields []Field
	if worst := l.worstLateness("p99"); worst.ok {
		fields = append(fields, field("lateness", fmt.Sprintf("p99 %s, max %s (the highest of all commands)",
			measured(time.Duration(worst.value)), measured(time.Duration(l.worstLateness("max").value)))))
	}
	fields = append(fields,
		field("CPU", fmt.Sprintf("%s of %s, in the busiest second %s", percent(h.CPUShare), l.processors(),
			percent(h.CPUPeak))),
		field("target's CPU", l.serverCPU()),
		field("loops", h.loops()), field("machine", h.machine()), field("memory", h.memory()))
	if h.Files.Soft > 0 {
		fields = append(fields, field("descriptors",
			fmt.Sprintf("at most %s of %s", text.Grouped(h.Files.Peak), text.Grouped(h.Files.Soft))))
	}
	p.add(Fields{LabelWidth: 12, Fields: fields})
}

// serverCPU returns the CPU time of the target, empty if it is not known.
func (l *Load) serverCPU() string {
	if l.Health.ServerCPU == 0 || l.Rate.Done == 0 {
		return ""
	}
	return fmt.Sprintf("%s, %s for each of its %s", short(l.Health.ServerCPU),
		short(l.Health.ServerCPU/time.Duration(l.Rate.Done)), text.Count(l.Rate.Done, "arrival"))
}

// loops returns how busy each loop was, empty if that is not known.
func (h *Health) loops() string {
	var busy []string
	for _, share := range h.Loops {
		busy = append(busy, percent(share))
	}
	if busy == nil {
		return ""
	}
	return "busy " + strings.Join(busy, ", ")
}

// machine returns how busy the machine was.
func (h *Health) machine() string {
	held := ""
	if h.Throttled > 0 {
		held = "; a cgroup throttled the generator for " + short(h.Throttled)
	}
	return fmt.Sprintf("busy %s, in the busiest second %s; steal %s%s",
		percent(h.MachineBusy), percent(h.MachinePeak), percent(h.Steal), held)
}

// memory returns what the generator needed of it.
func (h *Health) memory() string {
	return fmt.Sprintf("at most %s, %s of it Go's heap; %s of the garbage collector, %s in all, the longest %s",
		size(h.MemoryPeak), size(h.HeapPeak), text.Count(h.GCPauses, "pause"), short(h.GCPause), short(h.GCPauseMax))
}
