package inputgen

import "strconv"

func goStructs(s *source, types []Type) {
	s.line("%spackage policy\n\nimport \"time\"\n", header)
	for _, t := range types {
		s.line("// %s %s", t.Name, t.Doc)
		s.line("type %s struct {", t.Name)
		for _, f := range t.Fields {
			s.line("// %s", f.Doc)
			if f.Derived {
				s.line("// Complete fills it.")
			}
			s.line("%s %s `json:%q`", f.Go, goType(f), f.Name)
		}
		s.line("}\n")
	}
}

func goType(f Field) string {
	switch f.Kind {
	case String:
		if f.Go == "Operation" {
			return "Operation"
		}
		return "string"
	case Int:
		return "int64"
	case Bool:
		return "bool"
	case Time:
		return "time.Time"
	case Objects:
		return "[]" + f.Ref
	case Strings:
		return "[]string"
	case StringMap:
		return "map[string]string"
	case ObjectMap:
		return "map[string]" + f.Ref
	default:
		return f.Ref
	}
}

// goChecks renders one check method per object. A check answers the first
// fault it finds; derived figures are checked by hand-written code.
func goChecks(s *source, types []Type) {
	s.line("%spackage policy\n", header)
	s.line("// The bounds on the document. They are also what the worst cost of a CEL rule is computed from.")
	s.line("const (\n// MaxString bounds every string and key, in bytes.\nMaxString = %d", MaxString)
	for _, t := range types {
		for _, f := range t.Fields {
			if f.Max > 0 {
				s.line("// Max%s bounds %s, in members.\nMax%s = %d", maxName(t, f), f.Name, maxName(t, f), f.Max)
			}
		}
	}
	s.line(")\n")
	for _, t := range types {
		s.line("func (v *%s) check() *fault {", t.Name)
		for _, f := range t.Fields {
			goCheck(s, t, f)
		}
		if derives(t) {
			s.line("return v.checkDerived()\n}\n")
		} else {
			s.line("return nil\n}\n")
		}
	}
}

func derives(t Type) bool {
	for _, f := range t.Fields {
		if f.Derived || f.Kind == Time || f.Enum != nil {
			return true
		}
	}
	return false
}

func maxName(t Type, f Field) string {
	if t.Name == "Input" {
		return f.Go
	}
	return t.Name + f.Go
}

func goCheck(s *source, t Type, f Field) {
	at, bound := strconv.Quote(f.Name), "Max"+maxName(t, f)
	switch f.Kind {
	case Bool, Time:
	case String:
		value := "v." + f.Go
		if f.Go == "Operation" {
			value = "string(" + value + ")"
		}
		s.line("if f := checkString(%s, %s); f != nil { return f }", value, at)
	case Int:
		if !f.Signed {
			s.line("if v.%s < 0 { return negative(%s, v.%s) }", f.Go, at, f.Go)
		}
	case Object:
		s.line("if f := v.%s.check(); f != nil { return f.under(%s) }", f.Go, at)
	case Objects:
		s.line("if len(v.%s) > %s { return tooMany(%s, len(v.%s), %s) }", f.Go, bound, at, f.Go, bound)
		s.line("for i := range v.%s {\nif f := v.%s[i].check(); f != nil { return f.item(%s, i) }\n}", f.Go, f.Go, at)
	case Strings:
		s.line("if f := checkStrings(v.%s, %s, %s); f != nil { return f }", f.Go, at, bound)
	case StringMap:
		s.line("if f := checkMap(v.%s, %s, %s); f != nil { return f }", f.Go, at, bound)
	case ObjectMap:
		s.line("if len(v.%s) > %s { return tooMany(%s, len(v.%s), %s) }", f.Go, bound, at, f.Go, bound)
		s.line("for k, m := range v.%s {\nif f := checkString(k, %s); f != nil { return f }\nif f := m.check(); f != nil { return f.key(%s, k) }\n}", f.Go, at, at)
	}
}
