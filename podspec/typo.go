package podspec

import (
	"slices"
	"strings"

	"github.com/bursar-dev/bursar/internal/spelling"
)

// maxTypo is the edit distance up to which a name counts as a slip of another.
const maxTypo = 3

// misspelt finds variables that no profile reads although they look like one that a profile reads: they start with its
// prefix and go on much alike, or differ by one or two letters. Other variables under a prefix are none of its business: a
// Service of that name brings many. The longest prefix that fits owns a variable.
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
		if strings.HasPrefix(name, d.prefix()+"_") && (owner.Name == "" || len(d.prefix()) > len(owner.prefix())) {
			owner = d
		}
	}
	if owner.Name != "" {
		suggestion := meant(name, owner)
		return Warning{Variable: name, Profile: owner.Name, Suggestion: suggestion, Reason: "is not a variable of profile " + owner.Name}, suggestion != ""
	}
	for _, d := range declarations {
		if len(d.prefix()) <= maxTypo {
			continue // a slip of two letters would leave nothing of the prefix
		}
		if near, ok := spelling.Nearest(name, d.Variables(), maxTypo-1); ok {
			return Warning{Variable: name, Profile: d.Name, Suggestion: near, Reason: "is not a variable of any profile"}, true
		}
	}
	return Warning{}, false
}

// meant is the variable of a profile that a name under its prefix probably stands for: the one that it shares most words
// with, and of several the nearest by letters. Without a common word only a slip of few letters counts. Empty for none.
func meant(name string, owner Declaration) string {
	prefix := owner.prefix() + "_"
	slip := strings.ToUpper(strings.TrimPrefix(name, prefix))
	best, words, letters := "", 0, min(maxTypo+1, len(slip))
	for _, variable := range owner.Variables() {
		candidate := strings.TrimPrefix(variable, prefix)
		common, apart := commonWords(slip, candidate), spelling.Distance(slip, candidate)
		if common > words || common == words && apart < letters {
			best, words, letters = variable, common, apart
		}
	}
	return best
}

// commonWords counts the words of one name that another one has: whole, shortened, or by another name.
func commonWords(slip, candidate string) int {
	count := 0
	for word := range strings.SplitSeq(slip, "_") {
		if other, ok := synonyms[word]; ok {
			word = other
		}
		if slices.ContainsFunc(strings.Split(candidate, "_"), func(known string) bool { return sameWord(word, known) }) {
			count++
		}
	}
	return count
}

// sameWord says whether two words are one, or one is the other shortened to three letters or more.
func sameWord(a, b string) bool {
	return a == b || len(a) > 2 && strings.HasPrefix(b, a) || len(b) > 2 && strings.HasPrefix(a, b)
}

// synonyms are other words for those in the names of variables. Nobody writes to it.
var synonyms = map[string]string{"RAM": "MEMORY", "DISK": "STORAGE", "CORES": "CPU", "CORE": "CPU", "VCPU": "CPU", "VCPUS": "CPU", "MIB": "MB", "MI": "MB", "M": "MB"}

// slipSuffixes are the variables that people write without there being such ones, and that can mean nothing but a size.
var slipSuffixes = [...]string{
	"_CPUS", "_CORES", "_CPU_CORES", "_CPU_LIMIT", "_CPU_REQUEST", "_CPU_MILLI", "_MEM", "_MEM_MB", "_MEM_MIB", "_RAM", "_RAM_MB", "_MEMORYMB",
	"_MEMORY_M", "_MEMORY_MI", "_MEMORY_MIB", "_MEMORY_GB", "_MEMORY_GI", "_MEMORY_LIMIT", "_MEMORY_REQUEST", "_STORAGE_MB", "_DISK_MB",
	"_EPHEMERAL_STORAGE", "_EPHEMERAL_STORAGE_MIB", "_EPHEMERAL_MB", "_GPUS", "_GPU_COUNT",
}

// usualSlips are those of them that are there and say something.
func usualSlips(declarations []Declaration, lookup func(string) (string, bool)) []string {
	var names []string
	for _, d := range declarations {
		for _, suffix := range slipSuffixes {
			if value, found := lookup(d.prefix() + suffix); found && strings.TrimSpace(value) != "" {
				names = append(names, d.prefix()+suffix)
			}
		}
	}
	return names
}
