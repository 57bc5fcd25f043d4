package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/policy"
)

func TestSamplesAreCompleteInputsOfEveryOperation(t *testing.T) {
	asked := map[policy.Operation]bool{}
	for _, s := range policy.Samples() {
		asked[s.Input.Operation] = true
		if err := s.Input.Check(); err != nil || s.Text == "" {
			t.Errorf("%s (%s): %v", s.Name, s.Text, err)
		}
		if diff := cmp.Diff(s.Input.Complete(), s.Input); diff != "" {
			t.Errorf("%s is not complete (-complete +have):\n%s", s.Name, diff)
		}
	}
	if len(asked) != 4 {
		t.Errorf("operations: got %v", asked)
	}
}

func TestAFittedSampleMatches(t *testing.T) {
	matches := map[string]policy.Match{
		"nothing":    {},
		"everything": {Operations: []policy.Operation{policy.Renew, policy.Admit}, Namespaces: []string{"x*"}, Models: []string{"haiku", "y"}, Priorities: []string{"*"}, Profiles: []string{"bot-*"}, Labels: map[string]string{"team": "b", "owner": ""}},
	}
	for name, m := range matches {
		for _, s := range policy.Samples() {
			before := s.Input.Clone()
			in := m.Fit(s.Input)
			if err := in.Check(); err != nil || !m.Matches(&in) {
				t.Errorf("%s, %s: %v, %+v", name, s.Name, err, in)
			}
			if m.Matches(before) != cmp.Equal(*before, in) {
				t.Errorf("%s, %s: what matched already was changed", name, s.Name)
			}
			if diff := cmp.Diff(*before, s.Input); diff != "" {
				t.Errorf("%s, %s: the sample changed (-before +after):\n%s", name, s.Name, diff)
			}
		}
	}
}
