// Package health watches the generator and its machine while it loads a target: CPU time, steal, throttling by the
// cgroup, pressure, descriptors, memory, garbage collection, steps of the clock and spans in which the process stood
// still. They are the error bar of every result, and
// decide whether a run is valid.
//
// Linux provides all of it. On other systems parts are missing: they are 0, and Health.Unknown names them.
//
// Files, in the order in which they can be read: health.go (the machine, the Sampler), snapshot.go (what it samples),
// still.go (holes); proc.go (parsers of /proc and /sys) for system_linux.go, system_other.go where there is nothing to
// read; times_unix.go, times_windows.go and times_other.go (CPU time); files.go, files_unix.go and files_other.go
// (descriptors).
package health
