// Package archtest holds only tests. They check that the whole module keeps the rules of its architecture. Which
// package may import which is the list of layers in layers_test.go; what a library package may not do is in
// silence_test.go and state_test.go.
package archtest
