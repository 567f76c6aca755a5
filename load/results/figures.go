package results

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/reports"
)

// mostPoints is how many points a curve over time has at most; of a longer run each has several seconds.
const mostPoints = 300

// timesFigures appends the percentiles of each kind of command, and the end-to-end times.
func (p *page) timesFigures(l *Load) {
	for _, op := range l.pictured() {
		p.percentiles("Percentiles of "+opWords(op.Op), "Response is counted from the intended start, service from the "+
			"moment of sending, lateness is the delay of the generator.",
			[]string{"response", "service", "lateness"}, &op.Response, &op.Service, &op.Lateness)
	}
	if len(l.Flows) > 0 && !l.PiledUp() {
		var names []string
		var times []*Latency
		for i := range l.Flows {
			names, times = append(names, opWords(l.Flows[i].Flow)), append(times, &l.Flows[i].Time)
		}
		p.percentiles("Percentiles end to end", "From the intended start of a push until its job was delivered, or its ack "+
			"answered.", names, times...)
	}
}

// pictured returns the kinds of commands whose percentiles are drawn: the one that the load is about first, and not
// those that wait for jobs or were sent before the load began.
func (l *Load) pictured() []*LoadOp {
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
	const most = 6
	return all[:min(len(all), most)]
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
	p.Add(reports.Figure{Title: title, Of: c,
		Description: "How long the fastest part of all took, on an axis that stretches " +
			"the slowest ones: at 99 %, one in 100 took longer. " + words})
}

// quantiles returns the points of the percentiles that have a value beyond them; the last one is the longest time.
func (l *Latency) quantiles() []reports.Point {
	curve := l.Curve
	if len(curve) == 0 {
		curve = []Quantile{{0, l.Min}, {0.5, l.P50}, {0.9, l.P90}, {0.99, l.P99}, {0.999, l.P999}, {0.9999, l.P9999}}
	}
	last := 1 - 1/float64(max(l.Count, 2))
	var points []reports.Point
	for _, q := range curve {
		if q.Q < last {
			// No histogram tells apart what is shorter than 1000 ns.
			points = append(points, reports.Point{X: q.Q, Y: max(float64(q.Time), 1000)})
		}
	}
	return append(points, reports.Point{X: last, Y: max(float64(l.Max), 1000)})
}

// rateFigure appends the rate over time.
func (p *page) rateFigure(l *Load) {
	c := l.timeline(axis("arrivals a second", reports.Linear, reports.PerSec))
	achieved, target := reports.Curve{Name: "achieved"}, reports.Curve{Name: "target"}
	planned := false
	for _, s := range l.spans() {
		x, over := seconds64(s[0].At), 0.0
		var sum, plan float64
		for i := range s {
			w := s[i].Over.Seconds()
			over, sum, plan = over+w, sum+w*s[i].Achieved, plan+w*s[i].Target
		}
		if over == 0 {
			continue
		}
		planned = planned || plan > 0
		achieved.Points = append(achieved.Points, reports.Point{X: x, Y: sum / over})
		target.Points = append(target.Points, reports.Point{X: x, Y: plan / over})
	}
	if c.Curves = []reports.Curve{achieved}; planned {
		c.Curves = append(c.Curves, target)
	}
	p.timeFigure(l, c, "Rate over time", "How many arrivals succeeded a second, and how many the plan has.")
}

// latencyFigure appends percentiles over time of the command that the load is about.
func (p *page) latencyFigure(l *Load) {
	op := l.Rate.Op
	c := l.timeline(axis("time", reports.Log, reports.Nanoseconds))
	names := []string{"response p50", "response p99", "response max", "service p99", "lateness p99"}
	c.Curves = make([]reports.Curve, len(names))
	for i, name := range names {
		c.Curves[i].Name = name
	}
	measuredOnce := false
	for _, s := range l.spans() {
		worst := make([]time.Duration, len(names))
		for i := range s {
			if o := reports.Find(s[i].Ops, func(o *SecondOp) bool { return o.Op == op }); o != nil && o.Count > 0 {
				for k, d := range []time.Duration{o.ResponseP50, o.ResponseP99, o.ResponseMax, o.ServiceP99, o.LatenessP99} {
					worst[k] = max(worst[k], d)
				}
			}
		}
		for k, d := range worst {
			y := math.NaN()
			if d > 0 {
				measuredOnce, y = true, max(float64(d), 1000)
			}
			c.Curves[k].Points = append(c.Curves[k].Points, reports.Point{X: seconds64(s[0].At), Y: y})
		}
	}
	if measuredOnce {
		p.timeFigure(l, c, "Times over time of "+opWords(op), "The percentiles of each second; of several seconds the "+
			"longest.")
	}
}

