package podspec

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
)

// Hardening is a target that Harden brings a pod to. The zero value is PodSecurity "restricted" of the newest version.
type Hardening struct {
	// OmitSeccomp sets no seccomp profile. OpenShift up to 4.10 refuses pods that name one; PodSecurity restricted refuses
	// pods that do not.
	OmitSeccomp bool
	// OpenShift aims at the constraint restricted-v2 as well. User, group and SELinux ids are left to it, which takes them
	// from the namespace's range; ids that are in the pod and outside of it are conflicts.
	OpenShift bool
	// Namespace gives the ranges, on OpenShift; nil if they are not known.
	Namespace *corev1.Namespace
	// RequiredSCC is the constraint that the pod insists on, in the annotation openshift.io/required-scc; empty for none.
	RequiredSCC string
	// ServerMinor is the minor version of the API server whose checks have to pass; zero for the newest known.
	ServerMinor int
}

// Hardened is the result of Harden.
type Hardened struct {
	Report
	// Conflicts are what still keeps the pod from passing: things that were asked for explicitly, which Harden never
	// removes. With none the pod passes.
	Conflicts []Finding `json:"conflicts,omitempty"`
	// Notes are what to know before the pod starts.
	Notes []string `json:"notes,omitempty"`
}

// annotationRequiredSCC names the constraint that a pod insists on.
const annotationRequiredSCC = "openshift.io/required-scc"

// Harden makes a pod pass PodSecurity "restricted", and OpenShift's restricted-v2 if asked. It returns a copy in which
// what was missing is set: runAsNonRoot and the seccomp profile RuntimeDefault for the pod; for every container, init
// container and ephemeral container no privilege escalation and all capabilities dropped. Nothing else changes and nothing
// is removed: what is stricter stays, and what contradicts (a privileged container, a host path, user 0) is reported as a
// conflict by the checks of Kubernetes itself. Pods for Windows get only what applies there. Hardening twice changes nothing.
func Harden(pod *corev1.Pod, target Hardening) (*corev1.Pod, Hardened, error) {
	if pod == nil {
		return nil, Hardened{}, fmt.Errorf("%w: the pod is nil", ErrOption)
	}
	hard := pod.DeepCopy()
	result := harden(&hard.ObjectMeta, &hard.Spec, target)
	return hard, result, nil
}

// HardenTemplate is Harden for the pods that a controller makes.
func HardenTemplate(template *corev1.PodTemplateSpec, target Hardening) (*corev1.PodTemplateSpec, Hardened, error) {
	if template == nil {
		return nil, Hardened{}, fmt.Errorf("%w: the pod template is nil", ErrOption)
	}
	hard := template.DeepCopy()
	result := harden(&hard.ObjectMeta, &hard.Spec, target)
	return hard, result, nil
}

func harden(meta *metav1.ObjectMeta, spec *corev1.PodSpec, target Hardening) Hardened {
	h := &hardening{target: target, windows: spec.OS != nil && spec.OS.Name == corev1.Windows}
	h.pod(meta, spec)
	for i := range spec.Containers {
		h.container("spec.containers", spec.Containers[i].Name, &spec.Containers[i].SecurityContext)
	}
	for i := range spec.InitContainers {
		h.container("spec.initContainers", spec.InitContainers[i].Name, &spec.InitContainers[i].SecurityContext)
	}
	for i := range spec.EphemeralContainers {
		h.container("spec.ephemeralContainers", spec.EphemeralContainers[i].Name, &spec.EphemeralContainers[i].SecurityContext)
	}
	result := Hardened{Report: h.report, Conflicts: h.conflicts(meta, spec)}
	if !namesUser(spec) {
		result.Notes = append(result.Notes, "with runAsNonRoot, containers whose image runs as root, or names its user by name, do not start; set runAsUser or change the image")
	}
	return result
}

type hardening struct {
	target  Hardening
	windows bool
	report  Report
}

func (h *hardening) set(path, value string) {
	h.report.Entries = append(h.report.Entries, Entry{Action: ActionSet, Path: path, Now: value, Source: "hardening"})
}

// pod sets what belongs to the whole pod.
func (h *hardening) pod(meta *metav1.ObjectMeta, spec *corev1.PodSpec) {
	if scc := h.target.RequiredSCC; scc != "" && meta.Annotations[annotationRequiredSCC] == "" {
		if meta.Annotations == nil {
			meta.Annotations = map[string]string{}
		}
		meta.Annotations[annotationRequiredSCC] = scc
		h.set("metadata.annotations["+annotationRequiredSCC+"]", scc)
	}
	if spec.SecurityContext == nil {
		spec.SecurityContext = &corev1.PodSecurityContext{}
	}
	context := spec.SecurityContext
	if context.RunAsNonRoot == nil {
		yes := true
		context.RunAsNonRoot = &yes
		h.set("spec.securityContext.runAsNonRoot", "true")
	}
	if context.SeccompProfile == nil && !h.target.OmitSeccomp && !h.windows {
		context.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
		h.set("spec.securityContext.seccompProfile.type", string(corev1.SeccompProfileTypeRuntimeDefault))
	}
}

// container sets what belongs to one container.
func (h *hardening) container(list, name string, at **corev1.SecurityContext) {
	if h.windows {
		return
	}
	path := list + "[" + clip(name) + "].securityContext"
	if *at == nil {
		*at = &corev1.SecurityContext{}
	}
	context := *at
	if context.AllowPrivilegeEscalation == nil && !needsEscalation(context) {
		no := false
		context.AllowPrivilegeEscalation = &no
		h.set(path+".allowPrivilegeEscalation", "false")
	}
	if context.Capabilities == nil {
		context.Capabilities = &corev1.Capabilities{}
	}
	if !slices.Contains(context.Capabilities.Drop, "ALL") {
		context.Capabilities.Drop = append(context.Capabilities.Drop, "ALL")
		h.set(path+".capabilities.drop", "ALL")
	}
}

// needsEscalation says whether the API server would refuse allowPrivilegeEscalation=false beside what is there.
func needsEscalation(context *corev1.SecurityContext) bool {
	if context.Privileged != nil && *context.Privileged {
		return true
	}
	return context.Capabilities != nil && slices.Contains(context.Capabilities.Add, "CAP_SYS_ADMIN")
}

// conflicts asks the checks of Kubernetes what is still wrong, and OpenShift's ranges.
func (h *hardening) conflicts(meta *metav1.ObjectMeta, spec *corev1.PodSpec) []Finding {
	minor := h.target.ServerMinor
	if minor == 0 {
		minor = latestMinor
	}
	checked := &corev1.Pod{ObjectMeta: *meta, Spec: *spec.DeepCopy()}
	defaultVolumes(checked.Spec.Volumes)
	if h.target.OmitSeccomp && checked.Spec.SecurityContext.SeccompProfile == nil {
		checked.Spec.SecurityContext.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
	}
	found := violations(api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}, minor, checked, Refuses)
	if h.target.OpenShift && h.target.Namespace != nil {
		found = append(found, outsideRanges(h.target.Namespace, spec)...)
	}
	return found
}

// namesUser says whether every container has a user by number.
func namesUser(spec *corev1.PodSpec) bool {
	if spec.SecurityContext != nil && spec.SecurityContext.RunAsUser != nil {
		return true
	}
	all := true
	each(spec, func(container *corev1.Container) {
		all = all && container.SecurityContext != nil && container.SecurityContext.RunAsUser != nil
	})
	return all
}
