package podspec

import (
	"slices"
	"strings"
)

// maxTypo is the edit distance up to which a name counts as a slip of another.
const maxTypo = 3

// misspelt finds variables that no profile reads although they start with a profile's prefix, or that differ from a
// variable of a profile by one or two letters. The longest prefix that fits owns a variable.
func misspelt(names []string, declarations []Declaration) []Warning {
	known := map[string]bool{}
	for _, d := range declarations {
		for _, variable := range d.Variables() {
			known[variable] = true
		}
	}
	var warnings []Warning
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if known[name] || len(name) > 4*maxText {
			continue
		}
		if warning, ok := suspect(name, declarations); ok {
			warnings = append(warnings, warning)
		}
	}
	return warnings
}

// suspect judges one variable that no profile reads.
func suspect(name string, declarations []Declaration) (Warning, bool) {
	var owner Declaration
	for _, d := range declarations {
		if strings.HasPrefix(name, d.prefix()+"_") && len(d.prefix()) > len(owner.prefix()) || owner.Name == "" && strings.HasPrefix(name, d.prefix()+"_") {
			owner = d
		}
	}
	if owner.Name != "" {
		near, _ := closest(name, owner.Variables(), maxTypo)
		return Warning{Variable: name, Profile: owner.Name, Suggestion: near, Reason: "is not a variable of profile " + owner.Name}, true
	}
	for _, d := range declarations {
		if near, ok := closest(name, d.Variables(), maxTypo-1); ok {
			return Warning{Variable: name, Profile: d.Name, Suggestion: near, Reason: "is not a variable of any profile"}, true
		}
	}
	return Warning{}, false
}

// closest is the candidate with the smallest edit distance to name, if it is at most most. Case is not counted.
func closest(name string, candidates []string, most int) (string, bool) {
	best, at := "", most+1
	for _, candidate := range candidates {
		if d := distance(strings.ToUpper(name), strings.ToUpper(candidate), at); d < at {
			best, at = candidate, d
		}
	}
	return best, best != ""
}

// distance is the Levenshtein distance of two texts in bytes; anything from bound on may be reported as bound.
func distance(a, b string, bound int) int {
	if abs := len(a) - len(b); abs >= bound || -abs >= bound {
		return bound
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = min(diagonal, row[j], row[j+1]) + 1
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
