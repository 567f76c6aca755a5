package check

import (
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/history"
)

// numbered is an event with its index in the history.
type numbered struct {
	Index int `json:"index"`
	history.Event
}

// cells returns the cells of an event on a page.
func (e *numbered) cells() []string {
	return []string{fmt.Sprintf("#%d", e.Index), span(&e.Event), peer(&e.Event), exchange(&e.Event)}
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
	command := e.Op.String()
	if e.Op == history.Fetch {
		command = strings.Join(append([]string{command}, e.Queues...), " ")
	} else if e.JID != "" {
		command += " " + e.JID
	}
	if e.Op == history.Push && e.Queue != "" {
		command += " to " + e.Queue
	}
	if e.At > 0 {
		command += ", at " + instant(e.At)
	}
	return command + ": " + reply(e)
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
