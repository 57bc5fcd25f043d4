package podspec_test

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/bursar-dev/bursar/podspec"
)

var seeds = []string{"", " ", "0", "-0", "1", "0.5", "500m", "0,5", "1e3", "1E3", "1E", "1e999999999", "nan", "<nil>", "512mi", "500MB", "4Gi", "0.1Mi", "+1", "5.", ".", "-", "1_0", "١", "\xff", "9223372036854775807k", "0.30000000000000004"}

// checkText holds what every reading must hold: an error is a SizeError with all its parts, and an amount lies within the
// bounds and is what the API server reads from the same text, up to the rounding that is written down.
func checkText(t *testing.T, dimension podspec.Dimension, text string, sameAsServer bool) {
	t.Helper()
	size, err := podspec.NewSize(dimension)
	if err != nil {
		var wrong *podspec.SizeError
		if !errors.As(err, &wrong) || wrong.Field == "" || wrong.Reason == "" || wrong.Err == nil || len(err.Error()) > 1000 {
			t.Fatalf("%q: error %v", text, err)
		}
		return
	}
	for _, name := range size.Names() {
		amount, _ := size.Amount(name)
		quantity := amount.Quantity()
		if quantity.Sign() < 0 || quantity.Sign() == 0 && !strings.Contains(string(name), "/") {
			t.Fatalf("%q was read as %v", text, quantity.String())
		}
		again, err := resource.ParseQuantity(quantity.String())
		if err != nil || again.Cmp(quantity) != 0 {
			t.Fatalf("%q: %v is read back as %v, %v", text, quantity.String(), again.String(), err)
		}
		if !sameAsServer {
			continue
		}
		if theirs, err := resource.ParseQuantity(text); err == nil && name != corev1.ResourceCPU && theirs.Cmp(quantity) != 0 {
			t.Fatalf("%q: we read %v, the API server %v", text, quantity.String(), theirs.String())
		}
	}
}

func FuzzCPU(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { checkText(t, podspec.CPU(text), text, false) })
}

func FuzzMemory(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { checkText(t, podspec.Memory(text), text, true) })
}

func FuzzMiBText(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { checkText(t, podspec.MiBText(text), text, false) })
}

func FuzzDevices(f *testing.F) {
	for _, seed := range seeds {
		f.Add("nvidia.com/gpu", seed)
		f.Add(seed, "1")
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		checkText(t, podspec.Text(corev1.ResourceName(name), text), text, false)
	})
}

// FuzzCores compares with exact arithmetic: an amount is at most one millicore above the float, and never below it by more
// than one part in 10^9.
func FuzzCores(f *testing.F) {
	for _, seed := range []float64{0, 1, 0.5, 0.1 + 0.2, 1e-4, -1, 1e300, math.NaN(), math.Inf(1), 1024, 0.0009999999999} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cores float64) {
		size, err := podspec.NewSize(podspec.Cores(cores))
		if err != nil {
			if cores >= 0.001 && cores <= 1024 {
				t.Fatalf("%v cores: %v", cores, err)
			}
			return
		}
		cpu, _ := size.CPU()
		quantity := cpu.Quantity()
		milli := big.NewRat(quantity.MilliValue(), 1000)
		exact := new(big.Rat).SetFloat64(cores)
		low := new(big.Rat).Mul(exact, big.NewRat(1e9-1, 1e9))
		high := new(big.Rat).Add(exact, big.NewRat(1, 1000))
		if milli.Cmp(low) < 0 || milli.Cmp(high) >= 0 {
			t.Fatalf("%v cores are %v", cores, quantity.String())
		}
	})
}

func FuzzProfilesFromEnv(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed, "1024", "1Gi", "nvidia.com/gpu")
		f.Add("1", seed, seed, seed)
	}
	f.Fuzz(func(t *testing.T, cpu, mebibytes, memory, gpu string) {
		profiles, err := podspec.ProfilesFromEnv(environment(map[string]string{
			"RUNTIME_BOT_CPU": cpu, "RUNTIME_BOT_MEMORY_MB": mebibytes, "RUNTIME_BOT_MEMORY": memory, "RUNTIME_BOT_GPU": "1", "RUNTIME_BOT_GPU_RESOURCE": gpu,
		}))
		if (err == nil) != (profiles != nil) {
			t.Fatalf("profiles %v, error %v", profiles, err)
		}
	})
}

func FuzzIdentity(f *testing.F) {
	f.Add("w-1", "", "")
	f.Add("", "a/b", "x")
	f.Fuzz(func(t *testing.T, workload, managed, key string) {
		identity := podspec.Identity{Workload: workload, ManagedKey: managed, WorkloadKey: key}
		selector, err := identity.Selector()
		if (err == nil) != (selector != nil) {
			t.Fatalf("selector %v, error %v", selector, err)
		}
	})
}
