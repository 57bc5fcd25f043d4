package inputgen

import "strings"

// regoTerms renders one builder per object: keys are interned terms, numbers
// are written as integers, and nothing passes through JSON.
func regoTerms(s *source, types []Type) {
	s.line("%spackage rego\n", header)
	s.line("import (\n\"github.com/open-policy-agent/opa/v1/ast\"\n\n\"github.com/bursar-dev/bursar/policy\"\n)\n")
	s.line("var (")
	seen := map[string]bool{}
	for _, t := range types {
		for _, f := range t.Fields {
			if !seen[f.Name] {
				seen[f.Name] = true
				s.line("%s = ast.InternedTerm(%q)", keyVar(f), f.Name)
			}
		}
	}
	s.line(")\n")
	for _, t := range types[1:] {
		s.line("func %sTerm(v *policy.%s%s) *ast.Term {\nreturn ast.ObjectTerm(", lower(t.Name), t.Name, children(t))
		for _, f := range t.Fields {
			s.line("ast.Item(%s, %s),", keyVar(f), regoTerm(f))
		}
		s.line(")\n}\n")
	}
}

// children are parameters for the terms of nested objects, so that the caller
// may use those that it has already.
func children(t Type) string {
	var names []string
	for _, f := range t.Fields {
		if f.Kind == Object || f.Kind == ObjectMap {
			names = append(names, f.Name)
		}
	}
	if names == nil {
		return ""
	}
	return ", " + strings.Join(names, ", ") + " *ast.Term"
}

func keyVar(f Field) string { return "key" + f.Go }

func regoTerm(f Field) string {
	of := "v." + f.Go
	switch f.Kind {
	case String:
		return "ast.StringTerm(" + of + ")"
	case Int:
		return "intTerm(" + of + ")"
	case Bool:
		return "ast.InternedTerm(" + of + ")"
	case Strings:
		return "stringsTerm(" + of + ")"
	case StringMap:
		return "stringMapTerm(" + of + ")"
	default:
		return f.Name // a parameter
	}
}
