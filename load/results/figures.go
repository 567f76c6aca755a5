package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// maxPoints is how many points a curve over time has at most; of a longer run each has several seconds.
const maxPoints = 300

// timesFigures appends the percentiles of each kind of command, and the end-to-end times.
func (p *page) timesFigures(l *Load) {
	for _, op := range l.picturedOps() {
		if op.Lateness.Count == 0 { // of a worker: one time
			p.percentiles("Percentiles of "+opWords(op.Op), "", []string{opWords(op.Op)}, &op.Response)
			continue
		}
		p.percentiles("Percentiles of "+opWords(op.Op), "Response time counts from the intended start, service time "+
			"from the sending; lateness is the delay of the generator.",
			[]string{"response", "service", "lateness"}, &op.Response, &op.Service, &op.Lateness)
	}
	if len(l.Flows) > 0 && !l.HasPiledUp() {
		var names []string
		var times []*Latency
		for i := range l.Flows {
			names, times = append(names, opWords(l.Flows[i].Flow)), append(times, &l.Flows[i].Time)
		}
		p.percentiles("Percentiles end to end", "From the intended start of a push to the delivery of its job, or to "+
			"the reply to its ack. After its time: from the scheduled time of a job or of its next try.", names, times...)
	}
}

// picturedOps returns the kinds of commands whose percentiles are drawn: the one that the load is about first, and not
// those that wait for jobs or were sent before the load began.
func (l *Load) picturedOps() []*LoadOp {
	var all []*LoadOp
	for i := range l.Ops {
		op := &l.Ops[i]
		before := op.Rate == 0 && (op.Op == "connect" || op.Op == "hello")
		if op.Op == "fetch.waited" || op.Op == "fetch.empty" || before || op.Response.Count < 10 {
			continue
		}
		if all = append(all, op); op.Op == l.Rate.Op {
			all = append([]*LoadOp{op}, all[:len(all)-1]...)
		}
	}
	const limit = 6
	return all[:min(len(all), limit)]
}

// percentiles appends a picture of the percentiles of some times.
func (p *page) percentiles(title, words string, names []string, times ...*Latency) {
	c := &reports.Chart{
		X: axis("share of all values", reports.Tail, reports.Quantiles), Y: axis("time", reports.Log, reports.Nanoseconds),
	}
	for i, l := range times {
		if l.Count > 0 {
			c.Curves = append(c.Curves, reports.Curve{Name: names[i], Points: l.quantiles()})
		}
	}
	p.Add(reports.Figure{Title: title, Drawing: c,
		Description: "Percentiles, on an axis that stretches the highest ones: at 99 %, one in 100 took longer. " + words})
}

// quantiles returns the points of the percentiles that have a value beyond them; the last one is the longest time.
func (l *Latency) quantiles() []reports.Point {
	curve := l.Curve
	if len(curve) == 0 {
		curve = []Quantile{{0, l.Min}}
		for _, p := range Percentiles() {
			curve = append(curve, Quantile{math.Round(float64(p)*1e6) / 1e8, l.Stat(p.String())})
		}
	}
	last := 1 - 1/float64(max(l.Count, 2))
	curve = slices.DeleteFunc(slices.Clone(curve), func(q Quantile) bool { return q.Q >= last })
	var points []reports.Point
	for _, q := range append(curve, Quantile{last, l.Max}) {
		points = append(points, reports.Point{X: q.Q, Y: max(float64(q.Time), minTime)})
	}
	return points
}

// rateFigure appends the rate over time.
func (p *page) rateFigure(l *Load) {
	curves := []reports.Curve{l.means("achieved", minSpan, func(s *Second) float64 { return s.Achieved })}
	target := l.means("target", minSpan, func(s *Second) float64 { return s.Target })
	if slices.ContainsFunc(target.Points, func(at reports.Point) bool { return at.Y > 0 }) {
		curves = append(curves, target)
	}
	p.timeFigure(l, "Rate over time", "Arrivals per second: achieved and planned.",
		axis("arrivals per second", reports.Linear, reports.PerSec), curves)
}

// dueFigure appends the jobs over time that wait for workers.
func (p *page) dueFigure(l *Load) {
	curve := l.means("jobs that are due", 0, func(s *Second) float64 { return float64(*cmp.Or(s.JobsDue, new(int64))) })
	if l.JobsDue != nil {
		p.timeFigure(l, "Jobs that wait for workers", "The jobs that were accepted and are due, and that no worker has got.",
			axis("jobs", reports.Linear, reports.Number), []reports.Curve{curve})
	}
}

