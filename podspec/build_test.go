package podspec_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/bursar-dev/bursar/podspec"
)

// texts shows a list of resources as text, so that differences read well.
func texts(list corev1.ResourceList) map[string]string {
	shown := map[string]string{}
	for name, quantity := range list {
		shown[string(name)] = quantity.String()
	}
	return shown
}

// TestBuildPodResources is row B1: one value per dimension is the request and the limit, 0.5 cores are 500m and 1024 MiB are 1Gi.
func TestBuildPodResources(t *testing.T) {
	small := podspec.MustSize(podspec.Cores(0.5), podspec.MiB(1024))
	q := resource.MustParse
	tests := map[string]struct {
		size     podspec.Size
		options  []podspec.Option
		requests map[string]string // nil: as limits
		limits   map[string]string
		err      error
	}{
		"one value sets request and limit": {
			size: podspec.MustSize(podspec.Cores(2), podspec.MiB(1024)), limits: map[string]string{"cpu": "2", "memory": "1Gi"},
		},
		"half a core is 500m": {size: small, limits: map[string]string{"cpu": "500m", "memory": "1Gi"}},
		"every dimension that is set is written": {
			size:   podspec.Resolve(small, podspec.MustSize(podspec.GPU(1), podspec.EphemeralStorage("2Gi"), podspec.Text("hugepages-2Mi", "4Mi"))),
			limits: map[string]string{"cpu": "500m", "memory": "1Gi", "nvidia.com/gpu": "1", "ephemeral-storage": "2Gi", "hugepages-2Mi": "4Mi"},
		},
		"missing memory is refused":                  {size: podspec.MustSize(podspec.Cores(1)), err: podspec.ErrIncomplete},
		"nothing at all is refused":                  {err: podspec.ErrIncomplete},
		"nothing need be required":                   {options: []podspec.Option{podspec.WithRequired(), nil}, limits: map[string]string{}},
		"more can be required":                       {size: small, options: []podspec.Option{podspec.WithRequired(corev1.ResourceCPU, corev1.ResourceEphemeralStorage)}, err: podspec.ErrIncomplete},
		"zero devices are left out":                  {size: podspec.Resolve(small, podspec.MustSize(podspec.GPU(0))), limits: map[string]string{"cpu": "500m", "memory": "1Gi"}},
		"zero devices can be wanted":                 {size: podspec.Resolve(small, podspec.MustSize(podspec.GPU(0))), options: []podspec.Option{podspec.WithZero(podspec.ZeroExplicit)}, limits: map[string]string{"cpu": "500m", "memory": "1Gi", "nvidia.com/gpu": "0"}},
		"zero cpu is refused":                        {size: explicitZero(t), err: podspec.ErrZero},
		"zero cpu can be wanted":                     {size: explicitZero(t), options: []podspec.Option{podspec.WithZero(podspec.ZeroExplicit)}, limits: map[string]string{"cpu": "0", "memory": "1Gi"}},
		"zero cpu can be unset, and is missing then": {size: explicitZero(t), options: []podspec.Option{podspec.WithZero(podspec.ZeroUnset)}, err: podspec.ErrIncomplete},
		"below a floor":                              {size: small, options: []podspec.Option{podspec.WithFloor(corev1.ResourceCPU, q("1"))}, err: podspec.ErrBelowMinimum},
		"at a floor":                                 {size: small, options: []podspec.Option{podspec.WithFloor(corev1.ResourceCPU, q("500m"))}, limits: map[string]string{"cpu": "500m", "memory": "1Gi"}},
		"above a cap":                                {size: small, options: []podspec.Option{podspec.WithCap(corev1.ResourceMemory, q("1023Mi"))}, err: podspec.ErrAboveMaximum},
		"at a cap":                                   {size: small, options: []podspec.Option{podspec.WithCap(corev1.ResourceMemory, q("1Gi"))}, limits: map[string]string{"cpu": "500m", "memory": "1Gi"}},
		"a request of its own":                       {size: small, options: []podspec.Option{podspec.WithRequest(corev1.ResourceCPU, q("100m"))}, requests: map[string]string{"cpu": "100m", "memory": "1Gi"}, limits: map[string]string{"cpu": "500m", "memory": "1Gi"}},
		"a negative request":                         {size: small, options: []podspec.Option{podspec.WithRequest(corev1.ResourceCPU, q("-1"))}, err: podspec.ErrNegative},
		"a request without a size":                   {size: small, options: []podspec.Option{podspec.WithRequest(corev1.ResourceEphemeralStorage, q("1"))}, err: podspec.ErrIncomplete},
		"half of it is requested":                    {size: small, options: []podspec.Option{podspec.WithRequestFraction(0.5)}, requests: map[string]string{"cpu": "250m", "memory": "512Mi"}, limits: map[string]string{"cpu": "500m", "memory": "1Gi"}},
		"all of it is requested":                     {size: small, options: []podspec.Option{podspec.WithRequestFraction(1)}, limits: map[string]string{"cpu": "500m", "memory": "1Gi"}},
		"a fraction of devices is no thing":          {size: podspec.MustSize(podspec.GPU(3)), options: []podspec.Option{podspec.WithRequired(), podspec.WithRequestFraction(0.5)}, limits: map[string]string{"nvidia.com/gpu": "3"}},
		"no fraction at all":                         {size: small, options: []podspec.Option{podspec.WithRequestFraction(0)}, err: podspec.ErrOption},
		"more than the whole":                        {size: small, options: []podspec.Option{podspec.WithRequestFraction(1.1)}, err: podspec.ErrOption},
		"a fraction that is no number":               {size: small, options: []podspec.Option{podspec.WithRequestFraction(math.NaN())}, err: podspec.ErrOption},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := podspec.BuildPodResources(test.size, test.options...)
			if !errors.Is(err, test.err) || (err == nil) != (test.err == nil) {
				t.Fatalf("error %v, want %v", err, test.err)
			}
			if err != nil {
				return
			}
			if test.requests == nil {
				test.requests = test.limits
			}
			if diff := cmp.Diff(test.limits, texts(got.Limits)); diff != "" {
				t.Error("limits", diff)
			}
			if diff := cmp.Diff(test.requests, texts(got.Requests)); diff != "" {
				t.Error("requests", diff)
			}
		})
	}
}

