package importgraph_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// impureImports are packages with the world behind them: files, environment, network, chance, clocks.
var impureImports = []string{
	"crypto/rand", "io/ioutil", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http", "net/rpc", "net/smtp",
	"os", "os/exec", "os/signal", "os/user", "plugin", "syscall", "unsafe", "k8s.io/utils/clock",
	"k8s.io/apimachinery/pkg/util/wait", "k8s.io/klog/v2",
}

// clockReads are the functions that look at the clock or wait for it, by the import path of their package. The deadlines of
// package context are not among them: a context in a signature says already that the answer may depend on more than the input.
var clockReads = map[string][]string{
	"time": {
		"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until",
	},
	"k8s.io/apimachinery/pkg/apis/meta/v1": {"Now", "NowMicro"},
}

func TestPureAreasTouchNothing(t *testing.T) {
	tree := loadTree(t)
	for _, a := range areas {
		if !a.pure {
			continue
		}
		for _, p := range tree.in(a.dir) {
			for _, name := range slices.Concat(p.GoFiles, p.CgoFiles, p.IgnoredGoFiles) {
				if strings.HasSuffix(name, "_test.go") {
					continue
				}
				for _, fault := range impurities(t, filepath.Join(p.Dir, name), nil) {
					t.Errorf("%s/%s", relative(p.ImportPath), fault)
				}
			}
		}
	}
}

// impurities lists what a pure source must not have, as "file:line: what". The text is read from the file when src is nil.
func impurities(t *testing.T, file string, src any) []string {
	t.Helper()
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	report := func(n ast.Node, format string, args ...any) {
		at := fmt.Sprintf("%s:%d: ", filepath.Base(file), fset.Position(n.Pos()).Line)
		found = append(found, at+fmt.Sprintf(format, args...))
	}
	names := imports(parsed, report)
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			report(n, "starts a goroutine")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && slices.Contains(clockReads[names[x.Name]], n.Sel.Name) {
				report(n, "reads the clock: %s.%s", names[x.Name], n.Sel.Name)
			}
		}
		return true
	})
	return found
}

// imports gives the path behind each package name of a file, and reports the imports that are not pure.
func imports(file *ast.File, report func(ast.Node, string, ...any)) map[string]string {
	names := map[string]string{}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			report(spec, "import %s: %v", spec.Path.Value, err)
			continue
		}
		name := imported[strings.LastIndex(imported, "/")+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = imported
		if slices.Contains(impureImports, imported) {
			report(spec, "imports %s", imported)
		}
		if _, reads := clockReads[imported]; reads && name == "." {
			report(spec, "imports %s without a name", imported)
		}
	}
	return names
}

func TestImpuritiesAreFound(t *testing.T) {
	for sentence, c := range map[string]struct {
		src  string
		want []string
	}{
		"a clean file has none": {
			src: "package p\nimport \"time\"\nfunc F(t time.Time) time.Time { return t.Add(time.Hour) }",
		},
		"a call of the clock": {
			src:  "package p\nimport \"time\"\nvar t = time.Now()",
			want: []string{"p.go:3: reads the clock: time.Now"},
		},
		"a clock that is taken as a value": {
			src:  "package p\nimport \"time\"\nvar now = time.Now",
			want: []string{"p.go:3: reads the clock: time.Now"},
		},
		"a clock under another name": {
			src:  "package p\nimport clock \"time\"\nvar t = clock.Since(clock.Time{})",
			want: []string{"p.go:3: reads the clock: time.Since"},
		},
		"a clock without a name": {
			src:  "package p\nimport . \"time\"\nvar t = Now()",
			want: []string{"p.go:2: imports time without a name"},
		},
		"the clock of apimachinery": {
			src:  "package p\nimport metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\nvar t = metav1.Now()",
			want: []string{"p.go:3: reads the clock: k8s.io/apimachinery/pkg/apis/meta/v1.Now"},
		},
		"a method of the same name is no clock": {
			src: "package p\ntype c struct{}\nfunc (c) Now() int { return 0 }\nvar x = c{}.Now()",
		},
		"a goroutine": {
			src:  "package p\nfunc f() {\n\tgo f()\n}",
			want: []string{"p.go:3: starts a goroutine"},
		},
		"environment and chance": {
			src:  "package p\nimport (\n\t\"os\"\n\t\"math/rand/v2\"\n)\nvar x, y = os.Args, rand.Int()",
			want: []string{"p.go:3: imports os", "p.go:4: imports math/rand/v2"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(c.want, impurities(t, "p.go", c.src)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
