// Package workload describes a load: how many producers and consumers,
// when they push, what the jobs look like. A [Workload] comes from a preset, from YAML
// ([Parse]) or from flags; all of them share one table of settings ([Workload.Settings])
// and so one notation. [Workload.Plan] makes the plan of arrivals of an open loop, and
// [Workload.Jobs] the jobs themselves.
//
// Job k is a pure function of run, seed and k: its queue, type, payload, delay, work
// and failures. So any loop can push it, any other can check what is delivered, and the
// same seed puts the same bytes on the wire. (Lognormal sizes and the skew of zipf go
// through math.Exp and math.Pow, whose last digit may differ between architectures:
// there, a job in very many may get another size or queue.)
//
// Files: workload.go, settings.go (the table), presets.go (and words of its values), yaml.go; check.go (and
// what a problem is); number.go, rate.go, size.go, disconnect.go and segment.go (values with a notation); trace.go and
// trace_read.go (a recorded load); jobs.go
// and push.go (the jobs), read.go and scan.go (what a delivered job carries), stamps.go (times of the server in it).
package workload
