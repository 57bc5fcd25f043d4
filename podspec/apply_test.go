package podspec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/bursar-dev/bursar/podspec"
)

// resources reads what a test says of a container: its requests, a slash, its limits: "cpu=1 memory=1Gi / cpu=1".
func resources(text string) corev1.ResourceRequirements {
	var r corev1.ResourceRequirements
	list := &r.Requests
	for field := range strings.FieldsSeq(text) {
		if field == "/" {
			list = &r.Limits
			continue
		}
		name, quantity, _ := strings.Cut(field, "=")
		if *list == nil {
			*list = corev1.ResourceList{}
		}
		(*list)[corev1.ResourceName(name)] = resource.MustParse(quantity)
	}
	return r
}

func shown(r corev1.ResourceRequirements) string {
	list := func(l corev1.ResourceList) string {
		var fields []string
		for _, name := range []corev1.ResourceName{"cpu", "memory", "ephemeral-storage", "nvidia.com/gpu", "x.io/y", "hugepages-2Mi"} {
			if quantity, ok := l[name]; ok {
				fields = append(fields, string(name)+"="+quantity.String())
			}
		}
		return strings.Join(fields, " ")
	}
	return strings.TrimSpace(list(r.Requests) + " / " + list(r.Limits))
}

func container(name, text string) corev1.Container {
	return corev1.Container{Name: name, Image: "registry.example/" + name, Resources: resources(text)}
}

func sidecar(name, text string) corev1.Container {
	c := container(name, text)
	always := corev1.ContainerRestartPolicyAlways
	c.RestartPolicy = &always
	return c
}

func pod(containers ...corev1.Container) *corev1.Pod {
	p := &corev1.Pod{}
	p.Name = "bot-1"
	for _, c := range containers {
		if strings.HasPrefix(c.Name, "init") || c.RestartPolicy != nil {
			p.Spec.InitContainers = append(p.Spec.InitContainers, c)
		} else {
			p.Spec.Containers = append(p.Spec.Containers, c)
		}
	}
	return p
}

const whole = "cpu=1 memory=1Gi / cpu=1 memory=1Gi"

func oneCore() podspec.Size { return podspec.MustSize(podspec.Cores(1), podspec.MiB(1024)) }

