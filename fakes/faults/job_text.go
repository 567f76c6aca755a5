package faults

import (
	"encoding/json"
	"strings"

	"github.com/fwpsuite/fwp/fakes"
)

// jobTextFaults change the texts within args and custom.
var jobTextFaults = []fakes.Fault{
	fault("job-text-backslash", "WU-03 WU-11", "a backslash in a text is dropped", replacing(`\`, "")),
	fault("job-text-composed", "WU-03 WU-11", "a letter and its combining accent become one character",
		replacing("e\u0301", "é", "A\u030a", "Å")),
	fault("job-text-cut", "WU-03 WU-11", "a text is cut after 255 bytes",
		contents("args custom", texts(func(s string) string { return cut(s, 255) }))),
	fault("job-text-empty-null", "WU-03 WU-11", "an empty text becomes null", leaf(turns("", nil))),
	fault("job-text-ends-at-nul", "WU-03 WU-11 FRAME-09", "a text ends at its first U+0000",
		contents("args custom", texts(func(s string) string { s, _, _ = strings.Cut(s, "\x00"); return s }))),
	fault("job-text-html", "WU-03 WU-11", "the characters < > & in texts become entities",
		replacing("<", "&lt;", ">", "&gt;", "&", "&amp;")),
	fault("job-text-joiners", "WU-03 WU-11", "characters without a width are dropped",
		replacing("\u200b", "", "\u200d", "", "\ufeff", "", "\u200e", "", "\u00ad", "")),
	fault("job-text-line-ends", "WU-03 WU-11", "a CR before an LF is dropped in texts", replacing("\r\n", "\n")),
	fault("job-text-number", "WU-03", "a text that is a number becomes that number",
		contents("args", leaves(only(func(s string) any {
			if json.Valid([]byte(s)) && strings.Trim(s, "0123456789") == "" {
				return json.Number(s)
			}
			return s
		})))),
	fault("job-text-percent", "WU-03 WU-11", "%20 in a text becomes a space", replacing("%20", " ")).
		Also("job-text-plus"),
	fault("job-text-planes", "WU-03 WU-11 FRAME-09", "a character beyond U+FFFF becomes U+FFFD",
		contents("args custom", texts(func(s string) string {
			return strings.Map(func(r rune) rune {
				if r > 0xFFFF {
					return '\uFFFD'
				}
				return r
			}, s)
		}))),
	fault("job-text-quoted", "WU-03 WU-11", "a quotation mark in a text is doubled", replacing(`"`, `""`)),
	fault("job-text-tabs", "WU-03 WU-11", "a tab in a text becomes a space", replacing("\t", " ")),
	fault("job-text-trimmed", "WU-03 WU-11", "texts lose the spaces at their ends",
		contents("args custom", texts(func(s string) string { return strings.Trim(s, " ") }))),
}
