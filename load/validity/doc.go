// Package validity says whether the figures of a load are about the target, and whether they are good enough for the
// user. A [Sampler] watches the generator and its machine: CPU time, steal, throttling, descriptors, memory, garbage
// collection, steps of the clock. On other systems than Linux parts are missing: they are 0, and Health.Unknown names
// them. [Evaluate] judges by them, and by each [Threshold].
package validity
