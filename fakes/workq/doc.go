// Package workq is a conforming Workq server in memory, with one hook for what may be wrong with it, and the
// catalogue of such faults.
//
// Files: server.go has connections, event.go the hook, job.go jobs and how they end, client.go the commands of clients
// and workers, inspect.go what operators see. faults.txt has the faults, each with its rule, if one can say what it
// does; fault_add.go has the others, fault.go what they are made of. variations.txt is what is said of the variations
// in variation.go and variation_inspect.go.
package workq
