package policytest

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/bursar-dev/bursar/internal/strictyaml"
	"github.com/bursar-dev/bursar/policy"
)

// Suite is one file of cases.
type Suite struct {
	// Description for people; not used.
	Description string `json:"description,omitempty"`
	// Policies that every case is run against: paths from the file's folder.
	Policies []string `json:"policies"`
	// Params that the policies are loaded with.
	Params map[string]any `json:"params,omitempty"`
	// Base is applied to every case before its own Set.
	Base map[string]any `json:"base,omitempty"`
	// RequireCoverage fails the suite if a rule matched in no case, or in every.
	RequireCoverage bool `json:"requireCoverage,omitempty"`
	// Cases, at least one, with names that differ.
	Cases []Case `json:"cases"`
}

// Case is one input and what is expected of it.
type Case struct {
	Name string `json:"name"`
	// Set changes the base input.
	Set map[string]any `json:"set,omitempty"`
	// Want is what is expected; nil expects Allow and nothing said.
	Want *Want `json:"want,omitempty"`
}

// Want is an expected verdict. What is left out is expected to be empty.
type Want struct {
	Outcome string `json:"outcome"`
	// Codes of the reasons, in any order.
	Codes []string `json:"codes,omitempty"`
	// Messages of the reasons, in any order; not compared if empty.
	Messages []string `json:"messages,omitempty"`
	// Warnings, by code, in any order.
	Warnings []string `json:"warnings,omitempty"`
	// Caps by name.
	Caps map[string]int64 `json:"caps,omitempty"`
	// RetryAfterSeconds of a hold.
	RetryAfterSeconds int64 `json:"retryAfterSeconds,omitempty"`
	// Labels that were set.
	Labels map[string]string `json:"labels,omitempty"`
}

// ErrNoSuites is returned when a folder holds no file of cases.
var ErrNoSuites = errors.New("no file of cases (cases.yaml or *.cases.yaml)")

// find lists the files of cases in a file system.
func find(fsys fs.FS) ([]string, error) {
	var files []string
	err := fs.WalkDir(fsys, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := path.Base(file)
		if !entry.IsDir() && (name == "cases.yaml" || strings.HasSuffix(name, ".cases.yaml")) {
			files = append(files, file)
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = ErrNoSuites
	}
	return files, err
}

// readSuite reads and checks one file of cases.
func readSuite(fsys fs.FS, file string) (*Suite, error) {
	source, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, err
	}
	var s Suite
	doc, err := strictyaml.Decode(file, source, &s)
	if err != nil {
		return nil, err
	}
	var faults policy.LoadErrors
	fail := func(path, format string, args ...any) {
		e := doc.At(path)
		e.Text = fmt.Sprintf(format, args...)
		faults = append(faults, e)
	}
	if len(s.Policies) == 0 {
		fail("policies", "there are no policies")
	}
	if len(s.Cases) == 0 {
		fail("cases", "there are no cases")
	}
	seen := map[string]bool{}
	for i, c := range s.Cases {
		at := fmt.Sprintf("cases[%d]", i)
		if c.Name == "" {
			fail(at, "has no name")
		} else if seen[c.Name] {
			fail(at+".name", "%q is given twice", c.Name)
		}
		seen[c.Name] = true
		if c.Want != nil {
			var o policy.Outcome
			if err := o.UnmarshalText([]byte(c.Want.Outcome)); err != nil {
				fail(at+".want.outcome", "%v", err)
			}
		}
	}
	return &s, faults.Err()
}
