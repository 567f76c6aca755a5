package workers

import (
	"encoding/json"
	"fmt"
)

// hello is what a HELLO says.
type hello struct {
	shown    Moment
	wid      string // "" if it has none, or not as a string
	identity string // hostname, pid and labels, in a form that is equal exactly if they are
}

func readHello(fields map[string]any, shown Moment) *hello {
	h := &hello{shown: shown}
	h.wid, _ = fields["wid"].(string)
	labels, err := json.Marshal(fields["labels"])
	if err != nil || string(labels) == "null" {
		labels = []byte("[]")
	}
	h.identity = fmt.Sprintf("hostname %s, pid %s, labels %s",
		quoteAny(fields["hostname"]), quoteAny(fields["pid"]), labels)
	return h
}