func TestApply(t *testing.T) {
	c, side := container, sidecar
	quarter := podspec.MustSize(podspec.Cores(0.25), podspec.MiB(64))
	const quartered = "cpu=250m memory=64Mi / cpu=250m memory=64Mi"
	named := func(name string, size podspec.Size) map[string]podspec.Size {
		return map[string]podspec.Size{name: size}
	}
	tests := map[string]struct {
		pod  *corev1.Pod
		plan podspec.Plan // Size oneCore unless set
		want map[string]string
		err  error
	}{
		"the only container is the main one":       {pod: pod(c("a", "")), want: map[string]string{"a": whole}},
		"a named main container":                   {pod: pod(c("a", quartered), c("b", "")), plan: podspec.Plan{Main: "b"}, want: map[string]string{"a": quartered, "b": whole}},
		"several containers without a name":        {pod: pod(c("a", ""), c("b", "")), err: podspec.ErrContainer},
		"a main container that is not there":       {pod: pod(c("a", "")), plan: podspec.Plan{Main: "b"}, err: podspec.ErrContainer},
		"no container":                             {pod: pod(), err: podspec.ErrContainer},
		"no container and a size for one":          {pod: pod(), plan: podspec.Plan{Containers: named("b", quarter)}, err: podspec.ErrContainer},
		"no container but a name":                  {pod: pod(), plan: podspec.Plan{Main: "b"}, err: podspec.ErrContainer},
		"two containers of one name":               {pod: pod(c("a", ""), c("a", "")), plan: podspec.Plan{Main: "a"}, err: podspec.ErrContainer},
		"a size for a container that is not there": {pod: pod(c("a", "")), plan: podspec.Plan{Containers: named("b", quarter)}, err: podspec.ErrContainer},
		"two sizes for the main container":         {pod: pod(c("a", "")), plan: podspec.Plan{Main: "a", Containers: named("a", quarter)}, err: podspec.ErrContainer},
		"another container without a size":         {pod: pod(c("a", ""), c("b", "")), plan: podspec.Plan{Main: "a"}, err: podspec.ErrContainer},
		"another container with a size":            {pod: pod(c("a", ""), c("b", "")), plan: podspec.Plan{Main: "a", Containers: named("b", quarter)}, want: map[string]string{"a": whole, "b": quartered}},
		"another container copies":                 {pod: pod(c("a", ""), c("b", "")), plan: podspec.Plan{Main: "a", Others: podspec.CopyMain}, want: map[string]string{"a": whole, "b": whole}},
		"another container is left alone":          {pod: pod(c("a", ""), c("b", "")), plan: podspec.Plan{Main: "a", Others: podspec.LeaveAlone}, want: map[string]string{"a": whole, "b": "/"}},
		"another container has limits only":        {pod: pod(c("a", ""), c("b", "/ cpu=1 memory=1Gi")), plan: podspec.Plan{Main: "a"}, want: map[string]string{"a": whole, "b": "/ cpu=1 memory=1Gi"}},
		"another container is impossible":          {pod: pod(c("a", ""), c("b", "cpu=2 memory=1Gi / cpu=1 memory=1Gi")), plan: podspec.Plan{Main: "a"}, err: podspec.ErrRequestExceedsLimit},

		"a plain init container copies the main one":        {pod: pod(c("a", ""), c("init", "")), want: map[string]string{"a": whole, "init": whole}},
		"an init container copies what the main one kept":   {pod: pod(c("a", "cpu=250m / cpu=500m"), c("init", "")), want: map[string]string{"a": "cpu=250m memory=1Gi / cpu=500m memory=1Gi", "init": "cpu=250m memory=1Gi / cpu=500m memory=1Gi"}},
		"an init container keeps its own":                   {pod: pod(c("a", ""), c("init", quartered)), want: map[string]string{"a": whole, "init": quartered}},
		"an init container with a size":                     {pod: pod(c("a", ""), c("init", "")), plan: podspec.Plan{Containers: named("init", quarter)}, want: map[string]string{"a": whole, "init": quartered}},
		"an init container left alone":                      {pod: pod(c("a", ""), c("init", "")), plan: podspec.Plan{Inits: podspec.LeaveAlone}, want: map[string]string{"a": whole, "init": "/"}},
		"an init container that needs a size":               {pod: pod(c("a", ""), c("init", "")), plan: podspec.Plan{Inits: podspec.NeedSize}, err: podspec.ErrContainer},
		"an init container copies a lone request":           {pod: pod(c("a", "x.io/y=1 /"), c("init", "/ x.io/y=2")), plan: podspec.Plan{Existing: podspec.Override}, want: map[string]string{"a": "cpu=1 memory=1Gi x.io/y=1 / cpu=1 memory=1Gi", "init": "cpu=1 memory=1Gi x.io/y=1 / cpu=1 memory=1Gi x.io/y=2"}},
		"an init container copies a lone limit as both":     {pod: pod(c("a", "/ x.io/y=1"), c("init", "")), want: map[string]string{"a": "cpu=1 memory=1Gi / cpu=1 memory=1Gi x.io/y=1", "init": "cpu=1 memory=1Gi x.io/y=1 / cpu=1 memory=1Gi x.io/y=1"}},
		"an init container keeps a lone request it had":     {pod: pod(c("a", "x.io/y=1 /"), c("init", "x.io/y=3 /")), want: map[string]string{"a": "cpu=1 memory=1Gi x.io/y=1 / cpu=1 memory=1Gi", "init": "cpu=1 memory=1Gi x.io/y=3 / cpu=1 memory=1Gi"}},
		"a sidecar without a size":                          {pod: pod(c("a", ""), side("s", "")), err: podspec.ErrContainer},
		"a sidecar with half a size":                        {pod: pod(c("a", ""), side("s", "cpu=1 / cpu=1")), err: podspec.ErrContainer},
		"a sidecar that has its size":                       {pod: pod(c("a", ""), side("s", quartered)), want: map[string]string{"a": whole, "s": quartered}},
		"a sidecar with a size":                             {pod: pod(c("a", ""), side("s", "")), plan: podspec.Plan{Containers: named("s", quarter)}, want: map[string]string{"a": whole, "s": quartered}},
		"a sidecar that copies":                             {pod: pod(c("a", ""), side("s", "")), plan: podspec.Plan{Sidecars: podspec.CopyMain}, want: map[string]string{"a": whole, "s": whole}},
		"what is there is kept":                             {pod: pod(c("a", quartered)), want: map[string]string{"a": quartered}},
		"what is there completes a size":                    {pod: pod(c("a", "memory=64Mi / memory=64Mi")), plan: podspec.Plan{Size: podspec.MustSize(podspec.Cores(1))}, want: map[string]string{"a": "cpu=1 memory=64Mi / cpu=1 memory=64Mi"}},
		"neither size nor pod has memory":                   {pod: pod(c("a", "")), plan: podspec.Plan{Size: podspec.MustSize(podspec.Cores(1))}, err: podspec.ErrIncomplete},
		"a lone request below the size gets it as limit":    {pod: pod(c("a", "cpu=250m /")), want: map[string]string{"a": "cpu=250m memory=1Gi / cpu=1 memory=1Gi"}},
		"a lone request above the size is its limit":        {pod: pod(c("a", "cpu=3 /")), want: map[string]string{"a": "cpu=3 memory=1Gi / cpu=3 memory=1Gi"}},
		"a lone limit is its request":                       {pod: pod(c("a", "/ cpu=3")), want: map[string]string{"a": "cpu=3 memory=1Gi / cpu=3 memory=1Gi"}},
		"a lone request of devices is its limit":            {pod: pod(c("a", "nvidia.com/gpu=1 /")), plan: podspec.Plan{Size: podspec.Resolve(oneCore(), podspec.MustSize(podspec.GPU(4)))}, want: map[string]string{"a": "cpu=1 memory=1Gi nvidia.com/gpu=1 / cpu=1 memory=1Gi nvidia.com/gpu=1"}},
		"unknown resources stay":                            {pod: pod(c("a", "x.io/y=1 / x.io/y=1")), plan: podspec.Plan{Existing: podspec.Override}, want: map[string]string{"a": "cpu=1 memory=1Gi x.io/y=1 / cpu=1 memory=1Gi x.io/y=1"}},
		"a request above its limit is never passed on":      {pod: pod(c("a", "cpu=3 / cpu=2")), err: podspec.ErrRequestExceedsLimit},
		"not even of a resource the size does not name":     {pod: pod(c("a", "x.io/y=3 / x.io/y=2")), err: podspec.ErrRequestExceedsLimit},
		"override replaces":                                 {pod: pod(c("a", quartered)), plan: podspec.Plan{Existing: podspec.Override}, want: map[string]string{"a": whole}},
		"override mends a request above its limit":          {pod: pod(c("a", "cpu=3 / cpu=2")), plan: podspec.Plan{Existing: podspec.Override}, want: map[string]string{"a": whole}},
		"equal amounts are equal in any spelling":           {pod: pod(c("a", "cpu=1000m memory=1024Mi / cpu=1000m memory=1024Mi")), plan: podspec.Plan{Existing: podspec.RequireEqual}, want: map[string]string{"a": whole}},
		"equal amounts fill in what is absent":              {pod: pod(c("a", "cpu=1 / memory=1Gi")), plan: podspec.Plan{Existing: podspec.RequireEqual}, want: map[string]string{"a": whole}},
		"different amounts where equal ones are required":   {pod: pod(c("a", quartered)), plan: podspec.Plan{Existing: podspec.RequireEqual}, err: podspec.ErrUnequal},
		"a fraction fills in a lone limit where equal":      {pod: pod(c("a", "/ cpu=1 memory=1Gi")), plan: podspec.Plan{Existing: podspec.RequireEqual, Options: []podspec.Option{podspec.WithRequestFraction(0.5)}}, want: map[string]string{"a": "cpu=500m memory=512Mi / cpu=1 memory=1Gi"}},
		"options reach the sizes":                           {pod: pod(c("a", "")), plan: podspec.Plan{Options: []podspec.Option{podspec.WithCap(corev1.ResourceCPU, resource.MustParse("1m"))}}, err: podspec.ErrAboveMaximum},
		"bad options are reported":                          {pod: pod(c("a", "")), plan: podspec.Plan{Options: []podspec.Option{podspec.WithRequestFraction(7)}}, err: podspec.ErrOption},
		"a workload id that is no label":                    {pod: pod(c("a", "")), plan: podspec.Plan{Identity: podspec.Identity{Workload: strings.Repeat("x", 64)}}, err: podspec.ErrLabel},
		"nothing required and nothing set changes nothing":  {pod: pod(c("a", ""), c("init", "")), plan: podspec.Plan{Size: podspec.MustSize(podspec.GPU(0)), Options: []podspec.Option{podspec.WithRequired()}}, want: map[string]string{"a": "/", "init": "/"}},
		"storage is filled in beside what the pod has":      {pod: pod(c("a", whole)), plan: podspec.Plan{Size: podspec.MustSize(podspec.EphemeralStorage("1Gi"))}, want: map[string]string{"a": "cpu=1 memory=1Gi ephemeral-storage=1Gi / cpu=1 memory=1Gi ephemeral-storage=1Gi"}},
		"an init container gets its storage from main also": {pod: pod(c("a", ""), c("init", quartered)), plan: podspec.Plan{Size: podspec.Resolve(oneCore(), podspec.MustSize(podspec.EphemeralStorage("1Gi")))}, want: map[string]string{"a": "cpu=1 memory=1Gi ephemeral-storage=1Gi / cpu=1 memory=1Gi ephemeral-storage=1Gi", "init": "cpu=250m memory=64Mi ephemeral-storage=1Gi / cpu=250m memory=64Mi ephemeral-storage=1Gi"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.plan.Size.IsZero() {
				test.plan.Size = oneCore()
			}
			before := test.pod.DeepCopy()
			got, report, err := podspec.Apply(test.pod, test.plan)
			if diff := cmp.Diff(before, test.pod); diff != "" {
				t.Errorf("the argument changed: %s", diff)
			}
			if !errors.Is(err, test.err) || (err == nil) != (test.err == nil) {
				t.Fatalf("error %v, want %v", err, test.err)
			}
			if err != nil {
				if got != nil || len(report.Entries) > 0 {
					t.Errorf("a failed Apply gave %v, %v", got, report)
				}
				return
			}
			if diff := cmp.Diff(test.want, byName(got)); diff != "" {
				t.Error(diff)
			}
			again, second, err := podspec.Apply(got, test.plan)
			if err != nil || second.Changed() {
				t.Errorf("applying twice: %v, %v", second, err)
			}
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("applying twice changes: %s", diff)
			}
		})
	}
}

