package text

import "strings"

// replacements has the words of flags, keys, commands and metrics that were given up, and what is written in their
// place.
var replacements = map[string]string{
	"allow-shared": "--exclusive (no other client uses the server)",
	"disrupt-with": "--disrupt WHAT, as in --disrupt kill,pause --disrupt-every 20s",
	"fault":        "--bug",
	"faults":       "--bugs",
	"judge":        "recheck",
	"like":         "--extension",
	"profile":      "--extension",
	"waited":       "queued",
}

// Replacement returns what is written in the place of a word that was given up; empty if the word never was one.
func Replacement(word string) string { return replacements[strings.ReplaceAll(word, "_", "-")] }
