package emqpsuite

// retired returns the checks that are no more, and what stands instead of each: a check that also sends what it sent.
func retired() map[string]string {
	return map[string]string{
		"inform/example-in-double-quotes": "inform/example",
		"inform/separated-by-commas":      "inform/example",
		"malformed/no-command":            "malformed/messages",
		"malformed/not-empty":             "malformed/messages",
		"malformed/not-utf-8":             "malformed/messages",
		"malformed/one-frame":             "malformed/messages",
		"malformed/too-few-frames":        "malformed/messages",
		"malformed/unknown-command":       "malformed/messages",
		"malformed/unknown-type":          "malformed/messages",
		"publish/of-a-publisher":          "publish/of-a-client",
		"ready/one-request":               "inform/worker",
		"reply/requested-behind-others":   "reply/requested",
		"reply/text-of-any-kind":          "reply/requested",
		"request/empty-message":           "request/messages",
		"request/json-text":               "request/messages",
		"request/large-message":           "request/messages",
		"request/message-of-256-bytes":    "request/messages",
		"request/queue-behind-a-comma":    "request/queues-that-are-alike",
		"request/queue-in-capitals":       "request/queues-that-are-alike",
		"request/queue-not-in-ascii":      "request/queues-that-are-alike",
		"request/queue-with-a-blank":      "request/queues-that-are-alike",
		"request/text-of-any-kind":        "request/messages",
	}
}
