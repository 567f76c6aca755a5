package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/reports"
)

// live shows a run while it goes: a bar on a terminal, a line for every second with
// --verbose, else nothing.
type live struct {
	lines     io.Writer // nil: none
	container *mpb.Progress
	bar       *mpb.Bar

	mu   sync.Mutex
	last string
}

func (p process) newLive(o *benchOptions, config *load.Config) *live {
	l := &live{last: "connecting"}
	switch {
	case o.reportFlags.Verbose:
		l.lines = p.Err
	case !o.reportFlags.NoProgress && p.WantsProgress():
		_, until := config.Workload.Window()
		l.container = mpb.New(mpb.WithOutput(p.Err), mpb.WithWidth(24))
		l.bar = l.container.AddBar(0, mpb.BarRemoveOnComplete(), mpb.AppendDecorators(decor.Any(l.words)))
		l.bar.SetTotal(max(1, until.Milliseconds()), false)
	}
	return l
}

// show shows the figures of the last second.
func (l *live) show(m load.Moment) {
	text := moment(m)
	if l.lines != nil {
		_, _ = fmt.Fprintf(l.lines, "%8s  %s\n", m.At.Round(time.Second), text)
		return
	}
	if l.bar == nil {
		return
	}
	if m.Over < 100*time.Millisecond {
		text = m.Phase // too short to compute rates from
	}
	l.mu.Lock()
	l.last = text
	l.mu.Unlock()
	if m.Phase == "measure" || m.Phase == "warm-up" {
		l.bar.IncrBy(int(m.Over.Milliseconds()))
	}
}

func (l *live) words(decor.Statistics) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return " " + l.last
}

// end removes the bar. It blocks until that is done.
func (l *live) end() {
	if l.bar != nil {
		l.bar.Abort(true)
		l.container.Wait()
	}
}

// moment returns the figures of the last second in one line, the most important first: a narrow terminal cuts the rest
// off.
func moment(m load.Moment) string {
	parts := []string{m.Phase}
	if m.Left > 0 && m.Phase == "measure" {
		parts[0] += ", " + m.Left.Round(time.Second).String() + " left"
	}
	if m.Phase == "connect" {
		return strings.Join(append(parts, text.Count(m.Connections, "connection"), wrong(m)), ", ")
	}
	rate := fmt.Sprintf("%.0f/s", m.Achieved)
	if m.Target > 0 {
		rate = fmt.Sprintf("%.0f of %.0f/s", m.Achieved, m.Target)
	}
	parts = append(parts, rate, wrong(m))
	if m.Backlog > 0 {
		parts = append(parts, fmt.Sprintf("%d queued", m.Backlog))
	}
	for _, op := range m.Ops {
		if op.Op == "push" || op.Op == "fetch.found" || op.Op == "beat" || op.Op == "connect" && m.Phase == "measure" {
			parts = append(parts, times(op))
		}
	}
	parts = append(parts, fmt.Sprintf("%d in flight on %s", m.InFlight, text.Count(m.Connections, "connection")))
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
}

// wrong returns how many errors there were so far.
func wrong(m load.Moment) string {
	if m.Errors == 0 {
		return "no errors"
	}
	return text.Count(int(m.Errors), "error")
}

// times returns the response times of a command in one second, empty if it has none.
func times(op reports.SecondOp) string {
	if op.ResponseP50 == 0 {
		return "" // none of them counts
	}
	short := func(d time.Duration) string {
		switch {
		case d < time.Millisecond:
			return d.Round(time.Microsecond).String()
		case d < time.Second:
			return d.Round(10 * time.Microsecond).String()
		}
		return d.Round(10 * time.Millisecond).String()
	}
	return fmt.Sprintf("%s p50 %s p99 %s", op.Op, short(op.ResponseP50), short(op.ResponseP99))
}
