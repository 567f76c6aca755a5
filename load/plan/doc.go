// Package plan describes a load: how many producers and consumers, when they push, what the jobs look like. A
// [Workload] comes from a preset, from YAML ([Parse]) or from flags, which share one table of settings
// ([Workload.Settings]). Its [Plan] has the instants at which the operations of an open loop are due. The instant of
// arrival k, and job k, are pure functions of k, run and seed: any loop computes its share, and can check what is
// delivered. Instants use only what IEEE 754 rounds exactly, so they are the same on every machine; so are jobs, but
// for a very few sizes and queues, which go through math.Exp and math.Pow.
package plan
