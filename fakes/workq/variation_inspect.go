package workq

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/protocols/workq"
)

// jobVerbs are the verbs of inspect that show jobs, inspectVerbs are all of them.
var (
	jobVerbs     = []string{workq.InspectJob, workq.InspectJobs, workq.InspectScheduled}
	inspectVerbs = []string{
		workq.InspectJob, workq.InspectJobs, workq.InspectScheduled,
		workq.InspectQueue, workq.InspectQueues, workq.InspectServer,
	}
)

// inspectVariations are about what inspect shows.
var inspectVariations = []Variation{
	variation("inspect-bare-ok", actAt(Ran, setBare, inspectVerbs...)),
	variation("inspect-key-id", actAt(Inspected, func(e *Event) {
		for i, r := range e.Records {
			e.Records[i] = workq.InspectRecord(r.Head[0], append([]workq.Key{{Name: "id", Value: r.Head[0]}}, r.Keys...)...)
		}
	}, jobVerbs...)),
	variation("inspect-key-time", changeKeys(func(k []workq.Key) []workq.Key {
		if k[len(k)-1].Name == "created" {
			k = append(k, workq.Key{Name: "time", Value: k[len(k)-1].Value})
		}
		return k
	}, jobVerbs...)),
	variation("inspect-keys-more", changeKeys(func(k []workq.Key) []workq.Key {
		return append(append([]workq.Key{{Name: "x-node", Value: "7"}}, k...), workq.Key{Name: "note", Value: "two words"})
	}, inspectVerbs...)),
	variation("inspect-keys-reversed", changeKeys(func(k []workq.Key) []workq.Key {
		slices.Reverse(k)
		at := slices.IndexFunc(k, func(k workq.Key) bool { return k.Name == "payload-size" })
		if at > 0 { // a client knows where the payload ends by the size in front of it
			k[at-1], k[at] = k[at], k[at-1]
		}
		return k
	}, inspectVerbs...)),
	variation("inspect-payload-bytes", changeKeys(func(k []workq.Key) []workq.Key {
		for i := range k {
			if k[i].Name == "payload" {
				k[i].Name = "payload-bytes"
			}
		}
		return k
	}, jobVerbs...)),
	setting("inspect-reversed", func(c *Config) { c.Reversed = true }),
	variation("inspect-time-fractions", changeKeys(func(k []workq.Key) []workq.Key {
		for i := range k {
			if slices.Contains([]string{"created", "time", "started"}, k[i].Name) {
				k[i].Value = strings.Replace(k[i].Value, "Z", ".123456Z", 1)
			}
		}
		return k
	}, inspectVerbs...)),
	setting("queues-stay", func(c *Config) { c.RetainQueues = true }),
	variation("server-more-clients",
		changeKey(workq.InspectServer, "active-clients", func(clients string) string {
			n, _ := strconv.Atoi(clients)
			return strconv.Itoa(n + 3)
		})),
}

// changeKeys returns a hook that changes the keys of what inspect shows.
func changeKeys(change func([]workq.Key) []workq.Key, verbs ...string) func(*Event) {
	return actAt(Inspected, func(e *Event) {
		for i, r := range e.Records {
			e.Records[i] = workq.InspectRecord(r.Head[0], change(slices.Clone(r.Keys))...)
		}
	}, verbs...)
}
