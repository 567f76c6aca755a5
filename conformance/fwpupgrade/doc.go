// Package fwpupgrade is FWP as a subject of upgrades (conformance/upgrade): contents.go is what jobs are
// made of, conn.go a connection that outlives a reply that cannot be read, fill.go brings a server jobs in every state,
// and account.go asks one for them.
package fwpupgrade
