// Package fakeworkq is a conforming Workq server in memory, with one hook for what may be wrong with it, and the
// catalogue of such faults.
//
// To read: server.go (connections), event.go (the hook), job.go (jobs and how they end), client.go (commands that
// clients and workers send), inspect.go (what operators see), fault.go (the catalogue).
package fakeworkq