// minSpan is the shortest part of a second that has a rate: the last one of a phase may be a few milliseconds.
const minSpan = 300 * time.Millisecond

// means returns the mean of a figure over time, of spans of minLength or more.
func (l *Load) means(name string, minLength time.Duration, get func(*Second) float64) reports.Curve {
	curve := reports.Curve{Name: name}
	for _, group := range l.spans() {
		var length, sum float64
		for i := range group {
			w := group[i].Length.Seconds()
			length, sum = length+w, sum+w*get(&group[i])
		}
		if length > 0 && length >= minLength.Seconds() {
			curve.Points = append(curve.Points, reports.Point{X: float64(group[0].At), Y: sum / length})
		}
	}
	return curve
}

// latencyFigure appends percentiles over time of the command that the load is about.
func (p *page) latencyFigure(l *Load) {
	hasTimes := false
	var curves []reports.Curve
	for k, name := range []string{"response p50", "response p99", "response max", "service p99", "lateness p99"} {
		curve := reports.Curve{Name: name}
		for _, group := range l.spans() {
			var worst time.Duration
			for i := range group {
				op := reports.Find(group[i].Ops, func(o *SecondOp) bool { return o.Op == l.Rate.Op })
				if op != nil && op.Count > 0 {
					worst = max(worst, [...]time.Duration{
						op.ResponseP50, op.ResponseP99, op.ResponseMax, op.ServiceP99, op.LatenessP99,
					}[k])
				}
			}
			y := math.NaN()
			if worst > 0 {
				hasTimes, y = true, max(float64(worst), minTime)
			}
			curve.Points = append(curve.Points, reports.Point{X: float64(group[0].At), Y: y})
		}
		curves = append(curves, curve)
	}
	if hasTimes {
		p.timeFigure(l, "Times over time of "+opWords(l.Rate.Op),
			"The percentiles of each second; a point for several seconds shows the longest.",
			axis("time", reports.Log, reports.Nanoseconds), curves)
	}
}

// minTime is the shortest time on a logarithmic axis: no histogram tells apart what is shorter.
const minTime = 1000

// healthFigure appends how busy the generator was over time.
func (p *page) healthFigure(l *Load) {
	const minLength = 200 * time.Millisecond // a shorter part has too few ticks of the system's clock
	cpu := l.means("CPU of the generator", minLength, func(s *Second) float64 { return s.CPU })
	limit := reports.Curve{Name: "CPUs that it may use", Points: slices.Clone(cpu.Points)}
	for i := range limit.Points {
		limit.Points[i].Y = float64(l.cpus())
	}
	p.timeFigure(l, "CPU of the generator", "If the generator uses all of its CPUs, it measures itself.",
		axis("CPUs", reports.Linear, reports.Number), []reports.Curve{cpu, limit})
}

// serverFigures appends what the target used over time, if that is known.
func (p *page) serverFigures(l *Load) {
	for _, figure := range []struct {
		unit      string
		names     []string
		minLength time.Duration // a shorter part has too few ticks of the system's clock
	}{
		{"CPUs", []string{"CPU"}, 200 * time.Millisecond}, {"MiB", []string{"memory", "redis"}, 0},
		{"threads", []string{"threads"}, 0}, {"jobs", []string{"waiting jobs"}, 0},
		{"jobs", []string{"concurrent jobs"}, 0},
	} {
		var curves []reports.Curve
		for _, name := range figure.names {
			hasFigure := func(s *Second) bool {
				_, hasFigure := s.Server.figure(name)
				return hasFigure && s.Length >= figure.minLength
			}
			curve := reports.Curve{Name: name}
			for _, group := range l.spans() {
				if s := reports.Find(group, hasFigure); s != nil {
					y, _ := s.Server.figure(name)
					curve.Points = append(curve.Points, reports.Point{X: float64(s.At), Y: y})
				}
			}
			if len(curve.Points) > 0 {
				curves = append(curves, curve)
			}
		}
		if len(curves) > 0 {
			words, prefix := "The server with all of its processes.", "The server's "
			switch {
			case l.Worker != nil:
				words, prefix = "The worker with all of its processes.", "The worker's "
			case figure.unit == "jobs":
				words = "Jobs of the run in its queues, according to INFO."
			}
			p.timeFigure(l, prefix+figure.names[0], words,
				axis(figure.unit, reports.Linear, reports.Number), curves)
		}
	}
}

