// Package spelling finds the name that somebody meant.
package spelling

import "strings"

// DidYouMean is "; did you mean X?" for the known name that is nearest to a
// word, and empty if none is near: at most a third of its letters differ. Among
// equally near ones it is the first.
func DidYouMean(word string, known []string) string {
	best, near := Nearest(word, known, len(word)/3)
	if !near || best == word {
		return ""
	}
	return "; did you mean " + best + "?"
}

// Nearest is the known name that is nearest to a word, false if in each more
// than most letters differ. Case does not count.
func Nearest(word string, known []string, most int) (string, bool) {
	best, least := "", most+1
	for _, name := range known {
		if abs := len(word) - len(name); max(abs, -abs) >= least {
			continue
		}
		if d := Distance(word, name); d < least {
			best, least = name, d
		}
	}
	return best, best != ""
}

// Distance counts the letters to insert, remove or replace, and neighbours to
// exchange, to make one word of another. Case does not count.
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
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+differs(a[i-1], b[j-1]))
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

func differs(a, b byte) int {
	if a == b {
		return 0
	}
	return 1
}
