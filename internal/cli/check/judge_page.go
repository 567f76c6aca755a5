package check

import (
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

// page returns the result of a history for people.
func (f *judgedFile) page() reports.Page {
	blocks := []reports.Block{reports.Heading{Level: 1, Text: reports.Words(f.Name + ": " + f.sum())}}
	for i := range f.Findings {
		blocks = append(blocks, f.Findings[i].blocks()...)
	}
	if len(f.Undecided) > 0 {
		var t reports.Table
		for _, cause := range f.Undecided {
			jobs := strings.Join(cause.JIDs, ", ") + more(cause.Jobs-len(cause.JIDs))
			t.Rows = append(t.Rows, reports.Cells(fmt.Sprintf("%s: %s (%s)", text.Count(cause.Jobs, "job"), cause.Why, jobs)))
		}
		blocks = append(blocks, reports.Heading{Level: 2, Text: reports.Styled(reports.Unclear, "inconclusive")}, t)
	}
	return reports.Page{Blocks: blocks}
}

// sum returns a history in one line.
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
	return fmt.Sprintf("%s, %s; %s: %d settled, %d inconclusive; %s",
		text.Count(f.Events, "event"), whole, text.Count(f.Jobs, "job"), f.Settled, undecided,
		text.Count(len(f.Findings), "finding"))
}

// eventsShown is how many of the events that prove a finding are printed. Few take more
// than four.
const eventsShown = 20

// blocks returns the clause, what was found, and the events that prove it.
func (f *judgedFinding) blocks() []reports.Block {
	title := reports.Text{{Text: f.Clause, Style: reports.Strong}, {Text: "  " + f.Level.Words()}}
	if f.JID != "" {
		title = append(title, reports.Span{Text: "  "}, reports.Span{Text: "job " + f.JID})
	}
	lines := reports.LinesOf(f.Statement)
	if len(f.Or) > 0 {
		others := strings.Join(f.Or, " or ")
		lines = append(lines, reports.Words("Or it breaks "+others+": calls that overlap leave both possible."))
	}
	var t reports.Table
	shown := f.Events[:min(len(f.Events), eventsShown)]
	for _, e := range shown {
		t.Rows = append(t.Rows, reports.Cells(fmt.Sprintf("#%d", e.Index), span(&e.Event), peer(&e.Event),
			exchange(&e.Event)))
	}
	if left := len(f.Events) - len(shown); left > 0 {
		t.Note = reports.Words("and " + text.Count(left, "more event"))
	}
	return []reports.Block{
		reports.Heading{Level: 2, Text: title}, reports.Prose{Lines: append(lines, reports.Words("found: "+f.What))}, t,
	}
}

// more returns how many more there are, empty if none.
func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

func instant(t time.Duration) string { return t.Round(time.Microsecond).String() }

// span returns when an event was.
func span(e *history.Event) string {
	if e.Outcome == history.Open {
		return instant(e.Call) + " on"
	}
	return instant(e.Call) + " to " + instant(e.Return)
}

// peer returns the client of an event, or the server itself.
func peer(e *history.Event) string {
	switch {
	case e.Op == history.Restart || e.Op == history.Kill:
		return "the server"
	case e.Worker != "":
		return fmt.Sprintf("%s (client %d)", e.Worker, e.Client)
	}
	return fmt.Sprintf("client %d", e.Client)
}

// exchange returns a command and its reply.
func exchange(e *history.Event) string {
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
	return asked + ": " + reply(e)
}

// reply returns a reply in words.
func reply(e *history.Event) string {
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
