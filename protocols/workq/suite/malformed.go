package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/protocols/workq"
)

// forms are commands that are right, word by word: an id, a name, and words whose kinds are those of wrongWords.
var forms = []string{
	"add ID NAME TTR NUMBER SIZE", "schedule ID NAME TTR NUMBER TIME SIZE", "run ID NAME TTR NUMBER SIZE",
	"complete ID SIZE", "fail ID SIZE", "result ID NUMBER", "delete ID", "lease NAME NUMBER", "inspect job ID",
	"inspect jobs NAME NUMBER NUMBER", "inspect scheduled-jobs NAME NUMBER NUMBER", //nolint:dupword // no prose
	"inspect queues NUMBER NUMBER", "inspect queue NAME", //nolint:dupword // no prose
}

// rightWords has a right word of each kind.
var rightWords = map[string]string{
	"ID": unknownID, "NAME": "$name900000", "TTR": "1000", "NUMBER": "0", "SIZE": "*", "TIME": "2040-01-02T15:04:05Z",
}

// wrongWords has the words of each kind that no reading of the document takes.
var wrongWords = map[string][]string{
	"ID": {
		"1", "6ba7b810-9dad-41d1-80b4-00c04fd430c", "6ba7b810-9dad-41d1-80b4-00c04fd430c88",
		"6ba7b8109dad41d180b400c04fd430c8", "6ba7b81-09dad-41d1-80b4-00c04fd430c8", "6ba7b810-9dad-41d1-80b400c0-4fd430c8",
		"6ba7b810_9dad_41d1_80b4_00c04fd430c8", "6ba7b810-9dad-41d1-80b4-00c04fd430cg",
		"{6ba7b810-9dad-41d1-80b4-00c04fd430c8}", "urn:uuid:6ba7b810-9dad-41d1-80b4-00c04fd430c8",
		"g0000000-0000-4000-8000-000000000000", "zzzzzzzz-zzzz-4zzz-8zzz-zzzzzzzzzzzz",
	},
	"TTR":    {"86400001", "4294967296", "18446744073709551615", "-1", "1.5", "1e3", "0x10", "x"},
	"NUMBER": {"-1", "1.5", "1e3", "0x10", "x", "1000ms"},
	"SIZE":   {"-1", "1.0", "x"},
	"TIME": {
		"tomorrow", "1600000000", "2040-01-02", "2040-13-01T00:00:00Z", "2040-02-30T00:00:00Z", "2040-01-02T25:00:00Z",
		"2040-01-02T15:04:05", "2040-01-02T15:04:05+01:00", "2040-01-02T15:04:05+00:00", "20400102T150405Z",
		"2040-00-02T00:00:00Z",
		"2040-01-00T00:00:00Z", "2040-01-32T00:00:00Z", "2040-04-31T00:00:00Z", "2041-02-29T00:00:00Z",
		"2100-02-29T00:00:00Z", "2040-01-02T24:00:00Z", "2040-01-02T15:60:05Z", "2040-01-02T15:04:61Z",
		"2040-01-02T15:04Z", "2040-1-2T15:04:05Z", "40-01-02T15:04:05Z", "2040-01-02Z", "2040-01-02T15:04:05Zx",
		"Z", "2040/01/02T15:04:05Z",
	},
}

// wrongFlags has the flags that no reading takes, by commands.
var wrongFlags = map[string][]string{
	workq.Add:      append([]string{"-priority=2147483648", "-priority=-2147483649"}, wrongAddFlags...),
	workq.Schedule: append([]string{"-priority=4294967297"}, wrongAddFlags...),
	workq.Run:      {"-priority=4294967297", "-priority=-2147483649", "-priority=x", "-priority=1.5", "-priority"},
}

// wrongAddFlags are those of add and schedule.
var wrongAddFlags = []string{
	"-priority=x", "-priority=", "-priority=1.5", "-priority=9223372036854775808", "-priority", "-max-attempts=256",
	"-max-attempts=-1", "-max-attempts=257", "-max-attempts=65537", "-max-attempts=x", "-max-fails=-1", "-max-fails=x",
	"-max-attempts", "-max-fails", "-max-fails=",
}

// malformedCommands returns the commands that lack a word, are wrong in one, or have a wrong flag.
var malformedCommands = sync.OnceValue(func() []string {
	all := []string{"nonsense", "inspect nonsense", "adds", "leases $name900000 0"}
	for _, form := range forms {
		words := strings.Split(form, " ")
		verb := words[0]
		for i, kind := range words {
			for _, wrong := range wrongWordsOf(verb, kind) {
				all = append(all, commandWith(words, i, wrong))
			}
			if i > 0 && rightWords[words[i]] != "" {
				all = append(all, strings.TrimSuffix(commandWith(words[:i], i, ""), " <- x"))
			}
		}
		for _, flag := range wrongFlags[verb] {
			all = append(all, commandWith(append(slices.Clip(words), flag), len(words), flag))
		}
	}
	return all
})

// commandWith returns a command with right words, but for one.
func commandWith(words []string, at int, wrong string) string {
	all := slices.Clone(words)
	for i, w := range all {
		all[i] = cmp.Or(rightWords[w], w)
	}
	if at < len(all) {
		all[at] = wrong
	}
	text := strings.Join(all, " ")
	if slices.Contains(all, rightWords["SIZE"]) {
		text += " <- x"
	}
	return text
}

// wrongWordsOf returns wrong words of a kind for a command. What inspect makes of a name is its own.
func wrongWordsOf(verb, kind string) []string {
	if kind != "NAME" || verb == workq.Inspect {
		return wrongWords[kind]
	}
	var all []string
	for _, c := range "!\"#%&'()*+,/:;<=>?@[\\]^`{|}~é" {
		all = append(all, fmt.Sprintf("x%c$name900000", c), fmt.Sprintf("$name900000-x%c", c))
	}
	return all
}