func byName(pod *corev1.Pod) map[string]string {
	got := map[string]string{}
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for _, c := range list {
			got[c.Name] = shown(c.Resources)
		}
	}
	return got
}

func TestApplyReportsEveryFault(t *testing.T) {
	p := pod(container("a", ""), container("b", ""), sidecar("s", ""))
	_, _, err := podspec.Apply(p, podspec.Plan{Main: "a"})
	for _, part := range []string{"spec.containers[a].resources", "does not set cpu, memory", `"b"`, `"s"`} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
}

func TestApplyNamesManyContainersBriefly(t *testing.T) {
	p := pod()
	for range 50 {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: strings.Repeat("x", 100)})
	}
	_, _, err := podspec.Apply(p, podspec.Plan{})
	if !errors.Is(err, podspec.ErrContainer) || len(err.Error()) > 2000 {
		t.Errorf("error of %d bytes", len(err.Error()))
	}
}

func TestApplyReport(t *testing.T) {
	p := pod(container("bot", "cpu=250m / memory=2Gi"))
	p.Labels = map[string]string{podspec.LabelManaged: "no"}
	_, report, err := podspec.Apply(p, podspec.Plan{Size: podspec.MustSize(podspec.Cores(1).From("env RUNTIME_BOT_CPU"), podspec.MiB(1024)), Identity: podspec.Identity{Workload: "w-1"}})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"kept metadata.labels[bursar.dev/managed] no (wanted true)",
		"set metadata.labels[bursar.dev/workload-id] w-1 (identity)",
		"kept spec.containers[bot].resources.requests.cpu 250m (wanted 1)",
		"set spec.containers[bot].resources.limits.cpu 1 (env RUNTIME_BOT_CPU)",
		"set spec.containers[bot].resources.requests.memory 2Gi (its own limit)",
		"kept spec.containers[bot].resources.limits.memory 2Gi (wanted 1Gi)",
	}, "\n")
	if diff := cmp.Diff(want, report.String()); diff != "" {
		t.Error(diff)
	}
	if !report.Changed() || len(report.Kept()) != 3 {
		t.Errorf("changed %v, kept %v", report.Changed(), report.Kept())
	}
	_, report, err = podspec.Apply(p, podspec.Plan{Size: oneCore(), Existing: podspec.Override})
	if err != nil || !strings.Contains(report.String(), "replaced spec.containers[bot].resources.limits.memory 2Gi by 1Gi (code)") {
		t.Errorf("report %v, error %v", report, err)
	}
}