// figure returns a figure by its name in pictures, and whether it is known.
func (s *ServerSecond) figure(name string) (value float64, ok bool) {
	switch {
	case s == nil:
		return 0, false
	case name == "waiting jobs" && s.WaitingJobs != nil:
		return float64(*s.WaitingJobs), true
	}
	value = map[string]float64{
		"CPU": s.CPU, "memory": float64(s.MemoryBytes) / (1 << 20), "redis": float64(s.RedisBytes) / (1 << 20),
		"threads": float64(s.Threads), "concurrent jobs": s.InHand,
	}[name]
	return value, value > 0
}

// jobsFigure appends the account of the jobs.
func (p *page) jobsFigure(l *Load) {
	p.Add(reports.Figure{Title: "Account of the jobs", Drawing: &reports.Bars{Bars: l.Jobs.rows(l.Disruptions)},
		Description: "The jobs of this run by their end. Lost, duplicated and foreign jobs are findings (red), unless a " +
			"stop of the target excuses them."})
}

// heatFigure appends the map of response times.
func (p *page) heatFigure(l *Load) {
	if len(l.Heat.Columns) == 0 {
		return
	}
	h := &reports.Heat{
		X:       axis("time since the start", reports.Linear, reports.Nanoseconds),
		Y:       axis("response", reports.Log, reports.Nanoseconds),
		Minimum: float64(time.Microsecond),
	}
	for _, edge := range l.Heat.Edges {
		h.Edges = append(h.Edges, float64(edge))
	}
	each := (len(l.Heat.Columns) + maxPoints - 1) / maxPoints
	for group := range slices.Chunk(l.Heat.Columns, each) {
		sum := reports.HeatColumn{At: float64(group[0].At), Counts: make([]int64, len(h.Edges))}
		for _, c := range group {
			for i := range min(len(c.Counts), len(sum.Counts)) {
				sum.Counts[i] += c.Counts[i]
			}
		}
		h.Columns = append(h.Columns, sum)
	}
	h.ColumnWidth = float64(time.Duration(each) * time.Second)
	p.Add(reports.Figure{Title: "Map of response times of " + opWords(l.Heat.Op), Drawing: h,
		Description: "The number of commands by response time, over time: darker means more." + perPoint(each)})
}

// spans returns the seconds of a run that are drawn in some maxPoints groups, each of one phase.
func (l *Load) spans() (groups [][]Second) {
	drawn, each := l.drawnSeconds(), l.perPoint()
	for from, i := 0, 1; i <= len(drawn); i++ {
		if i == len(drawn) || i-from == each || drawn[i].Phase != drawn[from].Phase {
			groups, from = append(groups, drawn[from:i]), i
		}
	}
	return groups
}

// drainShare is the longest part of a picture that the drain may take, in parts of what is before it.
const drainShare = 4

// drawnSeconds returns the seconds of a run but for the end of a drain that would squeeze the picture of the load.
func (l *Load) drawnSeconds() []Second {
	drain := slices.IndexFunc(l.Series, func(s Second) bool { return s.Phase == "drain" || s.Phase == "close" })
	if drain < 1 {
		return l.Series
	}
	return l.Series[:min(len(l.Series), drain+max(drain/drainShare, 3))]
}

func (l *Load) perPoint() int { return max(1, (len(l.drawnSeconds())+maxPoints-1)/maxPoints) }

// timeFigure appends a picture over the time of a run, with its phases, if there is something to draw.
func (p *page) timeFigure(l *Load, title, words string, y reports.Axis, curves []reports.Curve) {
	if len(l.Series) == 0 {
		return
	}
	c := &reports.Chart{X: axis("time since the start", reports.Linear, reports.Nanoseconds), Y: y, Curves: curves}
	drawn := l.drawnSeconds()
	end := float64(drawn[len(drawn)-1].At + drawn[len(drawn)-1].Length)
	for _, p := range l.Phases {
		if from := float64(p.From); from < end {
			c.Bands = append(c.Bands, reports.Band{Name: p.Name, From: from, Until: min(end, float64(p.From+p.Took))})
		}
	}
	if cut := len(l.Series) - len(drawn); cut > 0 {
		words += fmt.Sprintf(" The last %s of the drain are not shown.", text.Count(cut, "second"))
	}
	if c.Marks = l.Disruptions.marks(); len(c.Marks) > 0 {
		words += " The coloured bars are disruptions."
	}
	p.Add(reports.Figure{Title: title, Drawing: c, Description: words + perPoint(l.perPoint())})
}

func perPoint(each int) string {
	if each < 2 {
		return ""
	}
	return fmt.Sprintf(" Each point stands for %d seconds.", each)
}

// axis returns an axis of a picture.
func axis(title string, scale reports.Scale, unit reports.Unit) reports.Axis {
	return reports.Axis{Title: title, Scale: scale, Unit: unit}
}
