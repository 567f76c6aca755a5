package program

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// refusals says of each command of the programs that does not work with a protocol why not, and what to do instead.
// What is not here works. docs/protocols.md has the same, and a test compares them.
var refusals = map[string]map[string]string{
	"fwpcheck record": {
		"workq": "it reads both sides by the grammar and the rules of FWP, and finds jobs and clients in them to give them " +
			"names; write the conversation as a script (docs/workq.md), which fwpcheck run plays",
		"emqp": "it reads both sides by the grammar and the rules of FWP, and has one port and replies to commands; " +
			"fwpcheck serve --protocol emqp lists what clients and workers may not send, and a conversation can be written as " +
			"a script (docs/emqp.md), which fwpcheck run plays",
	},
	"fwpcheck worker": {
		"workq": "workers of Workq send no heartbeat, name or state that a situation could judge; test them with " +
			"fwpcheck serve --protocol workq, which lists the commands that cannot be read",
		"emqp": "its situations are about the beats, the states and the jobs of FWP; brokers of eMQP are tested with " +
			"fwpcheck run",
	},
	"fwpcheck client": {
		"workq": "its situations are about what producers of FWP push; test a producer of Workq with " +
			"fwpcheck serve --protocol workq, which lists the commands that cannot be read",
		"emqp": "its situations are about what producers of FWP push; brokers of eMQP are tested with fwpcheck run",
	},
	"fwpcheck clean": {
		"workq": "jobs of Workq end with their time to live, and delete removes them by id",
		"emqp":  "no command of eMQP removes a job from a queue",
	},
}

// Refusal returns an error that says why a command, "fwpcheck record" for example, does not work with a protocol; nil
// if it does.
func Refusal(command, protocol string) error {
	why := refusals[command][protocol]
	if why == "" {
		return nil
	}
	title := protocol
	for _, p := range Protocols() {
		if p.Name == protocol {
			title = p.Title
		}
	}
	only := strings.Join(worksWith(command), " and ")
	return fmt.Errorf("%s works with %s only, not with %s: %s", command, only, title, why)
}

// worksWith returns the titles of the protocols with which a command works.
func worksWith(command string) (titles []string) {
	for _, p := range Protocols() {
		if refusals[command][p.Name] == "" {
			titles = append(titles, p.Title)
		}
	}
	return titles
}

// withoutProtocol says why a command has no --protocol.
func withoutProtocol(command string) string {
	var why []string
	for _, p := range Protocols() {
		if err := Refusal(command, p.Name); err != nil {
			why = append(why, err.Error())
		}
	}
	if len(why) > 0 {
		return strings.Join(why, "\n")
	}
	return command + " takes the protocol from the scheme of a URL, as in workq://localhost, or from the header of " +
		"a script"
}

// Refusing returns the commands that do not work with some protocol, sorted.
func Refusing() []string { return slices.Sorted(maps.Keys(refusals)) }
