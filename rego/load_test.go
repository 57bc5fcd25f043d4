package rego_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/policy"
	"github.com/bursar-dev/bursar/rego"
)

func TestLoadRefuses(t *testing.T) {
	const pkg = "package bursar.p\n"
	tests := map[string]struct{ source, want string }{
		"a deny that is a boolean":      {pkg + `deny := true`, "p.rego:2:1: deny must be a set: write deny contains … if { … }"},
		"a deny that holds or not":      {pkg + `deny if input.task.attempt > 1`, "p.rego:2:1: deny must be a set: write deny contains … if { … }"},
		"a deny that is an object":      {pkg + `deny["a"] := 1`, "p.rego:2:1: deny must be a set: write deny contains … if { … }"},
		"a deny of the old notation":    {pkg + `deny[msg] if { msg := "x" }`, "p.rego:2:1: deny must be a set: write deny contains … if { … }"},
		"a deny that is a function":     {pkg + `deny(x) := x`, "p.rego:2:1: deny must be a set: write deny contains … if { … }"},
		"a decision and nothing else":   {pkg + `decision := {"deny": []}`, "no package defines any of the sets deny, warn, hold, cap, label"},
		"an allow":                      {pkg + "deny contains \"x\"\nallow := true", "p.rego:3:1: allow: a policy can only restrict; write deny contains … instead"},
		"a misspelt set":                {pkg + "warn contains \"w\"\ndney contains \"x\"", "p.rego:3:1: rule dney is used by none of the sets deny, warn, hold, cap, label; did you mean deny?"},
		"a package elsewhere":           {"package p\ndeny contains \"x\"", "p.rego:1:1: package p: must be under bursar, as in bursar.models"},
		"a misspelt field":              {pkg + deny(`input.task.modell == "x"`), `p.rego:2:47: undefined ref: input.task.modell; have: "modell"; want (one of): ["agent" "annotations" "attempt" "kind" "labels" "model" "name" "namespace" "priority" "provider" "requestedTokens" "uid"]`},
		"a number as text":              {pkg + deny(`input.task.attempt == "1"`), "p.rego:2:47: a number never equals a string: numbers stand without quotes, text with them"},
		"a function of another type":    {pkg + deny(`startswith(input.task.attempt, "x")`), "p.rego:2:47: startswith: invalid argument(s); have: (number, string); want: (string, string, boolean)"},
		"data that does not exist":      {pkg + deny(`data.bursar.p.helper`), "p.rego:2:47: data.bursar.p.helper: there is no such rule or parameter"},
		"a parameter not declared":      {pkg + deny(`input.task.attempt > data.params.max`), "p.rego:2:68: data.params.max: there is no such rule or parameter: parameters are declared above the package, # METADATA, # custom:, #   params:"},
		"all parameters":                {pkg + `deny contains x if some x in data.params`, "p.rego:2:30: data.params[__local1__]: there is no such rule or parameter: parameters are declared above the package, # METADATA, # custom:, #   params:"},
		"the network":                   {pkg + deny(`http.send({"url": "x"})`), "p.rego:2:47: undefined function http.send"},
		"a look-up":                     {pkg + deny(`net.lookup_ip_addr("x")`), "p.rego:2:47: undefined function net.lookup_ip_addr"},
		"the clock":                     {pkg + deny(`time.now_ns() > 1`), "p.rego:2:47: undefined function time.now_ns: the instant of the call is input.now and input.nowUnixMs"},
		"the environment":               {pkg + deny(`opa.runtime().env.HOME`), "p.rego:2:47: undefined function opa.runtime"},
		"chance":                        {pkg + deny(`rand.intn("x", 5) > 1`), "p.rego:2:47: undefined function rand.intn"},
		"a mock of what is not allowed": {pkg + deny(`input.task.attempt > 0 with http.send as {}`), "p.rego:2:75: with keyword target must reference existing input, data, or a function"},
		"a pattern from the input":      {pkg + deny(`regex.match(input.task.model, "x")`), "p.rego:2:47: regex.match: the first argument must be a literal"},
		"a format of any width":         {pkg + `deny contains sprintf("%9999999d", [1])`, "p.rego:2:15: sprintf: a width or precision may have two digits"},
		"a rule that needs itself":      {pkg + "a if b\n" + "b if a\n" + deny("a"), "p.rego:2:1: rule data.bursar.p.a is recursive: data.bursar.p.a -> data.bursar.p.b -> data.bursar.p.a\np.rego:3:1: rule data.bursar.p.b is recursive: data.bursar.p.b -> data.bursar.p.a -> data.bursar.p.b"},
		"a variable that is not used":   {pkg + deny("x := 1"), "p.rego:2:47: assigned var x unused"},
		"an old version of Rego":        {pkg + "deny[x] { x := 1 }", "p.rego:2:1: `if` keyword is required before rule body\np.rego:2:1: `contains` keyword is required for partial set rules"},
		"an empty file":                 {"", "p.rego: empty module"},
		"a name that is no code":        {"package bursar.P\ndeny contains \"x\"", `p.rego:1:1: policy "P": want 1 to 63 of a-z, 0-9, - and _`},
		"parameters of text": {"# METADATA\n# custom:\n#   params:\n#     max: {type: int, default: abc}\n" + pkg + deny("input.task.attempt > data.params.max"),
			`p.rego:5:1: parameter max: want int, have the text "abc"`},
		"an unknown key of a parameter": {"# METADATA\n# custom:\n#   params:\n#     max: {type: int, defalt: 1}\n" + pkg + deny("input.task.attempt > data.params.max"),
			`p.rego:5:1: params: json: unknown field "defalt"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := rego.Compile(map[string]string{"p.rego": test.source}, rego.Options{})
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

const withParams = `# METADATA
# custom:
#   params:
#     ceiling: {type: int, default: 800}
#     models: {type: strings, default: [opus]}
package bursar.team_a.models

import data.bursar.shared

deny contains {"code": "spent", "msg": "m"} if {
	input.task.model in data.params.models
	shared.spent(data.params.ceiling)
}
`

const shared = `package bursar.shared
spent(ceiling) if input.budget.cost.usedPermille >= ceiling
`

func TestAFolderOfModules(t *testing.T) {
	files := fstest.MapFS{
		"a/models.rego":      {Data: []byte(withParams)},
		"shared.rego":        {Data: []byte(shared)},
		"other.rego":         {Data: []byte("package bursar.other\nwarn contains \"w\"")},
		"a/models_test.rego": {Data: []byte("not even Rego")},
		"README.md":          {Data: []byte("text")},
	}
	hooks, err := rego.Load(files, rego.Options{Params: map[string]map[string]any{"team-a-models": {"ceiling": 500}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(hooks) != 2 || hooks[0].Name() != "other" || hooks[1].Name() != "team-a-models" {
		t.Fatalf("got %v", hooks)
	}
	want := policy.Verdict{
		Outcome:  policy.Deny,
		Reasons:  []policy.Reason{{Policy: "team-a-models", Code: "spent", Message: "m"}},
		Warnings: []policy.Reason{{Policy: "other", Code: "warning", Message: "w", Outcome: policy.Allow}},
	}
	if diff := cmp.Diff(want, ask(t, base(), hooks[0], hooks[1])); diff != "" {
		t.Errorf("verdict (-want +got):\n%s", diff)
	}
	again, err := rego.Load(files, rego.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v := ask(t, base(), again[1]); !v.Allowed() {
		t.Errorf("with the default: got %s", codes(v))
	}
	if again[1].Revision() == hooks[1].Revision() {
		t.Error("a parameter did not change the revision")
	}
	if _, err := rego.Load(files, rego.Options{Params: map[string]map[string]any{"models": {}}}); err == nil {
		t.Error("parameters for a policy that is not there were accepted")
	}
	if _, err := rego.Load(fstest.MapFS{}, rego.Options{}); err == nil {
		t.Error("an empty folder was accepted")
	}
}

func TestAPinnedFolderMustBeThatFolder(t *testing.T) {
	files := fstest.MapFS{"m.rego": {Data: []byte(withParams)}, "s.rego": {Data: []byte(shared)}, "m_test.rego": {Data: []byte("anything")}}
	pin := policy.Digest(map[string][]byte{"m.rego": []byte(withParams), "s.rego": []byte(shared)})
	if _, err := rego.Load(files, rego.Options{SHA256: pin}); err != nil {
		t.Error(err)
	}
	files["s.rego"] = &fstest.MapFile{Data: []byte(shared + "\n")}
	if _, err := rego.Load(files, rego.Options{SHA256: pin}); err == nil || !strings.Contains(err.Error(), "the policies have the digest") {
		t.Errorf("got %v", err)
	}
}

func TestTheLibraryIsLoadedWhenItIsImported(t *testing.T) {
	h := compile(t, `import data.bursar.lib.labels
import data.bursar.lib.models
import data.bursar.lib.money
import data.bursar.lib.time as clock
deny contains {"code": "all", "msg": money.text(input.budget.cost.used)} if {
	models.listed(["op*"])
	not labels.present("owner")
	clock.business_hours("Europe/Paris", 9, 18)
}`)
	if v := ask(t, base(), h); codes(v) != "Deny all" || v.Reasons[0].Message != "50.00 USD" {
		t.Errorf("got %+v", v)
	}
}

func TestTooMuchIsRefused(t *testing.T) {
	if _, err := rego.Compile(map[string]string{"p.rego": "package bursar.p\n" + strings.Repeat("deny contains \"x\"\n", 501)}, rego.Options{}); err == nil || !strings.Contains(err.Error(), "more than 500 rules") {
		t.Errorf("rules: got %v", err)
	}
	if _, err := rego.Compile(map[string]string{"p.rego": "package bursar.p\n# " + strings.Repeat("x", 300<<10)}, rego.Options{}); err == nil || !strings.Contains(err.Error(), "exceed 262144 bytes") {
		t.Errorf("source: got %v", err)
	}
}
