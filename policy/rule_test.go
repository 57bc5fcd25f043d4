package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/policy"
)

func TestAMatchNarrowsTheCalls(t *testing.T) {
	tests := map[string]struct {
		match policy.Match
		want  bool
	}{
		"nothing is given":                   {policy.Match{}, true},
		"the operation":                      {policy.Match{Operations: []policy.Operation{policy.Renew, policy.Admit}}, true},
		"another operation":                  {policy.Match{Operations: []policy.Operation{policy.Renew}}, false},
		"the namespace":                      {policy.Match{Namespaces: []string{"x", "agents"}}, true},
		"another namespace":                  {policy.Match{Namespaces: []string{"agent"}}, false},
		"a model by its beginning":           {policy.Match{Models: []string{"op*"}}, true},
		"a model that is the whole pattern":  {policy.Match{Models: []string{"opus*"}}, true},
		"another beginning":                  {policy.Match{Models: []string{"opusx*"}}, false},
		"any model":                          {policy.Match{Models: []string{"*"}}, true},
		"the priority":                       {policy.Match{Priorities: []string{"normal"}}, true},
		"another priority":                   {policy.Match{Priorities: []string{"high"}}, false},
		"a profile where the pod has none":   {policy.Match{Profiles: []string{"bot"}}, false},
		"any profile, even none":             {policy.Match{Profiles: []string{"*"}}, true},
		"the label":                          {policy.Match{Labels: map[string]string{"team": "a"}}, true},
		"another value of the label":         {policy.Match{Labels: map[string]string{"team": "b"}}, false},
		"a label that the task lacks":        {policy.Match{Labels: map[string]string{"owner": ""}}, false},
		"one of two fields does not agree":   {policy.Match{Models: []string{"opus"}, Namespaces: []string{"x"}}, false},
		"a star in a label is only a letter": {policy.Match{Labels: map[string]string{"team": "*"}}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := base()
			if got := test.match.Matches(&in); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestABadMatchIsNamed(t *testing.T) {
	m := policy.Match{
		Operations: []policy.Operation{"Admit", "admit"}, Namespaces: []string{"a*b"}, Models: []string{"*", "x*"},
		Priorities: []string{"**"}, Profiles: []string{"*x"},
	}
	var got []string
	for _, e := range m.Validate() {
		got = append(got, e.Error())
	}
	want := []string{
		`operations: "admit" is not an operation: want Admit, Renew, BuildPod or RecordUsage`,
		`namespaces: "a*b": * may only be the last character`,
		`priorities: "**": * may only be the last character`,
		`profiles: "*x": * may only be the last character`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}
