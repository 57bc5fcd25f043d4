package podspec_test

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/podspec"
)

func TestHardenedPodsPassRestricted(t *testing.T) {
	p := pod(container("main", whole), container("init", whole), sidecar("s", whole))
	if got := answer(predict(t, world(labelled("enforce", "restricted")), p)); got != "PodSecurity" {
		t.Fatalf("the plain pod: %v", got)
	}
	before := p.DeepCopy()
	hard, result, err := podspec.Harden(p, podspec.Hardening{})
	if err != nil || len(result.Conflicts) != 0 || len(result.Notes) != 1 {
		t.Fatalf("%+v, %v", result, err)
	}
	if diff := cmp.Diff(before, p); diff != "" {
		t.Errorf("the argument changed: %s", diff)
	}
	for minor := 25; minor <= 37; minor++ {
		if got := predict(t, world(minor, labelled("enforce", "restricted")), hard); answer(got) != "Admit" {
			t.Errorf("1.%d: %v", minor, got.Findings)
		}
	}
	want := []string{
		"set spec.securityContext.runAsNonRoot true (hardening)",
		"set spec.securityContext.seccompProfile.type RuntimeDefault (hardening)",
		"set spec.containers[main].securityContext.allowPrivilegeEscalation false (hardening)",
		"set spec.containers[main].securityContext.capabilities.drop ALL (hardening)",
		"set spec.initContainers[init].securityContext.allowPrivilegeEscalation false (hardening)",
		"set spec.initContainers[init].securityContext.capabilities.drop ALL (hardening)",
		"set spec.initContainers[s].securityContext.allowPrivilegeEscalation false (hardening)",
		"set spec.initContainers[s].securityContext.capabilities.drop ALL (hardening)",
	}
	if diff := cmp.Diff(want, strings.Split(result.String(), "\n")); diff != "" {
		t.Error(diff)
	}
	again, second, err := podspec.Harden(hard, podspec.Hardening{})
	if err != nil || second.Changed() {
		t.Errorf("hardening twice: %v, %v", second, err)
	}
	if diff := cmp.Diff(hard, again); diff != "" {
		t.Error(diff)
	}
}

func TestHardenReportsConflictsAndRemovesNothing(t *testing.T) {
	yes, no, root := true, false, int64(0)
	main := func(change func(*corev1.Pod, *corev1.SecurityContext)) *corev1.Pod {
		p := main(whole)
		p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{}
		change(p, p.Spec.Containers[0].SecurityContext)
		return p
	}
	tests := map[string]struct {
		pod  *corev1.Pod
		says string
	}{
		"a privileged container": {main(func(_ *corev1.Pod, c *corev1.SecurityContext) { c.Privileged = &yes }), "privileged"},
		"escalation":             {main(func(_ *corev1.Pod, c *corev1.SecurityContext) { c.AllowPrivilegeEscalation = &yes }), "allowPrivilegeEscalation"},
		"SYS_ADMIN": {main(func(_ *corev1.Pod, c *corev1.SecurityContext) {
			c.Capabilities = &corev1.Capabilities{Add: []corev1.Capability{"CAP_SYS_ADMIN"}}
		}), "CAP_SYS_ADMIN"},
		"NET_RAW": {main(func(_ *corev1.Pod, c *corev1.SecurityContext) {
			c.Capabilities = &corev1.Capabilities{Add: []corev1.Capability{"NET_RAW", "NET_BIND_SERVICE"}}
		}), "NET_RAW"},
		"root": {main(func(_ *corev1.Pod, c *corev1.SecurityContext) { c.RunAsUser = &root }), "runAsUser=0"},
		"root for the pod": {main(func(p *corev1.Pod, _ *corev1.SecurityContext) {
			p.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: &no}
		}), "runAsNonRoot"},
		"unconfined": {main(func(_ *corev1.Pod, c *corev1.SecurityContext) {
			c.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined}
		}), "seccompProfile"},
		"a host path": {main(func(p *corev1.Pod, _ *corev1.SecurityContext) {
			p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}}
		}), "hostPath"},
		"the host's network": {main(func(p *corev1.Pod, _ *corev1.SecurityContext) { p.Spec.HostNetwork = true }), "hostNetwork"},
		"a probe of another host": {main(func(p *corev1.Pod, _ *corev1.SecurityContext) {
			p.Spec.Containers[0].ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Host: "1.2.3.4"}}}
		}), "1.2.3.4"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			hard, result, err := podspec.Harden(test.pod, podspec.Hardening{})
			if err != nil || len(result.Conflicts) == 0 || !strings.Contains(result.Conflicts[0].Message+result.Conflicts[len(result.Conflicts)-1].Message, test.says) {
				t.Errorf("conflicts %v, error %v", result.Conflicts, err)
			}
			paths, err := differencesOf(test.pod, hard)
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range paths {
				if !hardenable.MatchString(path) {
					t.Errorf("Harden changed %s", path)
				}
			}
			sc := hard.Spec.Containers[0].SecurityContext
			if sc.Privileged != nil && sc.AllowPrivilegeEscalation != nil {
				t.Error("no escalation beside privileged: the API server refuses that")
			}
		})
	}
}

