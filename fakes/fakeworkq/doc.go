// Package fakeworkq is a conforming Workq server in memory, with one hook for what may be wrong with it, and the
// catalogue of such faults.
//
// Files: server.go has connections, event.go the hook, job.go jobs and how they end, client.go the commands of clients
// and workers, inspect.go what operators see. fault_add.go and variation.go have the catalogues, fault.go what their
// rows are made of; variation_inspect.go has the variations of inspect. faults.txt and variations.txt are what is said
// of each row.
package fakeworkq
