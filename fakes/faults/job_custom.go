package faults

import (
	"encoding/json"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// jobCustomFaults are about the custom of a job.
var jobCustomFaults = []fakes.Fault{
	fault("job-custom-any-type", "WU-11 WU-14", "custom may be of any type",
		do(accept, checked(fwp.PUSH), about("custom"))),
	fault("job-custom-dropped", "WU-11", "custom is not delivered", do(drop("custom"), at(fakes.Defaulted))),
	fault("job-custom-flat", "WU-11", "hashes within custom become texts", contents("custom", func(v any) any {
		for k, inner := range v.(map[string]any) {
			if m, is := inner.(map[string]any); is {
				b, _ := json.Marshal(m) // it was JSON
				v.(map[string]any)[k] = string(b)
			}
		}
		return v
	})),
	fault("job-custom-follows", "WU-11", "a job without custom gets that of the job before", followsJob("custom")),
	fault("job-custom-integer-rounded", "WU-11", "integers in custom beyond 2^53 are rounded",
		contents("custom", leaves(roundedInteger))),
	fault("job-custom-invented", "WU-11", "a job without custom gets an empty one", omitted("custom", "{}")),
	fault("job-custom-long", "WU-11", "custom of more than 4 KiB is dropped",
		do(drop("custom"), at(fakes.Defaulted), large("custom", 4<<10))),
	fault("job-custom-mixed", "WU-11", "a job without custom gets that of the job that the connection pushed before",
		follows(conn, fwp.PUSH, "custom", "")),
	fault("job-custom-null-refused", "WU-11", "a custom of null is refused", refuses("custom", is("custom", "null"))),
	fault("job-custom-overrides", "WU-11",
		"members of custom with the names of optional fields replace those of the job", do(func(e *event) {
			custom, _ := fakes.ParseObject(e.Object.Get("custom")) // none, or another value
			for _, f := range custom.Fields() {
				switch f.Name {
				case "retry", "reserve_for", "queue", "backtrace":
					e.Object.Set(f.Name, string(f.Value))
				}
			}
		}, at(fakes.Defaulted), has("custom"))),
}
