package check

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/text"
)

// text is what a person reads of a history.
func (f *judgedFile) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", f.Name, f.sum())
	for i := range f.Findings {
		b.WriteString("\n" + f.Findings[i].text())
	}
	if len(f.Undecided) > 0 {
		fmt.Fprintf(&b, "\nundecided\n")
		for _, cause := range f.Undecided {
			jobs := strings.Join(cause.JIDs, ", ") + more(cause.Jobs-len(cause.JIDs))
			fmt.Fprintf(&b, "  %s: %s (%s)\n", text.Count(cause.Jobs, "job"), cause.Why, jobs)
		}
	}
	return b.String()
}

// sum is a history in one line.
func (f *judgedFile) sum() string {
	whole := "not drained"
	switch {
	case f.Cut > 0:
		whole = "cut off at " + instant(time.Duration(f.Cut))
	case f.Drained:
		whole = "drained"
	}
	undecided := 0
	for _, cause := range f.Undecided {
		undecided += cause.Jobs
	}
	return fmt.Sprintf("%s, %s; %s: %d settled, %d undecided; %s",
		text.Count(f.Events, "event"), whole, text.Count(f.Jobs, "job"), f.Settled, undecided,
		text.Count(len(f.Findings), "finding"))
}

// eventsShown is how many of the events that prove a finding are printed. Few take more
// than four.
const eventsShown = 20

func (f *judgedFinding) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s", f.Clause, f.Level.Words())
	if f.JID != "" {
		fmt.Fprintf(&b, "  job %s", f.JID)
	}
	b.WriteString("\n")
	paragraph(&b, f.Statement)
	if len(f.Or) > 0 {
		paragraph(&b, "If not that, it is "+strings.Join(f.Or, " or ")+" that is broken: what overlaps leaves it open.")
	}
	paragraph(&b, "found: "+f.What)
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	shown := f.Events[:min(len(f.Events), eventsShown)]
	for _, e := range shown {
		_, _ = fmt.Fprintf(table, "    #%d\t%s\t%s\t%s\n", e.Index, span(&e.Event), who(&e.Event), said(&e.Event))
	}
	_ = table.Flush() // a strings.Builder takes everything
	if left := len(f.Events) - len(shown); left > 0 {
		fmt.Fprintf(&b, "    and %s\n", text.Count(left, "more event"))
	}
	return b.String()
}

func paragraph(b *strings.Builder, words string) {
	for _, line := range text.Wrap(words, textWidth-4) {
		b.WriteString("    " + line + "\n")
	}
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

func instant(t time.Duration) string { return t.Round(time.Microsecond).String() }

// span is when an event was.
func span(e *history.Event) string {
	if e.Outcome == history.Open {
		return instant(e.Call) + " on"
	}
	return instant(e.Call) + " to " + instant(e.Return)
}

// who is who asked.
func who(e *history.Event) string {
	switch {
	case e.Op == history.Restart || e.Op == history.Kill:
		return "the server"
	case e.Worker != "":
		return fmt.Sprintf("%s (client %d)", e.Worker, e.Client)
	}
	return fmt.Sprintf("client %d", e.Client)
}

// said is what was asked, and what came back.
func said(e *history.Event) string {
	asked := e.Op.String()
	if e.Op == history.Fetch {
		asked = strings.Join(append([]string{asked}, e.Queues...), " ")
	} else if e.JID != "" {
		asked += " " + e.JID
	}
	if e.Op == history.Push && e.Queue != "" {
		asked += " to " + e.Queue
	}
	if e.At > 0 {
		asked += ", at " + instant(e.At)
	}
	return asked + ": " + told(e)
}

func told(e *history.Event) string {
	switch {
	case e.Outcome == history.Open:
		return "no reply"
	case e.Outcome == history.Refused:
		return "an error"
	case e.Op != history.Fetch:
		return "OK"
	case e.Outcome == history.Empty:
		return "nothing"
	case e.Queue != "":
		return fmt.Sprintf("job %s of %s", e.JID, e.Queue)
	}
	return "job " + e.JID
}
