package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// LoadDisruptions is what was done to the target on purpose while the load went on, and what that cost. What the
// specification promises is among the findings; what it leaves open is here, as figures.
type LoadDisruptions struct {
	// List holds the disruptions of the plan, in their order.
	List []LoadDisruption `json:"list"`
	// LostByKill counts jobs that were accepted before the target was killed, and never delivered; LostByRestart the same
	// of a stop in good order, if no kill was later. They count as lost in Jobs, too.
	LostByKill    int64 `json:"lost_by_kill"`
	LostByRestart int64 `json:"lost_by_restart"`
	// DuplicatedByStop counts deliveries of a job that another worker held, and ReturnedByStop those of a job whose end
	// was confirmed, if the target was killed or restarted between the push and the delivery. They count as duplicated in
	// Jobs, too.
	DuplicatedByStop int64 `json:"twice_by_stop"`
	ReturnedByStop   int64 `json:"returned_by_stop"`
	// PushesInDoubt counts pushes without a reply, PushesNotCarriedOut those whose job was never delivered.
	PushesInDoubt       int64 `json:"pushes_in_doubt"`
	PushesNotCarriedOut int64 `json:"pushes_not_carried_out"`
	// ReportsInDoubt counts acks and fails without a reply, FetchesInDoubt fetches without one.
	ReportsInDoubt int64 `json:"reports_in_doubt"`
	FetchesInDoubt int64 `json:"fetches_in_doubt"`
	// IsResolved is set if every job in doubt was delivered, or had the time to be: reserve_for and the time to its next
	// try.
	IsResolved bool `json:"resolved"`
	// LongestDelivery is the longest time from the intended start of a push until its job was delivered.
	LongestDelivery time.Duration `json:"oldest_ns"`
	// StartFailure is why the target did not start again after it was stopped; empty if it did. StartsEmpty is set if the
	// same command serves in an empty folder: it does not start on its data.
	StartFailure string `json:"not_started,omitempty" from:"target"`
	StartsEmpty  bool   `json:"on_data,omitempty"`
}

// wasKilled reports whether the target was seen to be killed.
func (d *LoadDisruptions) wasKilled() bool {
	return slices.ContainsFunc(d.List, func(row LoadDisruption) bool {
		return row.Failure == "" && strings.HasPrefix(row.Action, "kill")
	})
}

// LoadDisruption is one thing that was done to the target.
type LoadDisruption struct {
	// Action is "kill", "kill-server", "restart", "pause", "partition", "slow", "reset" or "fill".
	Action string `json:"action"`
	// Words describes it: "partition to-server for 5s" for example.
	Words string `json:"words"`
	// Planned is the same as a schedule has it, with its time from the first arrival: {at: 20s, do: kill, for: 2s}.
	Planned string `json:"planned,omitempty"`
	// At is when it began, counted from the start of the run, and Took how long it took until it was over: of a stop,
	// until the target was ready again.
	At   time.Duration `json:"at_ns"`
	Took time.Duration `json:"took_ns"`
	// FirstServed is how long after its end the first command was served, and RateBack how long after it the rate was
	// back: the next second had 90 % of the rate before. Negative: not before the next disruption, or not known.
	FirstServed time.Duration `json:"served_ns"`
	RateBack    time.Duration `json:"back_ns"`
	// LongestDelivery is the longest time from the intended start of a push until its job was delivered, of those that
	// were delivered between its beginning and the next one.
	LongestDelivery time.Duration `json:"oldest_ns"`
	// LostJobs counts jobs that were accepted before this stop, after the one before it, and were never delivered, and
	// Window is how long before it the first of them was pushed: what was written earlier survived. Both are 0 unless
	// IsResolved.
	LostJobs   int64         `json:"lost,omitempty"`
	LossWindow time.Duration `json:"window_ns,omitempty"`
	// Failure is why it could not be done, or not ended; empty if it was.
	Failure string `json:"failed,omitempty" from:"target"`
}

// partsPerMillion returns how many there are for a million jobs; empty if there are none.
func partsPerMillion(part, jobs int64) string {
	if part == 0 || jobs == 0 {
		return ""
	}
	return reports.Digits(float64(part)/float64(jobs)*1e6) + " ppm"
}

// disruptions appends what was done to the target and how it recovered, and the jobs that this concerns.
func (p *page) disruptions(l *Load) {
	d := l.Disruptions
	if d == nil {
		return
	}
	p.Section("DISRUPTIONS", "the disruptions of the target, and how soon it recovered")
	t := reports.Table{Columns: []reports.Column{
		{Title: "at", AlignRight: true}, {Title: "what"}, {Title: "took", AlignRight: true},
		{Title: "first served", AlignRight: true},
		{Title: "rate back", AlignRight: true}, {Title: "oldest job", AlignRight: true}, {Title: "lost", AlignRight: true},
	}}
	for i := range d.List {
		row := &d.List[i]
		if row.Failure != "" {
			t.Rows = append(t.Rows, reports.Row{Cells: []reports.Text{reports.PlainText(reports.Duration(row.At)),
				reports.PlainText(row.Words)},
				Detail: []reports.Text{reports.StyledText(reports.Caution, text.OneLine(row.Failure))}})
			continue
		}
		t.Rows = append(t.Rows, reports.Cells(reports.Duration(row.At), row.Words, reports.Duration(row.Took),
			recoveryWords(row.FirstServed), recoveryWords(row.RateBack), reports.Duration(row.LongestDelivery),
			row.losses(d.IsResolved)))
	}
	if len(d.List) == 0 {
		t.Note = reports.PlainText("The load ended before the first disruption.")
	}
	p.Add(t)
	p.prose("First served and rate back are measured from the end of the disruption, exact to 20 ms. The rate is back " +
		"when a second has 90 % of the rate before. Oldest job is the longest wait of a job. Lost jobs were accepted " +
		"before a stop; the time is from the first of them to the stop; - means unknown. Without a connection the " +
		"generator retries every 100 ms, which these times may include.")
	p.doubt(l)
}

