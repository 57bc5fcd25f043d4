package podspec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/bursar-dev/bursar/podspec"
)

// TestSlipsUnderAPrefixNameWhatWasMeant: each of these is no variable, and a size would be missing without a word.
func TestSlipsUnderAPrefixNameWhatWasMeant(t *testing.T) {
	for slip, want := range map[string]string{
		"MEM": "MEMORY", "MEM_MB": "MEMORY_MB", "MEMORYMB": "MEMORY_MB", "MEMORY_MIB": "MEMORY_MB", "MEMORY_M": "MEMORY_MB", "MEMROY": "MEMORY", "RAM": "MEMORY",
		"RAM_MB": "MEMORY_MB", "memory_mb": "MEMORY_MB", "CPUS": "CPU", "CORES": "CPU", "CPU_CORES": "CPU", "CUP": "CPU", "CPU_LIMIT": "CPU", "STORAGE": "EPHEMERAL_STORAGE_MB",
		"STORAGE_MB": "EPHEMERAL_STORAGE_MB", "DISK_MB": "EPHEMERAL_STORAGE_MB", "EPHEMERAL": "EPHEMERAL_STORAGE_MB", "EPHEMERAL_STORAGE": "EPHEMERAL_STORAGE_MB",
		"GPUS": "GPU", "GPU_COUNT": "GPU", "GPU_RES": "GPU_RESOURCE",
	} {
		_, warnings, err := podspec.EnvironmentOf([]string{"RUNTIME_BOT_" + slip + "=1", "PATH=/bin", "ODD"}).Profiles()
		if err != nil || len(warnings) != 1 {
			t.Errorf("%s: %v, %v", slip, warnings, err)
			continue
		}
		want = "RUNTIME_BOT_" + want
		if diff := cmp.Diff(podspec.Warning{Variable: "RUNTIME_BOT_" + slip, Profile: "meeting-bot", Suggestion: want, Reason: "is not a variable of profile meeting-bot"}, warnings[0]); diff != "" {
			t.Errorf("%s: %s", slip, diff)
		}
	}
}

// TestVariablesOfOthersAreNoSlips: a prefix is not the profile's alone.
func TestVariablesOfOthersAreNoSlips(t *testing.T) {
	innocent := []string{
		"RUNTIME_BOT_IMAGE=x", "RUNTIME_BOT_TOKEN=x", "RUNTIME_BOT_URL=x", "RUNTIME_BOT_LOG_LEVEL=debug", "RUNTIME_BOT_=x", "RUNTIME_BOT=x", "RUNTIME_DIR=/run",
		// What a kubelet says of a Service named runtime-bot.
		"RUNTIME_BOT_SERVICE_HOST=10.0.0.1", "RUNTIME_BOT_SERVICE_PORT=80", "RUNTIME_BOT_PORT=tcp://10.0.0.1:80", "RUNTIME_BOT_PORT_80_TCP=tcp://10.0.0.1:80",
		"RUNTIME_BOT_PORT_80_TCP_PROTO=tcp", "RUNTIME_BOT_PORT_80_TCP_PORT=80", "RUNTIME_BOT_PORT_80_TCP_ADDR=10.0.0.1",
	}
	if _, warnings, err := podspec.EnvironmentOf(innocent).Profiles(); err != nil || len(warnings) > 0 {
		t.Errorf("%v, %v", warnings, err)
	}
	short := podspec.Declaration{Name: "short", Prefix: "X"}
	if _, warnings, err := podspec.EnvironmentOf([]string{"CPU=1", "GPU=1", "A_PU=1"}, short).Profiles(); err != nil || len(warnings) > 0 {
		t.Errorf("a short prefix: %v, %v", warnings, err)
	}
	_, err := podspec.ProfilesFromEnv(environment(map[string]string{"RUNTIME_BOT_GPU_TYPE": "a100", "RUNTIME_BOT_STORAGE": "pvc-1"}))
	if err != nil {
		t.Error(err)
	}
}

