// Package shared is what the command lines of fwpcheck and fwpbench share: how a command runs and ends, help and
// messages, fwpcheck.yaml, the flags of a target and how it is started and operated, and where results go.
package shared
