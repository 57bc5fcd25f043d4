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
	// Names are all variables that exist, or nil where that is not known. They are only used to find misspelt ones.
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

// ProfilesFromEnv reads profiles by the default rules, the two [DefaultDeclarations] if none are given. All bad variables
// are reported at once. Pass os.LookupEnv in a program and a map's lookup in a test.
func ProfilesFromEnv(lookup func(string) (string, bool), declarations ...Declaration) (Profiles, error) {
	profiles, _, err := Environment{Lookup: lookup, Declarations: declarations}.Profiles()
	return profiles, err
}

// Profiles reads all declared profiles. A profile of which nothing is set is there with an empty size. The error reports
// every bad variable; warnings are given with and without an error, sorted by variable.
func (e Environment) Profiles() (Profiles, []Warning, error) {
	declarations := e.Declarations
	if len(declarations) == 0 {
		declarations = DefaultDeclarations()
	}
	if e.Lookup == nil {
		return nil, nil, fmt.Errorf("%w: Environment.Lookup is nil", ErrOption)
	}
	if err := check(declarations); err != nil {
		return nil, nil, err
	}
	var found faults
	profiles := make(Profiles, len(declarations))
	for _, declaration := range declarations {
		size, err := declaration.read(e.Rules, e.Lookup)
		found.add(err)
		profiles[declaration.Name] = size
	}
	warnings := append(misspelt(e.Names, declarations), e.idle(declarations)...)
	slices.SortFunc(warnings, func(a, b Warning) int { return strings.Compare(a.Variable, b.Variable) })
	if err := found.err(); err != nil {
		return nil, warnings, err
	}
	return profiles, warnings, nil
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
