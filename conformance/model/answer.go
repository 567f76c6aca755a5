package model

import "strings"

// Answer is a set of ways in which a command can be answered. (Client Commands,
// Responses)
type Answer uint16

// The ways.
const (
	Okay      Answer = 1 << iota // the simple string OK
	Refused                      // an error
	Delivered                    // a bulk string that holds a job
	Nothing                      // the null bulk string
	Data                         // any bulk string
	Notified                     // {"state": ...}, as a bulk or as a simple string (AMB-02)
	Ended                        // no reply, and the end of the connection
	Foreign                      // not in the command's list of responses

	Either   = Okay | Refused
	Anything = Okay | Refused | Delivered | Nothing | Data | Notified | Ended | Foreign
)

var patterns = []struct {
	answer Answer
	text   string
}{
	{Okay, "+OK"}, {Refused, "-"}, {Nothing, "$-1"}, {Delivered, "${}"}, {Data, "$"},
	{Notified, `+{"state":string} | ${"state":string}`}, {Ended, "<close>"}, {Foreign, "<any>"},
}

// String returns the set as an S: line of a script expects it: "+OK | -".
func (a Answer) String() string {
	var all []string
	for _, p := range patterns {
		if a&p.answer != 0 {
			all = append(all, p.text)
		}
	}
	return strings.Join(all, " | ")
}
