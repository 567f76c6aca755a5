// Package variations is the catalogue of the ways in which a server of package fakes differs from others and conforms.
// What is said of each is a row of variations.txt, and below it the rules that are what it does, in the language of
// package rule. What no rule can say is in Go, in the file that has the first word of its name: see [All].
package variations
