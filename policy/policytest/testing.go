package policytest

import (
	"io/fs"
	"testing"
)

// Run runs every suite in a file system as subtests: file, policy, case.
func Run(t *testing.T, fsys fs.FS, loaders Loaders) {
	t.Helper()
	report, err := Check(t.Context(), fsys, loaders)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range report.Suites {
		t.Run(s.File, func(t *testing.T) {
			if s.Fault != "" {
				t.Error(s.Fault)
			}
			for _, p := range s.Policies {
				t.Run(p.File, p.run)
			}
		})
	}
}

func (p PolicyResult) run(t *testing.T) {
	if p.Fault != "" {
		t.Error(p.Fault)
	}
	for _, c := range p.Cases {
		t.Run(c.Name, func(t *testing.T) {
			for _, line := range c.Diff {
				t.Error(line)
			}
			if !c.Passed() {
				t.Log("\n" + c.Explanation)
			}
		})
	}
}