func TestHardenKeepsWhatIsStricter(t *testing.T) {
	p := main(whole)
	user, profile := int64(1000), "mine.json"
	p.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: &user, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeLocalhost, LocalhostProfile: &profile}}
	hard, result, err := podspec.Harden(p, podspec.Hardening{})
	if err != nil || len(result.Conflicts) != 0 || len(result.Notes) != 0 || hard.Spec.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeLocalhost {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestR26SeccompCanBeOmitted(t *testing.T) {
	hard, result, err := podspec.Harden(main(whole), podspec.Hardening{OmitSeccomp: true})
	if err != nil || len(result.Conflicts) != 0 || hard.Spec.SecurityContext.SeccompProfile != nil {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestHardenWindows(t *testing.T) {
	p := with(main(whole), func(p *corev1.Pod) { p.Spec.OS = &corev1.PodOS{Name: corev1.Windows} })
	hard, result, err := podspec.Harden(p, podspec.Hardening{ServerMinor: 36})
	if err != nil || len(result.Conflicts) != 0 || hard.Spec.Containers[0].SecurityContext != nil || hard.Spec.SecurityContext.SeccompProfile != nil || !*hard.Spec.SecurityContext.RunAsNonRoot {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestHardenTemplate(t *testing.T) {
	template := &corev1.PodTemplateSpec{Spec: main(whole).Spec}
	hard, result, err := podspec.HardenTemplate(template, podspec.Hardening{RequiredSCC: "restricted-v2"})
	if err != nil || len(result.Conflicts) != 0 || hard.Annotations["openshift.io/required-scc"] == "" || template.Annotations != nil {
		t.Errorf("%+v, %v", result, err)
	}
	if _, _, err := podspec.HardenTemplate(nil, podspec.Hardening{}); !errors.Is(err, podspec.ErrOption) {
		t.Errorf("got %v", err)
	}
	if _, _, err := podspec.Harden(nil, podspec.Hardening{}); !errors.Is(err, podspec.ErrOption) {
		t.Errorf("got %v", err)
	}
}

func TestOpenShiftRanges(t *testing.T) {
	namespace := &corev1.Namespace{}
	namespace.Annotations = map[string]string{
		"openshift.io/sa.scc.uid-range": "1000/10, junk, 5-x", "openshift.io/sa.scc.supplemental-groups": "2000-2009,3000/1", "openshift.io/sa.scc.mcs": "s0:c1,c2",
	}
	first, last, beyond, group, extra := int64(1000), int64(1009), int64(1010), int64(2005), int64(3000)
	p := main(whole)
	p.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: &first, FSGroup: &group, SupplementalGroups: []int64{extra, 3001}, SELinuxOptions: &corev1.SELinuxOptions{Level: "s0:c1,c2"}}
	p.Spec.Containers = append(p.Spec.Containers, *p.Spec.Containers[0].DeepCopy())
	p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{RunAsUser: &last}
	p.Spec.Containers[1].SecurityContext = &corev1.SecurityContext{RunAsUser: &beyond, SELinuxOptions: &corev1.SELinuxOptions{Level: "s0:c9"}}
	_, result, err := podspec.Harden(p, podspec.Hardening{OpenShift: true, Namespace: namespace})
	var got []string
	for _, conflict := range result.Conflicts {
		if conflict.Category == podspec.CategorySCC {
			got = append(got, conflict.Message)
		}
	}
	want := []string{
		"spec.securityContext.supplementalGroups is 3001, and the namespace allows 2000 to 2009, 3000 to 3000",
		"securityContext.runAsUser of container main is 1010, and the namespace allows 1000 to 1009",
		"securityContext.seLinuxOptions of container main.level is s0:c9, and the namespace allows s0:c1,c2",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

var hardenable = regexp.MustCompile(`^/spec/((ephemeralContainers|initContainers|containers)/\d+/)?securityContext`)

// TestHardenPreservesEverythingElse fills every field of a pod.
func TestHardenPreservesEverythingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pod := filled[corev1.Pod](chosen(t))
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "cleared"), 0))
		soften := func(at **corev1.SecurityContext) {
			switch random.IntN(4) {
			case 0:
				*at = nil
			case 1:
				(*at).Capabilities, (*at).AllowPrivilegeEscalation = nil, nil
			}
		}
		for i := range pod.Spec.Containers {
			soften(&pod.Spec.Containers[i].SecurityContext)
		}
		if random.IntN(2) == 0 {
			pod.Spec.SecurityContext = nil
		}
		before := pod.DeepCopy()
		hard, result, err := podspec.Harden(pod, podspec.Hardening{OpenShift: true, Namespace: &corev1.Namespace{}})
		if err != nil || len(result.Conflicts) == 0 {
			t.Fatalf("%v, %v", result.Conflicts, err)
		}
		if diff := cmp.Diff(before, pod); diff != "" {
			t.Fatalf("the argument changed: %s", diff)
		}
		for _, path := range differencesIn(t, pod, hard) {
			if !hardenable.MatchString(path) {
				t.Errorf("Harden changed %s", path)
			}
		}
		again, second, err := podspec.Harden(hard, podspec.Hardening{})
		if err != nil || second.Changed() {
			t.Errorf("hardening twice: %v", second)
		}
		if diff := cmp.Diff(hard, again); diff != "" {
			t.Error(diff)
		}
	})
}