func TestApplyOnNil(t *testing.T) {
	if _, _, err := podspec.Apply(nil, podspec.Plan{}); !errors.Is(err, podspec.ErrOption) {
		t.Errorf("got %v", err)
	}
	if _, _, err := podspec.ApplyTemplate(nil, podspec.Plan{}); !errors.Is(err, podspec.ErrOption) {
		t.Errorf("got %v", err)
	}
}

func TestApplyTemplate(t *testing.T) {
	template := &corev1.PodTemplateSpec{Spec: pod(container("a", "")).Spec}
	before := template.DeepCopy()
	got, report, err := podspec.ApplyTemplate(template, podspec.Plan{Size: oneCore(), Identity: podspec.Identity{Workload: "w"}})
	if err != nil || !report.Changed() {
		t.Fatal(report, err)
	}
	if diff := cmp.Diff(before, template); diff != "" {
		t.Errorf("the argument changed: %s", diff)
	}
	if got.Labels[podspec.LabelWorkload] != "w" || shown(got.Spec.Containers[0].Resources) != whole {
		t.Errorf("got %v", got)
	}
	if _, _, err := podspec.ApplyTemplate(template, podspec.Plan{}); !errors.Is(err, podspec.ErrIncomplete) {
		t.Errorf("got %v", err)
	}
}
