package rego

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bursar-dev/bursar/internal/spelling"
	"github.com/bursar-dev/bursar/policy"
)

// checkParsed refuses what can be seen before modules are compiled: packages
// outside of bursar, patterns and formats that are no literals.
func (l *loader) checkParsed() policy.LoadErrors {
	var faults policy.LoadErrors
	rules := 0
	for _, file := range slices.Sorted(maps.Keys(l.modules)) {
		m := l.modules[file]
		if p := m.Package.Path; len(p) < 3 || !p[1].Equal(ast.StringTerm("bursar")) {
			faults = append(faults, at(m.Package.Loc(), "package %s: must be under bursar, as in bursar.models", packageName(m.Package)))
		}
		if rules += len(m.Rules); rules > maxRules {
			return append(faults, at(m.Package.Loc(), "more than %d rules in all modules", maxRules))
		}
		ast.WalkTerms(m, func(t *ast.Term) bool {
			if call, ok := t.Value.(ast.Call); ok {
				faults = append(faults, checkCall(call[0].Value, call[1:], t.Location)...)
			}
			return false
		})
		ast.WalkExprs(m, func(e *ast.Expr) bool {
			if terms, ok := e.Terms.([]*ast.Term); ok && e.IsCall() {
				faults = append(faults, checkCall(terms[0].Value, terms[1:], e.Location)...)
			}
			return false
		})
	}
	return faults
}

// width finds a format with a width or precision of three digits or from an
// argument: a few bytes of format that make text of any length.
var width = regexp.MustCompile(`%[^a-zA-Z%]*(\*|\d{3})`)

// checkCall refuses patterns and formats that are not written in the policy.
func checkCall(operator ast.Value, args []*ast.Term, where *ast.Location) policy.LoadErrors {
	name := operator.String()
	switch name {
	case "regex.match", "glob.match", "sprintf":
	default:
		return nil
	}
	if len(args) == 0 {
		return nil
	}
	text, ok := args[0].Value.(ast.String)
	if !ok {
		return policy.LoadErrors{at(where, "%s: the first argument must be a literal", name)}
	}
	if name == "sprintf" && width.MatchString(string(text)) {
		return policy.LoadErrors{at(where, "sprintf: a width or precision may have two digits")}
	}
	return nil
}

// checkCompiled finds the entries and checks their rules, parameters and
// references.
func (l *loader) checkCompiled() policy.LoadErrors {
	byPackage, faults := l.findEntries()
	if len(l.entries) == 0 && len(faults) == 0 {
		faults = l.noEntries()
	}
	for _, e := range l.entries {
		faults = append(faults, l.checkEntry(e)...)
	}
	if len(faults) == 0 { // otherwise these would only repeat it
		faults = append(l.checkUse(), l.checkReferences(byPackage)...)
		faults = append(faults, l.checkOrder(byPackage)...)
		faults = append(append(faults, l.checkValues()...), l.checkOpen()...)
	}
	for name := range l.options.Params {
		if !slices.ContainsFunc(l.entries, func(e *entry) bool { return e.name == name }) {
			faults = append(faults, policy.LoadError{Text: fmt.Sprintf("parameters for policy %s: there is no such policy", name)})
		}
	}
	return faults
}

// noEntries says why there is no policy: no set at all, or a misspelt one.
func (l *loader) noEntries() policy.LoadErrors {
	var faults policy.LoadErrors
	for _, file := range slices.Sorted(maps.Keys(l.modules)) {
		for _, rule := range l.modules[file].Rules {
			name := rule.Head.Ref()[0].Value.String()
			if hint := spelling.DidYouMean(name, setNames); hint != "" {
				faults = append(faults, at(rule.Loc(), "%s is none of the sets %s%s", name, strings.Join(setNames, ", "), hint))
			}
		}
	}
	if len(faults) > 0 {
		return faults
	}
	return policy.LoadErrors{{Text: "no package defines any of the sets " + strings.Join(setNames, ", ")}}
}

// findEntries lists the packages that define a set, by their paths.
func (l *loader) findEntries() (map[string]*entry, policy.LoadErrors) {
	var faults policy.LoadErrors
	byPackage := map[string]*entry{}
	for _, file := range slices.Sorted(maps.Keys(l.compiler.Modules)) {
		m := l.compiler.Modules[file]
		for _, rule := range m.Rules {
			set, fault := setOf(rule)
			if fault != nil {
				faults = append(faults, *fault)
			}
			if set == "" {
				continue
			}
			e := byPackage[m.Package.Path.String()]
			if e == nil {
				e = &entry{name: hookName(m.Package), pkg: m.Package}
				byPackage[m.Package.Path.String()] = e
				l.entries = append(l.entries, e)
			}
			if !slices.Contains(e.sets, set) {
				e.sets = append(e.sets, set)
			}
		}
	}
	return byPackage, faults
}

