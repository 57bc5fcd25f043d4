package rego_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bursar-dev/bursar/internal/policyfixture"
	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/rego"
)

// compile makes a policy named p of rules, which may fail on some input, on a
// sample or not.
func compile(t testing.TB, rules string) *rego.Hook {
	t.Helper()
	h, err := rego.CompileUntried(map[string]string{"p.rego": "package bursar.p\n" + rules}, rego.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// deny makes a policy of one rule that denies when the body holds.
func deny(body string) string {
	return `deny contains {"code": "r", "msg": "no"} if { ` + body + ` }`
}

// ask evaluates hooks as a set; the revision is left out.
func ask(t testing.TB, in policy.Input, hooks ...policy.Hook) policy.Verdict {
	t.Helper()
	bindings := make([]policy.Binding, len(hooks))
	for i, h := range hooks {
		bindings[i].Hook = h
	}
	set, err := policy.NewSet(policy.Options{Timeout: time.Minute}, bindings...)
	if err != nil {
		t.Fatal(err)
	}
	v, err := set.Evaluate(context.Background(), &in)
	if err != nil {
		t.Fatal(err)
	}
	v.Revision = ""
	return v
}

// codes joins the codes of a verdict's reasons after its outcome.
func codes(v policy.Verdict) string {
	out := []string{v.Outcome.String()}
	for _, r := range v.Reasons {
		out = append(out, r.Code)
	}
	return strings.Join(out, " ")
}

func base() policy.Input { return policyfixture.Base() }
