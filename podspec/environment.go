package podspec

import (
	"fmt"
	"slices"
	"strings"
)

// Environment reads profiles from variables that the caller looks up; the package itself reads no environment.
type Environment struct {
	// Lookup gives the value of a variable, and whether there is one, as os.LookupEnv does. A value that is empty or white
	// space counts as undeclared. Required.
	Lookup func(name string) (value string, found bool)
	// Declarations are the profiles; nil stands for DefaultDeclarations.
	Declarations []Declaration
	// Rules say how amounts are read.
	Rules Rules
	// Names are all variables that exist, or nil where that is not known. They are only used to find misspelt ones; without
	// them only the usual slips are looked for.
	Names []string
}

// Warning is a variable that looks like one of a profile and is none.
type Warning struct {
	// Variable is its name.
	Variable string
	// Profile is the profile that it seems to belong to.
	Profile string
	// Suggestion is the variable that was probably meant; empty if none is near.
	Suggestion string
	// Reason is what is wrong, in a sentence without its subject.
	Reason string
}

// String is the warning on one line.
func (w Warning) String() string {
	if w.Suggestion == "" {
		return w.Variable + " " + w.Reason
	}
	return w.Variable + " " + w.Reason + "; did you mean " + w.Suggestion + "?"
}

// EnvironmentOf is an environment as os.Environ lists it ("NAME=value"). It knows all names, so that every slip in them is
// found. Of two entries of one name the first counts, as it does to os.Getenv.
func EnvironmentOf(environ []string, declarations ...Declaration) Environment {
	values, names := make(map[string]string, len(environ)), make([]string, 0, len(environ))
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if _, twice := values[name]; !twice {
			values[name], names = value, append(names, name)
		}
	}
	lookup := func(name string) (string, bool) { value, found := values[name]; return value, found }
	return Environment{Lookup: lookup, Declarations: declarations, Names: names}
}

// ProfilesFromEnv reads profiles by the default rules, the two [DefaultDeclarations] if none are given. All bad variables
// are reported at once. Pass os.LookupEnv in a program and a map's lookup in a test.
//
// A lookup cannot list what there is, so only the usual slips are found, such as RUNTIME_BOT_MEM where RUNTIME_BOT_MEMORY is
// meant; each is an ErrProfile that names the variable that was probably meant, since a size would be missing without a word.
// [EnvironmentOf] finds every slip, and gives warnings.
func ProfilesFromEnv(lookup func(string) (string, bool), declarations ...Declaration) (Profiles, error) {
	profiles, slips, _, err := Environment{Lookup: lookup, Declarations: declarations}.read()
	var found faults
	found.add(err)
	for _, slip := range slips {
		found.add(fmt.Errorf("%w: %s", ErrProfile, slip))
	}
	if err := found.err(); err != nil {
		return nil, err
	}
	return profiles, nil
}

// Profiles reads all declared profiles. A profile of which nothing is set is there with an empty size. The error reports
// every bad variable; warnings are given with and without an error, sorted by variable. Without Names only the usual slips
// are among them.
func (e Environment) Profiles() (Profiles, []Warning, error) {
	profiles, slips, idle, err := e.read()
	warnings := slices.Concat(slips, idle)
	slices.SortFunc(warnings, func(a, b Warning) int { return strings.Compare(a.Variable, b.Variable) })
	if err != nil {
		return nil, warnings, err
	}
	return profiles, warnings, nil
}

// read gives the profiles, variables that no profile reads, and such that say nothing.
func (e Environment) read() (profiles Profiles, slips, idle []Warning, err error) {
	declarations := e.Declarations
	if len(declarations) == 0 {
		declarations = DefaultDeclarations()
	}
	var found faults
	declarations, err = check(declarations)
	found.add(err)
	if e.Lookup == nil {
		found.add(fmt.Errorf("%w: Environment.Lookup is nil", ErrOption))
		return nil, nil, nil, found.err()
	}
	profiles = make(Profiles, len(declarations))
	for _, declaration := range declarations {
		size, err := declaration.read(e.Rules, e.Lookup)
		found.add(err)
		profiles[declaration.Name] = size
	}
	names := e.Names
	if names == nil {
		names = usualSlips(declarations, e.Lookup)
	}
	return profiles, misspelt(names, declarations), e.idle(declarations), found.err()
}

// idle warns of a device name without a count: it asks for nothing.
func (e Environment) idle(declarations []Declaration) []Warning {
	var warnings []Warning
	for _, d := range declarations {
		name, count := d.prefix()+suffixGPUResource, d.prefix()+suffixGPU
		resource, _ := e.Lookup(name)
		number, _ := e.Lookup(count)
		if strings.TrimSpace(resource) != "" && strings.TrimSpace(number) == "" {
			warnings = append(warnings, Warning{Variable: name, Profile: d.Name, Suggestion: count, Reason: "names a device and none is asked for"})
		}
	}
	return warnings
}
