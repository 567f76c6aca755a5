// Package goclient tests the double with a worker library for Go that is not part of this project: the tests of
// Contributed Systems' faktory_worker_go pass on it, and fwpcheck judges its worker, which is worker/main.go.
// "make client-go" runs it. It is a module of its own, so that its requirements stay out of those of fwp.
package goclient