// healthFigure appends how busy the generator was over time.
func (p *page) healthFigure(l *Load) {
	c := l.timeline(axis("CPUs", reports.Linear, reports.Number))
	c.Curves = []reports.Curve{{Name: "CPU of the generator"}, {Name: "CPUs that it may use"}}
	const least = 200 * time.Millisecond // a shorter part has too few ticks of the system's clock
	for _, s := range l.spans() {
		var over, used float64
		for i := range s {
			over, used = over+s[i].Over.Seconds(), used+s[i].Over.Seconds()*s[i].CPU
		}
		if over < least.Seconds() {
			continue
		}
		x := seconds64(s[0].At)
		c.Curves[0].Points = append(c.Curves[0].Points, reports.Point{X: x, Y: used / over})
		c.Curves[1].Points = append(c.Curves[1].Points, reports.Point{X: x, Y: float64(l.cpus())})
	}
	p.timeFigure(l, c, "CPU of the generator", "A generator that needs all of its CPUs measures itself.")
}

// jobsFigure appends the account of the jobs.
func (p *page) jobsFigure(l *Load) {
	b := &reports.Bars{}
	for _, row := range l.Jobs.rows(l.Disruptions.resolved()) {
		b.Bars = append(b.Bars, reports.Bar{Name: row.name, Words: row.words, Value: row.count, Style: row.style})
	}
	p.Add(reports.Figure{Title: "Account of the jobs", Of: b,
		Description: "What became of the jobs of this run. Lost, duplicated and foreign jobs are findings, and drawn in " +
			"red."})
}

// heatFigure appends the map of response times.
func (p *page) heatFigure(l *Load) {
	if len(l.Heat.Columns) == 0 {
		return
	}
	h := &reports.Heat{
		X:     axis("time since the start", reports.Linear, reports.Nanoseconds),
		Y:     axis("response", reports.Log, reports.Nanoseconds),
		Least: float64(time.Microsecond),
	}
	for _, edge := range l.Heat.Edges {
		h.Edges = append(h.Edges, float64(edge))
	}
	each := (len(l.Heat.Columns) + mostPoints - 1) / mostPoints
	for some := range slices.Chunk(l.Heat.Columns, each) {
		sum := reports.HeatColumn{At: seconds64(some[0].At), Counts: make([]int64, len(h.Edges))}
		for _, c := range some {
			for i := range min(len(c.Counts), len(sum.Counts)) {
				sum.Counts[i] += c.Counts[i]
			}
		}
		h.Columns = append(h.Columns, sum)
	}
	h.Over = seconds64(time.Duration(each) * time.Second)
	p.Add(reports.Figure{Title: "Map of response times of " + opWords(l.Heat.Op), Of: h,
		Description: "How many commands took how long, over time: the darker, the more." + perPoint(each)})
}

// spans returns the seconds of a run in at most mostPoints groups.
func (l *Load) spans() [][]Second {
	each := l.perPoint()
	return slices.Collect(slices.Chunk(l.Series, each))
}

func (l *Load) perPoint() int { return max(1, (len(l.Series)+mostPoints-1)/mostPoints) }

// timeline returns a chart over the time of a run, with its phases.
func (l *Load) timeline(y reports.Axis) *reports.Chart {
	c := &reports.Chart{X: axis("time since the start", reports.Linear, reports.Nanoseconds), Y: y}
	for _, p := range l.Phases {
		c.Bands = append(c.Bands, reports.Band{Name: p.Name, From: seconds64(p.From), Until: seconds64(p.From + p.Took)})
	}
	c.Marks = l.Disruptions.marks()
	return c
}

// timeFigure appends a picture over time, if there is something to draw.
func (p *page) timeFigure(l *Load, c *reports.Chart, title, words string) {
	if len(c.Marks) > 0 {
		words += " The coloured bars are disruptions."
	}
	if len(l.Series) > 0 {
		p.Add(reports.Figure{Title: title, Of: c, Description: words + perPoint(l.perPoint())})
	}
}

func perPoint(each int) string {
	if each < 2 {
		return ""
	}
	return fmt.Sprintf(" Each point stands for %d seconds.", each)
}

// seconds64 returns a duration as a value of an axis.
func seconds64(d time.Duration) float64 { return float64(d) }

// axis returns an axis of a picture.
func axis(title string, scale reports.Scale, unit reports.Unit) reports.Axis {
	return reports.Axis{Title: title, Scale: scale, Unit: unit}
}
