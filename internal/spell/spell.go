// Package spell finds the word that was probably meant by one that is unknown.
package spell

import "strings"

// Nearest is the word of the list that was probably meant: the first of those with the fewest mistakes, at most so
// many; case does not count. It is "" if none is that near.
func Nearest(word string, list []string, most int) string {
	best, fewest := "", most+1
	for _, w := range list {
		if d := Distance(word, w); d < fewest {
			best, fewest = w, d
		}
	}
	return best
}

// Distance counts the mistakes between two short words: the bytes to insert, remove, replace or swap with their
// neighbour until one is the other (the optimal string alignment distance). Case does not count.
func Distance(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			differ := 1
			if a[i-1] == b[j-1] {
				differ = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+differ)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