// setOf names the set that a rule adds to, and says what is wrong with a rule
// that looks like one.
func setOf(rule *ast.Rule) (string, *policy.LoadError) {
	ref := rule.Head.Ref()
	head, _ := ref[0].Value.(ast.Var) // the parser lets nothing else begin a rule
	name := string(head)
	if name == "allow" {
		fault := at(rule.Loc(), "allow: a policy can only restrict; write deny contains … instead")
		return "", &fault
	}
	if !slices.Contains(setNames, name) {
		return "", nil
	}
	if len(ref) > 1 || rule.Head.RuleKind() != ast.MultiValue || len(rule.Head.Args) > 0 {
		fault := at(rule.Loc(), "%s must be a set: write %s contains … if { … }", name, name)
		return name, &fault
	}
	return name, nil
}

// hookName is the package's path without data.bursar.
func hookName(p *ast.Package) string {
	var parts []string
	for _, t := range p.Path[2:] {
		if s, ok := t.Value.(ast.String); ok {
			parts = append(parts, strings.ReplaceAll(string(s), "_", "-"))
		}
	}
	return strings.Join(parts, "-")
}

func packageName(p *ast.Package) string { return strings.TrimPrefix(p.Path.String(), "data.") }

// checkEntry checks the name and binds the parameters of a policy.
func (l *loader) checkEntry(e *entry) policy.LoadErrors {
	var faults policy.LoadErrors
	slices.Sort(e.sets)
	if !policy.ValidCode(e.name) {
		faults = append(faults, at(e.pkg.Loc(), "policy %q: want 1 to 63 of a-z, 0-9, - and _", e.name))
	}
	var err error
	if e.declared, err = l.declaredParams(e.pkg); err != nil {
		return append(faults, at(e.pkg.Loc(), "params: %v", err))
	}
	if e.params, err = policy.BindParams(e.declared, l.options.Params[e.name]); err != nil {
		faults = append(faults, at(e.pkg.Loc(), "%v", err))
	}
	return faults
}

// declaredParams reads the parameters in the metadata of a package.
func (l *loader) declaredParams(pkg *ast.Package) (map[string]policy.Param, error) {
	declared := map[string]policy.Param{}
	for _, m := range l.compiler.Modules {
		if !m.Package.Path.Equal(pkg.Path) {
			continue
		}
		for _, a := range m.Annotations {
			if a.Scope != "package" || a.Custom["params"] == nil {
				continue
			}
			text, err := json.Marshal(a.Custom["params"])
			if err != nil {
				return nil, err
			}
			decoder := json.NewDecoder(strings.NewReader(string(text)))
			decoder.UseNumber()
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(&declared); err != nil {
				return nil, err
			}
		}
	}
	return declared, nil
}

// checkUse finds rules of a policy's package that no set depends on: a set
// whose name is misspelt looks like this.
func (l *loader) checkUse() policy.LoadErrors {
	used := map[*ast.Rule]bool{}
	var visit func(rule *ast.Rule)
	visit = func(rule *ast.Rule) {
		if used[rule] {
			return
		}
		used[rule] = true
		for dependency := range l.compiler.Graph.Dependencies(rule) {
			if r, ok := dependency.(*ast.Rule); ok {
				visit(r)
			}
		}
	}
	entries := map[string]bool{}
	for _, e := range l.entries {
		entries[e.pkg.Path.String()] = true
		for _, set := range e.sets {
			for _, rule := range l.compiler.GetRules(e.pkg.Path.Append(ast.StringTerm(set))) {
				visit(rule)
			}
		}
	}
	var faults policy.LoadErrors
	for _, file := range slices.Sorted(maps.Keys(l.compiler.Modules)) {
		m := l.compiler.Modules[file]
		for _, rule := range m.Rules {
			if entries[m.Package.Path.String()] && !used[rule] {
				faults = append(faults, at(rule.Loc(), "rule %s is used by none of the sets %s%s", rule.Head.Ref(), strings.Join(setNames, ", "), spelling.DidYouMean(rule.Head.Ref()[0].Value.String(), setNames)))
			}
		}
	}
	return faults
}

// checkReferences refuses references to data that no rule and no parameter
// gives: they would be undefined for ever.
func (l *loader) checkReferences(entries map[string]*entry) policy.LoadErrors {
	var faults policy.LoadErrors
	for _, file := range slices.Sorted(maps.Keys(l.compiler.Modules)) {
		m := l.compiler.Modules[file]
		own := entries[m.Package.Path.String()]
		ast.WalkRefs(m, func(ref ast.Ref) bool {
			if !ref[0].Equal(ast.DefaultRootDocument) || ref.HasPrefix(m.Package.Path) && len(ref) == len(m.Package.Path) {
				return false
			}
			if !l.resolves(ref, own) {
				faults = append(faults, at(ref[0].Location, "%s: there is no such rule or parameter%s", ref, adviceOn(ref)))
			}
			return false
		})
	}
	return faults
}

// resolves says that a reference to data names a parameter of the policy or a
// rule.
func (l *loader) resolves(ref ast.Ref, own *entry) bool {
	ground := ref.GroundPrefix()
	if len(ground) >= 2 && ground[1].Equal(ast.StringTerm("params")) {
		if own == nil || len(ground) < 3 {
			return false
		}
		name, ok := ground[2].Value.(ast.String)
		_, declared := own.declared[string(name)]
		return ok && declared
	}
	for _, m := range l.compiler.Modules { // an import of a whole package
		if m.Package.Path.Equal(ground) {
			return true
		}
	}
	return len(ground) > 2 && len(l.compiler.GetRules(ground)) > 0
}
