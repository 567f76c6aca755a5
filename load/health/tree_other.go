//go:build !linux

package health

// Tree returns what a process of this machine and all that it has started use. Only Linux provides it.
func Tree(int) (Usage, bool) { return Usage{}, false }
