package inputgen

import "fmt"

// celFields renders, for each object, its fields with their CEL type and a
// getter that reads the Go struct without reflection.
func celFields(s *source, types []Type) {
	s.line("%spackage cel\n", header)
	s.line("import (\n\"github.com/google/cel-go/common/types\"\n\n\"github.com/bursar-dev/bursar/policy\"\n)\n")
	for _, t := range types[1:] {
		s.line("var %sType = types.NewObjectType(%q)\n", lower(t.Name), "bursar."+t.Name)
		s.line("var %sFields = map[string]field{", lower(t.Name))
		for _, f := range t.Fields {
			s.line("%q: {%s, func(v any) any { return %s }},", f.Name, celType(f), celGetter(t, f))
		}
		s.line("}\n")
	}
	s.line("// objects lists the types of the document by name.")
	s.line("var objects = map[string]object{")
	for _, t := range types[1:] {
		s.line("%q: {%sType, %sFields},", "bursar."+t.Name, lower(t.Name), lower(t.Name))
	}
	s.line("}\n")
	s.line("// typeOf names the type of a pointer into the document.")
	s.line("func typeOf(v any) (object, bool) {\nswitch v.(type) {")
	for _, t := range types[1:] {
		s.line("case *policy.%s:\nreturn object{%sType, %sFields}, true", t.Name, lower(t.Name), lower(t.Name))
	}
	s.line("}\nreturn object{}, false\n}\n")
	celRoots(s, types[0])
	celSizes(s, types[0], byName(types))
}

func celType(f Field) string {
	switch f.Kind {
	case String:
		return "types.StringType"
	case Int:
		return "types.IntType"
	case Bool:
		return "types.BoolType"
	case Time:
		return "types.TimestampType"
	case Object:
		return lower(f.Ref) + "Type"
	case Objects:
		return "types.NewListType(" + lower(f.Ref) + "Type)"
	case Strings:
		return "types.NewListType(types.StringType)"
	case StringMap:
		return "types.NewMapType(types.StringType, types.StringType)"
	default:
		return "types.NewMapType(types.StringType, " + lower(f.Ref) + "Type)"
	}
}

func celGetter(t Type, f Field) string {
	of := fmt.Sprintf("v.(*policy.%s).%s", t.Name, f.Go)
	switch f.Kind {
	case String:
		return "types.String(" + of + ")"
	case Int:
		return "types.Int(" + of + ")"
	case Bool:
		return "types.Bool(" + of + ")"
	case Object:
		return "&" + of
	case ObjectMap:
		return lower(f.Ref) + "Map(" + of + ")"
	default:
		return of
	}
}

// celRoots renders the types of the variables and the switch that resolves
// them.
func celRoots(s *source, root Type) {
	s.line("var rootTypes = map[string]*types.Type{")
	for _, f := range root.Fields {
		s.line("%q: %s,", f.Name, celType(f))
	}
	s.line("}\n")
	s.line("// root resolves one variable of the document.")
	s.line("func (a *activation) root(name string) (any, bool) {\nv := a.in\nswitch name {")
	for _, f := range root.Fields {
		s.line("case %q:\nreturn %s, true", f.Name, celRootValue(f))
	}
	s.line("}\nreturn nil, false\n}\n")
}

func celRootValue(f Field) string {
	of := "v." + f.Go
	switch f.Kind {
	case String:
		return "types.String(" + of + ")"
	case Int:
		return "types.Int(" + of + ")"
	case Time:
		return "types.Timestamp{Time: " + of + "}"
	case Object:
		return "&" + of
	case Objects:
		return lower(f.Ref) + "List(" + of + ")"
	default:
		return of
	}
}

// celSizes renders the bound on each path whose size the cost depends on.
func celSizes(s *source, root Type, types map[string]Type) {
	s.line("// sizes bounds what the document may hold at each path: bytes of a string, members of a list or map.")
	s.line("var sizes = map[string]uint64{")
	var walk func(t Type, at string)
	walk = func(t Type, at string) {
		for _, f := range t.Fields {
			here := at + f.Name
			switch f.Kind {
			case Int, Bool, Time:
			case String:
				s.line("%q: policy.MaxString,", here)
			case Object:
				walk(types[f.Ref], here+".")
			case Objects:
				s.line("%q: %d,", here, f.Max)
				walk(types[f.Ref], here+".@items.")
			case Strings:
				s.line("%q: %d,\n%q: policy.MaxString,", here, f.Max, here+".@items")
			case StringMap:
				s.line("%q: %d,\n%q: policy.MaxString,\n%q: policy.MaxString,", here, f.Max, here+".@keys", here+".@values")
			case ObjectMap:
				s.line("%q: %d,\n%q: policy.MaxString,", here, f.Max, here+".@keys")
				walk(types[f.Ref], here+".@values.")
			}
		}
	}
	walk(root, "")
	s.line("}")
}
