package mutants

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// A Mutant is one fault that is put into a package.
type Mutant struct {
	// Name says in words what the package gets wrong.
	Name string
	// File is the file's name in the package.
	File string
	// Old is the text that is changed. It occurs once in the file, within one function.
	Old string
	// New stands in its place.
	New string
}

// variable is the name of the environment variable, and of the woven package's variable, that say which mutant is awake.
const (
	variable    = "BURSAR_MUTANT"
	switchboard = "awakeMutant"
)

// switchFile is the file that a woven package has more.
const switchFile = "mutant_switch.go"

// switchSource is its text.
func switchSource(pkg string) string {
	return "package " + pkg + "\n\nimport \"os\"\n\nvar " + switchboard + " = os.Getenv(\"" + variable + "\")\n"
}

// Weave puts mutants, all of one file, into its source. Each function that one of them changes first asks whether its
// mutant is awake, and calls the changed copy then. It fails where a change does not apply.
func Weave(source string, mutants []Mutant) (string, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", source, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	guards := map[int]string{}
	var copies strings.Builder
	var faults []error
	for i, m := range mutants {
		at := strings.Index(source, m.Old)
		f := around(fset, file, at, at+len(m.Old))
		if n := strings.Count(source, m.Old); n != 1 {
			faults = append(faults, fmt.Errorf("mutant %q no longer applies: its text occurs %d times in %s", m.Name, n, m.File))
			continue
		}
		if f == nil {
			faults = append(faults, fmt.Errorf("mutant %q does not apply: its text in %s is not within a function", m.Name, m.File))
			continue
		}
		start, name := offset(fset, f.Pos()), offset(fset, f.Name.Pos())
		twin := fmt.Sprintf("%sMutant%d", f.Name.Name, i)
		copies.WriteString("\n" + source[start:name] + twin + source[name+len(f.Name.Name):at] + m.New + source[at+len(m.Old):offset(fset, f.End())] + "\n")
		guards[offset(fset, f.Body.Lbrace)+1] += guard(m.Name, twin, f)
	}
	if err := errors.Join(faults...); err != nil {
		return "", err
	}
	places := make([]int, 0, len(guards))
	for place := range guards {
		places = append(places, place)
	}
	slices.Sort(places)
	for _, place := range slices.Backward(places) {
		source = source[:place] + guards[place] + source[place:]
	}
	return source + copies.String(), nil
}

// around is the function whose body holds a piece of the text.
func around(fset *token.FileSet, file *ast.File, start, end int) *ast.FuncDecl {
	for _, declaration := range file.Decls {
		f, ok := declaration.(*ast.FuncDecl)
		if ok && f.Body != nil && offset(fset, f.Body.Lbrace) < start && end <= offset(fset, f.Body.Rbrace) {
			return f
		}
	}
	return nil
}

func offset(fset *token.FileSet, at token.Pos) int { return fset.Position(at).Offset }

// guard hands the call over to the changed copy when its mutant is awake.
func guard(name, twin string, f *ast.FuncDecl) string {
	call := twin + "(" + strings.Join(arguments(f.Type.Params), ", ") + ")"
	if f.Recv != nil {
		call = arguments(f.Recv)[0] + "." + call
	}
	if f.Type.Results.NumFields() > 0 {
		return fmt.Sprintf("\n\tif %s == %q {\n\t\treturn %s\n\t}\n", switchboard, name, call)
	}
	return fmt.Sprintf("\n\tif %s == %q {\n\t\t%s\n\t\treturn\n\t}\n", switchboard, name, call)
}

// arguments are the names of parameters, as a call hands them on.
func arguments(fields *ast.FieldList) []string {
	var names []string
	for _, field := range fields.List {
		for _, name := range field.Names {
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				names = append(names, name.Name+"...")
				continue
			}
			names = append(names, name.Name)
		}
	}
	return names
}
