// Package selftest holds the suite against the embedded server: every script
// against a server that conforms, against each fault of its catalogue, and
// against servers that are none at all.
package selftest
