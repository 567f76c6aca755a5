package results

import (
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// page is the page of a result of a load that is being written.
type page struct {
	reports.Page
	hasPictures bool // they are wanted
}

// Add appends blocks, without pictures and the tiles above them unless those are wanted.
func (p *page) Add(blocks ...reports.Block) {
	for _, b := range blocks {
		_, figure := b.(reports.Figure)
		_, tiles := b.(reports.Tiles)
		if p.hasPictures || !figure && !tiles {
			p.Page.Add(b)
		}
	}
}

// entry appends a heading and the lines below it.
func (p *page) entry(level int, style reports.Style, title string, lines ...string) {
	p.Add(reports.Heading{Level: level, Text: reports.StyledText(style, title)})
	p.prose(lines...)
}

// prose appends lines of words without a style.
func (p *page) prose(lines ...string) { p.Add(reports.Prose{Lines: reports.TextsOf(lines)}) }

// Page returns l for people: the result in one line; what was loaded, by what and how; the achieved rate, the times,
// the account of the jobs and the findings; how busy the generator was; the thresholds; and the result again. Of an
// INVALID run it has no rate and no times unless o.ShowInvalid is set, but why, and what to do. Evaluate comes first.
func (l *Load) Page(o reports.PageOptions) reports.Page {
	p := page{hasPictures: o.Figures}
	hasRun, result := len(l.Ops) > 0 || len(l.Phases) > 0, l.result()
	if hasRun {
		p.Add(reports.Prose{Lines: append([]reports.Text{result}, reports.TextsOf(l.Anomalies())...)})
	}
	p.target(l, o)
	if hasRun {
		p.Add(l.tiles(o))
		p.validity(l)
		p.serverExit(l)
		if l.Validity.IsValid || o.ShowInvalid {
			p.figures(l)
		} else {
			p.errors(l)
			p.hiddenPictures(l)
		}
		p.disruptions(l)
		p.worker(l)
		p.jobs(l)
		p.queues(l)
		p.jobsFigure(l)
	}
	p.loadFindings(l, o)
	if hasRun {
		p.parts(l, o)
		p.generator(l)
		p.healthFigure(l)
		p.serverFigures(l)
	}
	p.thresholds(l)
	facts := fmt.Sprintf("took %s%s, exit code %d", reports.Duration(l.Took), reports.StartWords(l.StartTime),
		l.Outcome(o.Exit).Code)
	p.Add(reports.Conclusion{Facts: facts, Words: result})
	return p.Page
}

// result returns the outcome in words. That of a run below its target is not all well.
func (l *Load) result() reports.Text {
	decided := l.Outcome(reports.ExitOptions{})
	if words := decided.Text(); words[0].Style != reports.Good || !l.Rate.isBelowTarget() {
		return words
	}
	return reports.StyledText(reports.Caution, decided.Words)
}

// figures appends the rate and the times, under a heading of their own if they are no results.
func (p *page) figures(l *Load) {
	if !l.Validity.IsValid {
		p.invalidHeading()
	}
	from := len(p.Blocks)
	p.rate(l)
	p.rateFigure(l)
	p.dueFigure(l)
	p.commands(l)
	p.times(l)
	p.timesPictures(l)
	p.mark(l, from)
}

// hiddenPictures appends the pictures of figures that are not shown.
func (p *page) hiddenPictures(l *Load) {
	from := len(p.Blocks)
	p.rateFigure(l)
	p.dueFigure(l)
	p.timesPictures(l)
	p.mark(l, from)
}

func (p *page) timesPictures(l *Load) {
	p.timesFigures(l)
	p.latencyFigure(l)
	p.heatFigure(l)
}

// mark marks the pictures from a block on, if the run is INVALID: they show why it is that.
func (p *page) mark(l *Load, from int) {
	for i, b := range p.Blocks[from:] {
		if f, ok := b.(reports.Figure); ok && !l.Validity.IsValid {
			f.Title, f.Invalid = "INVALID: "+f.Title, true
			p.Blocks[from+i] = f
		}
	}
}

// invalidHeading begins the figures of a run that is INVALID.
func (p *page) invalidHeading() {
	p.entry(1, reports.Bad, "FIGURES OF AN INVALID RUN", "They include errors of the generator or its machine. Use "+
		"them to find the cause; do not quote them or compare them with other runs.")
}

// target appends what was loaded, by what and how, and what kept the run from being complete.
func (p *page) target(l *Load, o reports.PageOptions) {
	fields := l.Target.fields()
	if o.Verbose {
		fields = append(fields, reports.NewField("greeting", text.Shorten(string(l.Target.HI))),
			reports.NewField("info", text.Shorten(string(l.Target.Info))))
	}
	fields = append(fields, reports.NewField("plan", l.Plan.Words))
	if l.Run != "" {
		fields = append(fields, reports.NewField("run", fmt.Sprintf("%s, seed %d", l.Run, l.Seed)))
	}
	generator := reports.JoinWith(", ", l.Version, l.Machine.words())
	if n := len(l.Parts); n > 0 {
		generator = reports.JoinWith(", ", l.Version, text.Count(n, "part"))
	}
	if l.Engine != "" {
		generator = reports.JoinWith(", ", generator, "engine "+l.Engine)
	}
	fields = append(fields, reports.NewField("generator", generator), reports.NewField("phases", l.phases()))
	p.Add(reports.Fields{LabelWidth: 10, Fields: fields})
	if l.Interrupted {
		p.AddTrouble("The run was interrupted:", "the report has the results so far.")
	}
	p.AddTrouble("The target was lost during the run:", l.GoneReason)
}

// fields returns what is known of the target, each labelled.
func (t *LoadTarget) fields() []reports.Field {
	subject := reports.Subject{}
	return append([]reports.Field{reports.NewField("target", subject.At(t.URL, t.Chosen))}, t.Subject.Fields("subject")...)
}

// phases returns the phases of a run and how long they were.
func (l *Load) phases() string {
	var phases []string
	for _, p := range l.Phases {
		words := p.Name + " " + reports.Duration(p.Took)
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
	if m.Quota > 0 {
		procs += fmt.Sprintf(", quota of %.3g CPUs", m.Quota)
	}
	return reports.JoinWith(", ", reports.JoinWith(" ", m.OS, m.Kernel, m.Arch), m.CPU, cores, procs, m.Go)
}

// validity appends why a run is INVALID, or what to know about valid figures.
func (p *page) validity(l *Load) {
	v := &l.Validity
	if v.IsValid {
		if len(v.Remarks) > 0 {
			p.Section("REMARKS", "about the figures below")
			p.prose(v.Remarks...)
		}
		return
	}
	account := "is still exact."
	if l.Jobs.UncountedParts != "" {
		account = "is not complete either: " + l.Jobs.UncountedParts + "."
	}
	lines := []string{"Its rates and times are not results; --show-invalid shows them. The account of the jobs " + account}
	if len(v.Reasons) == 0 {
		lines = append(lines, "The run was not evaluated.")
	}
	p.entry(1, reports.Bad, v.heading(), lines...)
	for _, r := range v.Reasons {
		p.entry(3, reports.Strong, r.ID, sentence(r.Description))
		if len(r.Facts) > 0 {
			facts := reports.Fields{LabelWidth: 10}
			for _, f := range r.Facts {
				facts.Fields = append(facts.Fields, reports.NewField(text.Printable(f.Name),
					text.Printable(text.OneLine(f.Value))))
			}
			p.Add(facts)
		}
		p.prose("What to do: " + r.Do + ".")
	}
}

// heading returns the heading of an INVALID run.
func (v *Validity) heading() string {
	if len(v.Reasons) == 0 {
		return "INVALID"
	}
	for _, r := range v.Reasons {
		switch r.ID {
		case "empty", "errors", ReasonRefused, "connections", "aborted", "start", "part":
			return "INVALID: the load was not achieved"
		case ReasonStill:
			return "INVALID: the generator stood still"
		case "disruptions":
			return "INVALID: not all of the plan happened"
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
func (p *page) generator(l *Load) {
	h := &l.Health
	if h.Length <= 0 {
		return
	}
	p.Section("GENERATOR", "the load of the generator and of its machine during the measurement")
	var fields []reports.Field
	cpu := l.serverCPU()
	if l.Worker != nil {
		cpu = "" // it is beside what else the worker used
	}
	if worst := l.worstLateness("p99"); worst.OK {
		fields = append(fields, reports.NewField("lateness", fmt.Sprintf("p99 %s, max %s (the highest of all commands)",
			reports.Time(time.Duration(worst.Value)), reports.Time(time.Duration(l.worstLateness("max").Value)))))
	}
	fields = append(fields,
		reports.NewField("CPU", fmt.Sprintf("%s of %s, in the busiest second %s", reports.Percent(h.CPUShare), l.Processors(),
			reports.Percent(h.CPUPeak))),
		reports.NewField("target's CPU", cpu),
		reports.NewField("loops", h.loops()), reports.NewField("machine", h.machine()), reports.NewField("memory",
			h.memory()))
	if h.Files.Soft > 0 {
		fields = append(fields, reports.NewField("descriptors",
			fmt.Sprintf("at most %s of %s", text.GroupDigits(h.Files.Peak), text.GroupDigits(h.Files.Soft))))
	}
	p.Add(reports.Fields{LabelWidth: 12, Fields: fields})
}

// worker appends what is known of the worker under load.
func (p *page) worker(l *Load) {
	w := l.Worker
	if w == nil {
		return
	}
	p.Section("WORKER", "the connections and resources of the worker, and its output if it ended")
	fields := []reports.Field{
		reports.NewField("connections", fmt.Sprintf("%s at a time, %s in all", text.GroupDigits(w.Connections),
			text.GroupDigits(l.Connections.Opened))),
		reports.NewField("heartbeats", fmt.Sprintf("%s, the longest time without one %s", text.GroupDigits(w.Beats),
			reports.Duration(w.BeatGap))),
	}
	if l.Validity.IsValid {
		fields = append(fields,
			reports.NewField("concurrent jobs", fmt.Sprintf("%s on average, at most %s, of %s allowed",
				reports.Digits(w.InHand), text.GroupDigits(w.InHandMax), text.GroupDigits(w.Concurrency))),
			reports.NewField("CPU", l.serverCPU()),
			reports.NewField("server", reports.Duration(w.ServerTime)+" for a FETCH or an ACK, which is the server's part"))
	}
	if w.MemoryPeak > 0 {
		fields = append(fields, reports.NewField("memory", "at most "+reports.Size(w.MemoryPeak)))
	}
	for _, line := range w.Output {
		fields = append(fields, reports.NewField("it printed", text.Printable(line)))
	}
	p.Add(reports.Fields{LabelWidth: 12, Fields: fields})
}

// serverCPU returns the CPU time of the target, empty if it is not known.
func (l *Load) serverCPU() string {
	if l.Health.ServerCPU == 0 || l.Rate.Done == 0 {
		return ""
	}
	unit := "arrival"
	if l.Worker != nil {
		unit = "job"
	}
	return fmt.Sprintf("%s, %s for each of its %s", reports.Duration(l.Health.ServerCPU),
		reports.Duration(l.Health.ServerCPU/time.Duration(l.Rate.Done)), text.Count(l.Rate.Done, unit))
}

// loops returns how busy each loop was, empty if that is not known.
func (h *Health) loops() string {
	var busy []string
	for _, share := range h.Loops {
		busy = append(busy, reports.Percent(share))
	}
	if busy == nil {
		return ""
	}
	return "busy " + strings.Join(busy, ", ")
}

// machine returns how busy the machine was.
func (h *Health) machine() string {
	delays := ""
	if h.Throttled > 0 {
		delays = "; a cgroup throttled the generator for " + reports.Duration(h.Throttled)
	}
	if h.Pressure > 0 {
		delays = fmt.Sprintf("; processes waited for a CPU %s of the time%s", reports.Percent(h.Pressure), delays)
	}
	return fmt.Sprintf("busy %s, in the busiest second %s; steal %s%s",
		reports.Percent(h.MachineBusy), reports.Percent(h.MachinePeak), reports.Percent(h.Steal), delays)
}

// memory returns what the generator needed of it.
func (h *Health) memory() string {
	return fmt.Sprintf("at most %s, %s of it Go's heap; %s of the garbage collector, %s in all, the longest %s",
		reports.Size(h.MemoryPeak), reports.Size(h.HeapPeak), text.Count(h.GCPauses,
			"pause"), reports.Duration(h.GCPause), reports.Duration(h.GCPauseMax))
}

// serverExit appends how the server has ended by itself, and what it printed last.
func (p *page) serverExit(l *Load) {
	if l.ServerExit != "" {
		p.Section("THE SERVER HAS ENDED", "without a request to stop")
		p.Add(reports.Fields{Fields: []reports.Field{{Label: "ended", Lines: reports.LinesOf(l.ServerExit)}}})
	}
}
