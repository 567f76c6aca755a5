package text

import (
	"cmp"
	"slices"
	"strings"
)

// Nearest is the word of the list that was probably meant: the first of those with the fewest mistakes, at most so
// many; case does not count. It is "" if none is that near.
func Nearest(word string, list []string, limit int) string {
	best, fewest := "", limit+1
	for _, w := range list {
		if d := Distance(word, w); d < fewest {
			best, fewest = w, d
		}
	}
	return best
}

// Candidates are the words of the list that may have been meant, the likeliest first and three at most: those with one
// or two mistakes, and then those that the word is the beginning of. Case does not count, and each is named once.
func Candidates(word string, list []string) []string {
	const maxMistakes, maxWords = 2, 3
	if word == "" {
		return nil
	}
	mistakes := func(w string) int {
		if d := Distance(word, w); d <= min(maxMistakes, len(word)-1) {
			return d
		}
		if strings.HasPrefix(strings.ToLower(w), strings.ToLower(word)) {
			return maxMistakes + 1
		}
		return maxMistakes + 2
	}
	words := slices.DeleteFunc(slices.Sorted(slices.Values(list)),
		func(w string) bool { return mistakes(w) > maxMistakes+1 })
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(mistakes(a), mistakes(b)) })
	words = slices.Compact(words)
	return words[:min(len(words), maxWords)]
}

// DidYouMean asks whether one of the words was meant: "did you mean push or pop?". It is "" if there are none.
func DidYouMean(words ...string) string {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" })
	if len(words) == 0 {
		return ""
	}
	return "did you mean " + strings.Join(words, " or ") + "?"
}

// Distance counts the mistakes between two short words: the bytes to insert, remove, replace or swap with their
// neighbour until one is the other (the optimal string alignment distance). Case does not count.
func Distance(a, b string) int {
	const short = 100
	if len(a) > short || len(b) > short { // no word
		return max(len(a), len(b))
	}
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
