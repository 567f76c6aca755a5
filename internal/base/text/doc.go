// Package text holds what several rooms do with words for people.
//
// Files: nearest.go (the word that was probably meant), renamed.go (words that were given up), count.go (numbers and
// plurals), show.go and wrap.go (values and lines that are not too long), error.go (errors of the Go library), pairs.go
// (tables that are written as text).
package text
