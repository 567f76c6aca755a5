package life

import (
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/history"
)

// Cells returns a call in words: its number, its time, its client, and its command with the reply.
func Cells(i int, e *history.Event) []string {
	return []string{fmt.Sprintf("#%d", i), span(e), party(e), exchange(e)}
}

func instant(t time.Duration) string { return t.Round(time.Microsecond).String() }

// span returns when a call was.
func span(e *history.Event) string {
	if e.Outcome == history.NoReply {
		return instant(e.Call) + " on"
	}
	return instant(e.Call) + " to " + instant(e.Return)
}

// server is the party that has a job which no worker holds.
const server = "the server"

// party returns the client of a call, or the server itself.
func party(e *history.Event) string {
	if e.Worker != "" && !e.Op.IsOperatorAction() {
		return fmt.Sprintf("%s (client %d)", e.Worker, e.Client)
	}
	return client(e)
}

// client returns the party of a call in a few words.
func client(e *history.Event) string {
	switch {
	case e.Op.IsOperatorAction():
		return server
	case e.Worker != "":
		return e.Worker
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
	if e.Action != "" {
		command = e.Action
	}
	return command + ": " + reply(e)
}

// reply returns a reply in words.
func reply(e *history.Event) string {
	switch {
	case e.Outcome == history.NoReply:
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