func explicitZero(t *testing.T) podspec.Size {
	t.Helper()
	size, err := podspec.Rules{Zero: podspec.ZeroExplicit}.Size(podspec.Cores(0), podspec.MiB(1024))
	if err != nil {
		t.Fatal(err)
	}
	return size
}

func TestIncompleteListsWhatIsMissing(t *testing.T) {
	_, err := podspec.BuildPodResources(podspec.Size{})
	if want := "size: does not set cpu, memory; a namespace whose quota counts them rejects the pod; set them, or say with WithRequired what is needed"; err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %v", err, want)
	}
}

func TestBuildReportsEveryFault(t *testing.T) {
	size := podspec.MustSize(podspec.Cores(1), podspec.MiB(64))
	_, err := podspec.BuildPodResources(size,
		podspec.WithCap(corev1.ResourceCPU, resource.MustParse("500m")), podspec.WithFloor(corev1.ResourceMemory, resource.MustParse("1Gi")), podspec.WithRequestFraction(-1))
	for _, want := range []error{podspec.ErrAboveMaximum, podspec.ErrBelowMinimum, podspec.ErrOption} {
		if !errors.Is(err, want) {
			t.Errorf("%v is not in %v", want, err)
		}
	}
}

func TestBuildResultIsTheCallersOwn(t *testing.T) {
	size := podspec.MustSize(podspec.Cores(1), podspec.MiB(64))
	first, err := podspec.BuildPodResources(size)
	if err != nil {
		t.Fatal(err)
	}
	cpu := first.Limits[corev1.ResourceCPU]
	cpu.Add(resource.MustParse("7"))
	first.Limits[corev1.ResourceCPU] = cpu
	second, err := podspec.BuildPodResources(size)
	if err != nil {
		t.Fatal(err)
	}
	if got := second.Limits[corev1.ResourceCPU]; got.String() != "1" {
		t.Errorf("the size was changed through its result: %v", got.String())
	}
	if got := second.Requests[corev1.ResourceCPU]; got.String() != "1" {
		t.Errorf("requests share with limits: %v", got.String())
	}
}

