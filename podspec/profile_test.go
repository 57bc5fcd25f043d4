package podspec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/bursar-dev/bursar/podspec"
)

func environment(variables map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, found := variables[name]
		return value, found
	}
}

func TestProfilesFromEnv(t *testing.T) {
	profiles, err := podspec.ProfilesFromEnv(environment(map[string]string{
		"RUNTIME_BOT_CPU":                           "0.5",
		"RUNTIME_BOT_MEMORY_MB":                     "1024",
		"RUNTIME_AGENT_WORKER_CPU":                  "2",
		"RUNTIME_AGENT_WORKER_MEMORY":               "4Gi",
		"RUNTIME_AGENT_WORKER_EPHEMERAL_STORAGE_MB": "2048",
		"RUNTIME_AGENT_WORKER_GPU":                  "1",
		"RUNTIME_AGENT_WORKER_GPU_RESOURCE":         "amd.com/gpu",
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"meeting-bot": "cpu=500m (env RUNTIME_BOT_CPU), memory=1Gi (env RUNTIME_BOT_MEMORY_MB)",
		"agent-worker": "amd.com/gpu=1 (env RUNTIME_AGENT_WORKER_GPU), cpu=2 (env RUNTIME_AGENT_WORKER_CPU), " +
			"ephemeral-storage=2Gi (env RUNTIME_AGENT_WORKER_EPHEMERAL_STORAGE_MB), memory=4Gi (env RUNTIME_AGENT_WORKER_MEMORY)",
	}
	got := map[string]string{}
	for name, size := range profiles {
		got[name] = size.String()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEmptyVariablesAreUndeclared(t *testing.T) {
	profiles, err := podspec.ProfilesFromEnv(environment(map[string]string{"RUNTIME_BOT_CPU": "", "RUNTIME_BOT_MEMORY_MB": "  ", "RUNTIME_BOT_GPU_RESOURCE": ""}))
	if err != nil {
		t.Fatal(err)
	}
	size, err := profiles.Size("meeting-bot")
	if err != nil || !size.IsZero() {
		t.Errorf("size %v, error %v", size, err)
	}
}

func TestEveryBadVariableIsReported(t *testing.T) {
	profiles, err := podspec.ProfilesFromEnv(environment(map[string]string{
		"RUNTIME_BOT_CPU":                           "0,5",
		"RUNTIME_BOT_MEMORY_MB":                     "4Gi",
		"RUNTIME_BOT_MEMORY":                        "512m",
		"RUNTIME_BOT_EPHEMERAL_STORAGE_MB":          "-1",
		"RUNTIME_BOT_GPU_RESOURCE":                  "gpu",
		"RUNTIME_AGENT_WORKER_CPU":                  "nan",
		"RUNTIME_AGENT_WORKER_GPU":                  "0.5",
		"RUNTIME_AGENT_WORKER_MEMORY":               "1Gi",
		"RUNTIME_AGENT_WORKER_EPHEMERAL_STORAGE_MB": "x",
	}))
	if profiles != nil || err == nil {
		t.Fatalf("profiles %v, error %v", profiles, err)
	}
	for _, variable := range []string{
		"RUNTIME_BOT_CPU:", "RUNTIME_BOT_MEMORY_MB:", "RUNTIME_BOT_MEMORY:", "RUNTIME_BOT_EPHEMERAL_STORAGE_MB:", "RUNTIME_BOT_GPU_RESOURCE:",
		"RUNTIME_AGENT_WORKER_CPU:", "RUNTIME_AGENT_WORKER_GPU:", "RUNTIME_AGENT_WORKER_EPHEMERAL_STORAGE_MB:",
	} {
		if !strings.Contains(err.Error(), variable) {
			t.Errorf("%s is not in %v", variable, err)
		}
	}
	if strings.Contains(err.Error(), "RUNTIME_AGENT_WORKER_MEMORY:") {
		t.Errorf("a good variable is in %v", err)
	}
	if _, ok := errors.AsType[*podspec.SizeError](err); !ok {
		t.Errorf("%v holds no SizeError", err)
	}
}

// A hint names a variable that there is: memory has one for quantities, storage has none.
func TestAHintNamesTheVariableToWrite(t *testing.T) {
	for variable, want := range map[string]map[string]string{
		"RUNTIME_BOT_MEMORY_MB": {
			"4Gi":   "a quantity belongs in RUNTIME_BOT_MEMORY, as 4Gi",
			"500MB": "write 500, or 500Mi in RUNTIME_BOT_MEMORY",
			"1.5Gi": "a quantity belongs in RUNTIME_BOT_MEMORY, such as 512Mi",
			"lots":  "a quantity belongs in RUNTIME_BOT_MEMORY, such as 512Mi",
		},
		"RUNTIME_AGENT_WORKER_EPHEMERAL_STORAGE_MB": {
			"2Gi":                  "write 2048",
			"2TB":                  "write 2097152",
			"500MB":                "write 500",
			"512K":                 "write MiB in digits, such as 512",
			"1.5Gi":                "write MiB in digits, such as 512",
			"lots":                 "write MiB in digits, such as 512",
			"9223372036854775807G": "write MiB in digits, such as 512",
		},
	} {
		for text, hint := range want {
			_, err := podspec.ProfilesFromEnv(environment(map[string]string{variable: text}))
			if err == nil || !strings.HasSuffix(err.Error(), "without a suffix; "+hint) || !strings.HasPrefix(err.Error(), variable+": ") {
				t.Errorf("%s=%s: got %v, want the hint %q", variable, text, err, hint)
			}
		}
	}
}

func TestTwoSpellingsOfMemory(t *testing.T) {
	same := map[string]string{"RUNTIME_BOT_MEMORY": "1Gi", "RUNTIME_BOT_MEMORY_MB": "1024"}
	profiles, err := podspec.ProfilesFromEnv(environment(same))
	if err != nil {
		t.Fatal(err)
	}
	if memory, _ := profiles["meeting-bot"].Memory(); memory.String() != "1Gi (env RUNTIME_BOT_MEMORY)" {
		t.Errorf("memory is %v", memory)
	}
	_, err = podspec.ProfilesFromEnv(environment(map[string]string{"RUNTIME_BOT_MEMORY": "1Gi", "RUNTIME_BOT_MEMORY_MB": "1000"}))
	if !errors.Is(err, podspec.ErrConflict) || !strings.Contains(err.Error(), "RUNTIME_BOT_MEMORY_MB=1000") {
		t.Errorf("got %v, want ErrConflict with both figures", err)
	}
}

func TestGPUResourceMustBeADevice(t *testing.T) {
	_, err := podspec.ProfilesFromEnv(environment(map[string]string{"RUNTIME_BOT_GPU": "1", "RUNTIME_BOT_GPU_RESOURCE": "cpu"}))
	if !errors.Is(err, podspec.ErrResourceName) {
		t.Errorf("got %v, want ErrResourceName", err)
	}
}

func TestDeclaredProfiles(t *testing.T) {
	declaration := podspec.Declaration{Name: "CI-job2", Default: podspec.MustSize(podspec.Cores(1), podspec.MiB(512).From("house rule"))}
	profiles, err := podspec.ProfilesFromEnv(environment(map[string]string{"RUNTIME_CI_JOB2_CPU": "3"}), declaration)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := profiles["CI-job2"].String(), "cpu=3 (env RUNTIME_CI_JOB2_CPU), memory=512Mi (house rule)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	profiles, err = podspec.ProfilesFromEnv(environment(nil), declaration)
	if err != nil {
		t.Fatal(err)
	}
	size, err := profiles.Size("CI-job2", podspec.MustSize(podspec.MiB(64)))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := size.String(), "cpu=1 (profile CI-job2), memory=64Mi (code)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBadDeclarations(t *testing.T) {
	tests := map[string][]podspec.Declaration{
		"no name":             {{Prefix: "X"}},
		"a name of a novel":   {{Name: strings.Repeat("x", 100)}},
		"the same name twice": {{Name: "a", Prefix: "X"}, {Name: "a", Prefix: "Y"}},
		"the same prefix":     {{Name: "a-b"}, {Name: "a_b"}},
		"a prefix of signs":   {{Name: "a", Prefix: "1-X"}},
	}
	for name, declarations := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := podspec.ProfilesFromEnv(environment(nil), declarations...); !errors.Is(err, podspec.ErrProfile) {
				t.Errorf("got %v, want ErrProfile", err)
			}
		})
	}
	if _, err := podspec.ProfilesFromEnv(nil); !errors.Is(err, podspec.ErrOption) {
		t.Errorf("a nil lookup gives %v, want ErrOption", err)
	}
}

func TestUnknownProfileListsTheKnown(t *testing.T) {
	profiles := podspec.Profiles{"b": {}, "a": {}}
	if _, err := profiles.Size("c"); !errors.Is(err, podspec.ErrProfile) || !strings.Contains(err.Error(), "a, b") {
		t.Errorf("got %v", err)
	}
}

func TestMisspeltVariablesAreWarnings(t *testing.T) {
	variables := map[string]string{"RUNTIME_BOT_GPU_RESOURCE": "amd.com/gpu"}
	reader := podspec.Environment{
		Lookup: environment(variables),
		Declarations: append(podspec.DefaultDeclarations(),
			podspec.Declaration{Name: "bot-extra", Prefix: "RUNTIME_BOT_EXTRA_"}),
		Names: []string{
			"RUNTIME_BOT_CPU", "RUNTIME_BOT_MEMROY_MB", "RUNTIME_BOT_IMAGE_PULL_SECRET", "RUNTIME_BOTS_CPU", "PATH", "runtime_bot_cpu",
			"RUNTIME_BOT_EXTRA_CPUS", "RUNTIME_BOT_EXTRA_CPUS", "RUNTIME_BOT_EXTRA_MEMORY", strings.Repeat("A", 10000),
		},
	}
	_, warnings, err := reader.Profiles()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, warning := range warnings {
		got = append(got, warning.String())
	}
	want := []string{
		"RUNTIME_BOTS_CPU is not a variable of any profile; did you mean RUNTIME_BOT_CPU?",
		"RUNTIME_BOT_EXTRA_CPUS is not a variable of profile bot-extra; did you mean RUNTIME_BOT_EXTRA_CPU?",
		"RUNTIME_BOT_GPU_RESOURCE names a device and none is asked for; did you mean RUNTIME_BOT_GPU?",
		"RUNTIME_BOT_MEMROY_MB is not a variable of profile meeting-bot; did you mean RUNTIME_BOT_MEMORY_MB?",
		"runtime_bot_cpu is not a variable of any profile; did you mean RUNTIME_BOT_CPU?",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRulesReachTheEnvironment(t *testing.T) {
	reader := podspec.Environment{Lookup: environment(map[string]string{"RUNTIME_BOT_CPU": "0", "RUNTIME_BOT_MEMORY_MB": "0"}), Rules: podspec.Rules{Zero: podspec.ZeroUnset}}
	profiles, _, err := reader.Profiles()
	if err != nil || !profiles["meeting-bot"].IsZero() {
		t.Errorf("profiles %v, error %v", profiles, err)
	}
}

// TestWholeObjectPrecedenceLosesMemory holds the counter-example to merging whole sizes: a spec that sets cpu only would
// throw the profile's memory away, and the quota would reject the pod.
func TestWholeObjectPrecedenceLosesMemory(t *testing.T) {
	profile := podspec.MustSize(podspec.Cores(1), podspec.MiB(1024))
	spec := podspec.MustSize(podspec.Cores(4).From("spec"))
	if _, err := podspec.BuildPodResources(spec); !errors.Is(err, podspec.ErrIncomplete) {
		t.Errorf("the spec alone gives %v, want ErrIncomplete", err)
	}
	resources, err := podspec.BuildPodResources(podspec.Resolve(spec, profile))
	if err != nil {
		t.Fatal(err)
	}
	cpu, memory := resources.Limits[corev1.ResourceCPU], resources.Limits[corev1.ResourceMemory]
	if cpu.String() != "4" || memory.String() != "1Gi" {
		t.Errorf("cpu %v, memory %v", cpu.String(), memory.String())
	}
}

func TestAWarningWithoutASuggestion(t *testing.T) {
	w := podspec.Warning{Variable: "RUNTIME_BOT_COLOUR", Reason: "is no variable of a profile"}
	if got := w.String(); got != "RUNTIME_BOT_COLOUR is no variable of a profile" {
		t.Errorf("got %q", got)
	}
}
