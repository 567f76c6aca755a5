package monitor

import (
	"encoding/json"
	"fmt"
)

// hello is what a HELLO says.
type hello struct {
	shown Moment
	all   map[string]any
	wid   string // "" if it has none, or not as a string
	same  string // hostname, pid and labels, in a form that is equal exactly if they are
}

func readHello(fields map[string]any, shown Moment) *hello {
	h := &hello{shown: shown, all: map[string]any{}}
	for _, name := range []string{"v", "pwdhash", "hostname", "wid", "pid", "labels"} {
		if v, has := fields[name]; has {
			h.all[name] = v
		}
	}
	h.wid, _ = h.all["wid"].(string)
	labels, err := json.Marshal(h.all["labels"])
	if err != nil || string(labels) == "null" {
		labels = []byte("[]")
	}
	h.same = fmt.Sprintf("hostname %s, pid %s, labels %s", quoteAny(h.all["hostname"]), quoteAny(h.all["pid"]), labels)
	return h
}