// Regressions (R and a number): faults that were reported of other spawners.

func TestR5RequestAboveLimitIsRefusedBeforeAnyCall(t *testing.T) {
	size := podspec.MustSize(podspec.CPU("200m"), podspec.MiB(64))
	_, err := podspec.BuildPodResources(size, podspec.WithRequest(corev1.ResourceCPU, resource.MustParse("1")))
	if !errors.Is(err, podspec.ErrRequestExceedsLimit) {
		t.Fatalf("got %v, want ErrRequestExceedsLimit", err)
	}
	if want := `cpu: "1" request exceeds limit 200m; an API server refuses such a pod; lower the request or raise the limit`; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

func TestR6FractionsOfACoreAreSizes(t *testing.T) {
	resources, err := podspec.BuildPodResources(podspec.MustSize(podspec.Cores(0.25), podspec.MiB(64)))
	if got := resources.Limits[corev1.ResourceCPU]; err != nil || got.String() != "250m" {
		t.Errorf("got %v, %v", got.String(), err)
	}
}

func TestR7MilliIsNotMebi(t *testing.T) {
	_, err := podspec.NewSize(podspec.Memory("512m"))
	var wrong *podspec.SizeError
	if !errors.As(err, &wrong) || wrong.Hint != "m means a thousandth of a byte, write 512Mi" {
		t.Errorf("got %v", err)
	}
}

func TestR8CoresAreNotRoundedToOneDecimal(t *testing.T) {
	for cores, want := range map[float64]string{0.25: "250m", 0.05: "50m", 1.125: "1125m", 0.001: "1m"} {
		size := podspec.MustSize(podspec.Cores(cores))
		cpu, _ := size.CPU()
		if got := cpu.Quantity(); got.String() != want {
			t.Errorf("%v cores are %v, want %v", cores, got.String(), want)
		}
	}
}

func TestR10DerivedSizesAreWhole(t *testing.T) {
	size := podspec.MustSize(podspec.CPU("3m"), podspec.Memory("10Mi"), podspec.EphemeralStorage("1"))
	for _, fraction := range []float64{1e-9, 0.1, 1.0 / 3, 0.5, 0.7, 0.999} {
		resources, err := podspec.BuildPodResources(size, podspec.WithRequestFraction(fraction))
		if err != nil {
			t.Fatal(err)
		}
		cpu, memory, storage := resources.Requests[corev1.ResourceCPU], resources.Requests[corev1.ResourceMemory], resources.Requests[corev1.ResourceEphemeralStorage]
		if nano := cpu.ScaledValue(resource.Nano); nano%1e6 != 0 || nano < 1e6 || cpu.Cmp(resources.Limits[corev1.ResourceCPU]) > 0 {
			t.Errorf("fraction %v: cpu %v", fraction, cpu.String())
		}
		if memory.Value()%(1<<20) != 0 || memory.Value() < 1<<20 || memory.Cmp(resources.Limits[corev1.ResourceMemory]) > 0 {
			t.Errorf("fraction %v: memory %v", fraction, memory.String())
		}
		if storage.String() != "1" {
			t.Errorf("fraction %v: storage %v is not held to its limit", fraction, storage.String())
		}
	}
}

func TestR23DevicesHaveOneValue(t *testing.T) {
	one := podspec.MustSize(podspec.GPU(2), podspec.Cores(1), podspec.MiB(64))
	resources, err := podspec.BuildPodResources(one)
	if err != nil {
		t.Fatal(err)
	}
	request, limit := resources.Requests[podspec.GPUResource], resources.Limits[podspec.GPUResource]
	if request.String() != "2" || limit.String() != "2" {
		t.Errorf("request %v, limit %v", request.String(), limit.String())
	}
	if _, err := podspec.BuildPodResources(one, podspec.WithRequest(podspec.GPUResource, resource.MustParse("1"))); !errors.Is(err, podspec.ErrUnequal) {
		t.Errorf("got %v, want ErrUnequal", err)
	}
}
