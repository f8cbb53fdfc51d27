package strictyaml

import "fmt"

// Suggest returns `; did you mean "x"?` for the candidate nearest to word, or "" when none is near.
func Suggest(word string, candidates []string) string {
	best, least := "", len(word)/3+1
	for _, c := range candidates {
		if abs(len(c)-len(word)) > least || len(c) > 64 {
			continue
		}
		if d := distance(word, c); d < least || d == least && best == "" {
			best, least = c, d
		}
	}
	if best == "" || best == word || least >= len(word) {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// distance is the number of bytes to insert, delete, change or swap with their neighbour to make b of a.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return max(len(a), len(b))
	}
	var before, last, row [65]int
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

func abs(n int) int { return max(n, -n) }
