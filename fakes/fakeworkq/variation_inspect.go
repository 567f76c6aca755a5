package fakeworkq

import (
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/workq"
)

// ofJobs are the verbs of inspect that show jobs, inspects are all of them.
var (
	ofJobs   = []string{workq.InspectJob, workq.InspectJobs, workq.InspectScheduled}
	inspects = []string{
		workq.InspectJob, workq.InspectJobs, workq.InspectScheduled,
		workq.InspectQueue, workq.InspectQueues, workq.InspectServer,
	}
)

// inspectVariations are about what inspect shows.
var inspectVariations = []Variation{
	variation("inspect-bare-ok", "inspect, Success Format: OK <reply-count>",
		"inspect is answered with OK without a sign", on(Ran, bare, inspects...)),
	variation("inspect-key-id", "inspect job, Keys: id", "inspect shows the id of a job as a key too",
		on(Inspected, func(e *Event) {
			for i, r := range e.Records {
				e.Records[i] = workq.Inspected(r.Head[0], append([]workq.Key{{Name: "id", Value: r.Head[0]}}, r.Keys...)...)
			}
		}, ofJobs...)),
	variation("inspect-key-time", "inspect job, Keys: time", "inspect shows a time of jobs that were not scheduled too",
		keys(func(k []workq.Key) []workq.Key {
			if k[len(k)-1].Name == "created" {
				k = append(k, workq.Key{Name: "time", Value: k[len(k)-1].Value})
			}
			return k
		}, ofJobs...)),
	variation("inspect-keys-more", "inspect job, Reply: keys may be added in the future", "inspect shows keys of its own",
		keys(func(k []workq.Key) []workq.Key {
			return append(append([]workq.Key{{Name: "x-node", Value: "7"}}, k...), workq.Key{Name: "note", Value: "two words"})
		}, inspects...)),
	variation("inspect-keys-reversed", "inspect job, Keys: a list, without an order",
		"inspect shows the keys in another order", keys(func(k []workq.Key) []workq.Key {
			slices.Reverse(k)
			at := slices.IndexFunc(k, func(k workq.Key) bool { return k.Name == "payload-size" })
			if at > 0 { // a client knows where the payload ends by the size in front of it
				k[at-1], k[at] = k[at], k[at-1]
			}
			return k
		}, inspects...)),
	variation("inspect-payload-bytes", "inspect job, Keys: payload-bytes", "the key of a payload is payload-bytes",
		keys(func(k []workq.Key) []workq.Key {
			for i := range k {
				if k[i].Name == "payload" {
					k[i].Name = "payload-bytes"
				}
			}
			return k
		}, ofJobs...)),
	setting("inspect-reversed", "inspect jobs: the order of the results is not given",
		"inspect jobs shows the jobs in another order", func(c *Config) { c.Reversed = true }),
	variation("inspect-time-fractions", "RFC 3339: a time may have fractions of seconds",
		"inspect shows times with fractions of seconds", keys(func(k []workq.Key) []workq.Key {
			for i := range k {
				if slices.Contains([]string{"created", "time", "started"}, k[i].Name) {
					k[i].Value = strings.Replace(k[i].Value, "Z", ".123456Z", 1)
				}
			}
			return k
		}, inspects...)),
	setting("queues-stay", "inspect queues: all available queues", "queues without jobs are shown too",
		func(c *Config) { c.QueuesStay = true }),
	variation("server-more-clients", "inspect server: active & currently connected clients",
		"a server counts clients of its own",
		key(workq.InspectServer, "active-clients", func(string) string { return "1000" })),
}

// keys returns a hook that changes the keys of what inspect shows.
func keys(change func([]workq.Key) []workq.Key, verbs ...string) func(*Event) {
	return on(Inspected, func(e *Event) {
		for i, r := range e.Records {
			e.Records[i] = workq.Inspected(r.Head[0], change(slices.Clone(r.Keys))...)
		}
	}, verbs...)
}