// TestUsualSlipsAreFaultsWithoutTheNames: a lookup cannot list what there is, but can be asked for what people write.
func TestUsualSlipsAreFaultsWithoutTheNames(t *testing.T) {
	_, err := podspec.ProfilesFromEnv(environment(map[string]string{
		"RUNTIME_BOT_CPU": "-1", "RUNTIME_BOT_MEM": "1Gi", "RUNTIME_AGENT_WORKER_CPUS": "2", "RUNTIME_AGENT_WORKER_DISK_MB": " ",
	}))
	if !errors.Is(err, podspec.ErrProfile) || !errors.Is(err, podspec.ErrNegative) {
		t.Fatalf("got %v", err)
	}
	for _, part := range []string{
		"RUNTIME_BOT_MEM is not a variable of profile meeting-bot; did you mean RUNTIME_BOT_MEMORY?",
		"RUNTIME_AGENT_WORKER_CPUS is not a variable of profile agent-worker; did you mean RUNTIME_AGENT_WORKER_CPU?",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
	if strings.Contains(err.Error(), "DISK") {
		t.Errorf("what is empty is a fault: %v", err)
	}
	// A variable of another profile is no slip, whatever it looks like.
	other := podspec.Declaration{Name: "ram", Prefix: "RUNTIME_BOT_MEM"}
	if _, err := podspec.ProfilesFromEnv(environment(map[string]string{"RUNTIME_BOT_MEM_MEMORY_MB": "64"}), podspec.MeetingBot(), other); err != nil {
		t.Error(err)
	}
}

func TestEnvironmentOf(t *testing.T) {
	profiles, warnings, err := podspec.EnvironmentOf([]string{"RUNTIME_BOT_CPU=2", "RUNTIME_BOT_CPU=3", "RUNTIME_BOT_MEMORY="}).Profiles()
	if err != nil || len(warnings) != 0 || profiles["meeting-bot"].String() != "cpu=2 (env RUNTIME_BOT_CPU)" {
		t.Errorf("%v, %v, %v", profiles["meeting-bot"], warnings, err)
	}
	_, _, err = podspec.EnvironmentOf(nil, podspec.Declaration{Name: "a", Prefix: "1"}, podspec.Declaration{Name: "b", Prefix: "B"}).Profiles()
	if !errors.Is(err, podspec.ErrProfile) {
		t.Errorf("got %v", err)
	}
}

// TestProfileFaultsAreAllReported: each item has more than one.
func TestProfileFaultsAreAllReported(t *testing.T) {
	bad := podspec.Declaration{Name: strings.Repeat("x", 100), Prefix: "1-X"}
	_, err := podspec.ProfilesFromEnv(environment(map[string]string{"RUNTIME_BOT_GPU": "half", "RUNTIME_BOT_GPU_RESOURCE": "gpu"}), bad, podspec.MeetingBot(), podspec.MeetingBot())
	for _, part := range []string{"must have 1 to 64 bytes", "cannot start an environment variable", `"meeting-bot" is declared twice`, "RUNTIME_BOT_GPU: ", "RUNTIME_BOT_GPU_RESOURCE: "} {
		if err == nil || strings.Count(err.Error(), part) != 1 {
			t.Errorf("%q is not once in %v", part, err)
		}
	}
	_, err = podspec.NewSize(podspec.Text("gpu", "-1"))
	if !errors.Is(err, podspec.ErrResourceName) || !errors.Is(err, podspec.ErrNegative) {
		t.Errorf("a bad name and a bad amount: %v", err)
	}
	_, err = podspec.NewSize(podspec.Text("hugepages-1Gi", "1e19"))
	if !errors.Is(err, podspec.ErrAboveMaximum) || !errors.Is(err, podspec.ErrFraction) {
		t.Errorf("too much, and no multiple: %v", err)
	}
	_, err = podspec.SizeOf(resources("cpu=-1 memory=1 / memory=-2"), "pod")
	for _, sentinel := range []error{podspec.ErrUnequal, podspec.ErrNegative, podspec.ErrRequestExceedsLimit, podspec.ErrBelowMinimum} {
		if !errors.Is(err, sentinel) {
			t.Errorf("%v is not in %v", sentinel, err)
		}
	}
	_, err = podspec.BuildPodResources(podspec.MustSize(podspec.CPU("2")), podspec.WithCap("cpu", resource.MustParse("1")))
	if !errors.Is(err, podspec.ErrAboveMaximum) || !errors.Is(err, podspec.ErrIncomplete) {
		t.Errorf("too much cpu and no memory: %v", err)
	}
}