// losses returns how many jobs a stop has lost, and since when; "-" if that is not known.
func (d *LoadDisruption) losses(isKnown bool) string {
	switch {
	case !isKnown:
		return "-"
	case d.LostJobs == 0:
		return "0"
	}
	if d.LossWindow < time.Microsecond {
		return text.GroupDigits(d.LostJobs) + " just before"
	}
	return fmt.Sprintf("%s of the last %s", text.GroupDigits(d.LostJobs), reports.Duration(d.LossWindow))
}

// recoveryWords returns a time after a disruption.
func recoveryWords(d time.Duration) string {
	if d < 0 {
		return "-"
	}
	return reports.Duration(d)
}

// doubt appends the jobs that disruptions concern, and what became of them.
func (p *page) doubt(l *Load) {
	d := l.Disruptions
	t := reports.Table{Columns: []reports.Column{{Width: 17}, {AlignRight: true, Width: 8}, {AlignRight: true}}}
	row := func(bad reports.Style, name string, n int64, words string) {
		style, value := reports.Plain, text.GroupDigits(n)
		switch {
		case n > 0:
			style = bad
		case bad == reports.Caution && l.IsUndecided(): // jobs that are missing may yet be among them
			value = "-"
		}
		t.Rows = append(t.Rows, reports.Row{Cells: []reports.Text{reports.PlainText(name), reports.StyledText(style, value),
			reports.PlainText(partsPerMillion(n, l.Jobs.Pushed)), reports.PlainText(words)}})
	}
	if d.wasKilled() || d.LostByKill > 0 {
		row(reports.Caution, "lost by kills", d.LostByKill, "accepted before a kill, never delivered")
	}
	row(reports.Caution, "lost by restarts", d.LostByRestart,
		"accepted before an orderly restart, never delivered")
	row(reports.Caution, "twice by stops", d.DuplicatedByStop,
		"delivered while reserved by another worker, after a kill or a restart")
	row(reports.Caution, "returned by stops", d.ReturnedByStop,
		"delivered again after ACK or final FAIL was confirmed, after a kill or a restart")
	row(reports.Plain, "pushes in doubt", d.PushesInDoubt, "without a reply"+d.pushWords())
	row(reports.Plain, "acks in doubt", d.ReportsInDoubt, "ACKs and FAILs without a reply")
	row(reports.Plain, "fetches in doubt", d.FetchesInDoubt, "without a reply; each may have taken a job")
	if !d.IsResolved && d.PushesInDoubt+d.ReportsInDoubt+d.FetchesInDoubt > 0 {
		t.Note = reports.PlainText("Not all jobs in doubt had enough time to come back: use a longer --drain.")
	}
	p.Add(t)
}

// pushWords returns what became of the pushes in doubt.
func (d *LoadDisruptions) pushWords() string {
	if d.PushesInDoubt == 0 || !d.IsResolved {
		return ""
	}
	return fmt.Sprintf(": %s happened, %s did not", text.GroupDigits(d.PushesInDoubt-d.PushesNotCarriedOut),
		text.GroupDigits(d.PushesNotCarriedOut))
}

// cost returns what stops of the target have cost, in a few words: empty if nothing.
func (d *LoadDisruptions) cost() string {
	if d == nil {
		return ""
	}
	return reports.JoinWith(", ", countIfAny(d.LostByKill, "job", "lost by kills"),
		countIfAny(d.DuplicatedByStop, "job", "delivered twice by stops"),
		countIfAny(d.ReturnedByStop, "job", "returned by stops"))
}

// isResolved reports whether no job is in doubt any more.
func (d *LoadDisruptions) isResolved() bool { return d != nil && d.IsResolved }

// excusedCount returns how many of a count of the account break no promise, because the target was stopped.
func (d *LoadDisruptions) excusedCount(name string) int64 {
	switch {
	case d == nil:
	case name == "lost":
		return d.LostByKill + d.LostByRestart
	case name == "duplicated":
		return d.DuplicatedByStop + d.ReturnedByStop
	}
	return 0
}

// marks returns the disruptions as parts of an axis of time.
func (d *LoadDisruptions) marks() (all []reports.Band) {
	if d == nil {
		return nil
	}
	for i := range d.List {
		row := &d.List[i]
		if row.Failure == "" {
			all = append(all, reports.Band{Name: row.Words, From: float64(row.At), Until: float64(row.At + row.Took)})
		}
	}
	return all
}

// worstTime returns the longest of the times after the disruptions, as a metric: there is no data without disruptions,
// and what did not happen took for ever.
func (d *LoadDisruptions) worstTime(get func(*LoadDisruption) time.Duration) (r MetricValue) {
	if d == nil {
		return r
	}
	for i := range d.List {
		row := &d.List[i]
		if row.Failure != "" {
			continue
		}
		r.OK = true
		if get(row) < 0 {
			r.Value = math.Inf(1)
		}
		r.Value = max(r.Value, float64(get(row)))
	}
	return r
}
