package history

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
)

// version is that of the file format.
const version = 1

// header is the first line of a saved history. Events follow, one a line, sorted by
// their calls; their number shows if a file was cut off between two lines.
type header struct {
	Version   int           `json:"fwp_history"`
	Events    int           `json:"events"`
	Drained   bool          `json:"drained,omitempty"`
	Strangers bool          `json:"strangers,omitempty"`
	Cut       time.Duration `json:"cut,omitempty"`
	Limits    Limits        `json:"limits"`
}

// escaping writes JSON that a terminal can show: names may be those of a server.
type escaping struct{ io.Writer }

func (e escaping) Write(b []byte) (n int, err error) {
	if _, err := e.Writer.Write(text.EscapeJSON(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Save writes the history as lines of JSON: times are in nanoseconds. Judged after
// [Load] it gives the same findings, with the same indices if the events were sorted.
func (h *History) Save(w io.Writer) error {
	events := h.sorted()
	out := bufio.NewWriterSize(w, 1<<16)
	encoder := json.NewEncoder(escaping{out})
	encoder.SetEscapeHTML(false)
	first := header{
		Version: version, Events: len(events),
		Drained: h.Drained, Strangers: h.Strangers, Cut: h.Cut, Limits: h.Limits,
	}
	if err := encoder.Encode(first); err != nil {
		return fmt.Errorf("write the head of the history: %w", err)
	}
	for i := range events {
		e := &events[i]
		if !e.closed() {
			opened := e.opened() // as it is evaluated
			e = &opened
		}
		if err := encoder.Encode(e); err != nil {
			return fmt.Errorf("write event %d of the history: %w", i, err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	return nil
}
