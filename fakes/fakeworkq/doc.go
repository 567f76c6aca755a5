// Package fakeworkq is a conforming Workq server in memory, with one hook for what may be wrong with it, and the
// catalogue of such faults.
//
// Files: server.go has connections, event.go the hook, job.go jobs and how they end, client.go the commands of clients
// and workers, inspect.go what operators see. fault.go and variation.go have the catalogues and what their rows are made
// of. The tables of faults are in files by the first word of their names: fault_add.go, fault_inspect.go,
// fault_lease.go, fault_complete.go and fault_refused.go; variation_inspect.go has the variations of inspect.
package fakeworkq
