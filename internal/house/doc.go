// Package house is empty: its tests check that the whole module keeps the rules of the
// house. Which package may import which is the table in rooms_test.go; what a
// library package may not do is in silence_test.go and state_test.go.
package house
