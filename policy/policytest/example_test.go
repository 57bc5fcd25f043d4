package policytest_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"testing/fstest"

	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/policy/policytest"
)

// A hook in Go is tested by the same cases: its loader is a function.
func ExampleCheck() {
	files := fstest.MapFS{"cases.yaml": {Data: []byte("policies: [quota.go]\ncases:\n- name: opus is refused\n  want: {outcome: Deny, codes: [opus]}\n")}}
	load := func(fs.FS, string, map[string]any) (policy.Hook, error) {
		return policy.Func("quota", func(_ context.Context, in *policy.Input) (policy.Verdict, error) {
			if in.Task.Model == "opus" {
				return policy.Refuse("opus", "no opus"), nil
			}
			return policy.Pass(), nil
		}), nil
	}
	report, err := policytest.Check(context.Background(), files, policytest.Loaders{".go": load})
	if err == nil {
		err = report.Write(os.Stdout, true)
	}
	fmt.Println(err)
	// Output:
	// ok   quota.go: 1 cases, 0 of 0 rules covered
	//      ok   opus is refused
	// 1 passed, 0 failed
	// <nil>
}
