// Package text holds what several rooms do with words for people: the word that was probably meant, words that were
// given up, numbers and plurals, values and lines that are not too long, errors of the Go library, and tables that are
// written as text.
package text
