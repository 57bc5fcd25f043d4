package policytest

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/bursar-dev/bursar/policy"
)

// Loader makes a policy of a file.
type Loader func(fsys fs.FS, file string, params map[string]any) (policy.Hook, error)

// Loaders by the extension of the file, say ".rego".
type Loaders map[string]Loader

// Check runs every suite in a file system. The error says that suites could
// not be run at all; what failed in them is in the report.
func Check(ctx context.Context, fsys fs.FS, loaders Loaders) (Report, error) {
	files, err := find(fsys)
	if err != nil {
		return Report{}, err
	}
	var report Report
	for _, file := range files {
		report.Suites = append(report.Suites, checkSuite(ctx, fsys, file, loaders))
	}
	return report, nil
}

func checkSuite(ctx context.Context, fsys fs.FS, file string, loaders Loaders) SuiteResult {
	result := SuiteResult{File: file}
	suite, err := readSuite(fsys, file)
	if err != nil {
		result.Fault = err.Error()
		return result
	}
	for _, name := range suite.Policies {
		result.Policies = append(result.Policies, checkPolicy(ctx, fsys, path.Join(path.Dir(file), name), suite, loaders))
	}
	return result
}

func checkPolicy(ctx context.Context, fsys fs.FS, file string, suite *Suite, loaders Loaders) PolicyResult {
	result := PolicyResult{File: file}
	load, ok := loaders[path.Ext(file)]
	if !ok {
		result.Fault = fmt.Sprintf("%s: no engine reads files of this kind", file)
		return result
	}
	hook, err := load(fsys, file, suite.Params)
	if err != nil {
		result.Fault = err.Error()
		return result
	}
	set, err := policy.NewSet(policy.Options{Timeout: caseTimeout}, policy.Binding{Hook: hook})
	if err != nil {
		result.Fault = err.Error()
		return result
	}
	for _, c := range suite.Cases {
		result.Cases = append(result.Cases, checkCase(ctx, set, suite, c, &result))
	}
	if suite.RequireCoverage {
		result.Fault = uncovered(result.Rules)
	}
	return result
}

// caseTimeout is generous: a case tests what a policy says, not how fast a
// busy machine is.
const caseTimeout = 5 * time.Second

func checkCase(ctx context.Context, set *policy.Set, suite *Suite, c Case, result *PolicyResult) CaseResult {
	out := CaseResult{Name: c.Name}
	in, err := Apply(suite.Base, c.Set)
	if err != nil {
		out.Diff = []string{err.Error()}
		return out
	}
	verdict, err := set.Evaluate(ctx, &in)
	if err != nil {
		out.Diff = []string{err.Error()}
		return out
	}
	out.Diff = compare(c.Want, &verdict)
	explanation, err := set.Explain(ctx, &in)
	if err != nil {
		out.Diff = append(out.Diff, err.Error())
		return out
	}
	if !out.Passed() {
		out.Explanation = explanation.String()
	}
	result.cover(explanation)
	return out
}
