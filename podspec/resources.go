package podspec

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
)

// isDevice says whether a resource is counted in devices: it is neither native nor hugepages.
func isDevice(name corev1.ResourceName) bool {
	return strings.Contains(string(name), "/")
}

// pageSize is the size in bytes of the pages of a hugepages resource.
func pageSize(name corev1.ResourceName) (int64, bool) {
	text, found := strings.CutPrefix(string(name), corev1.ResourceHugePagesPrefix)
	if !found {
		return 0, false
	}
	size, err := resource.ParseQuantity(text)
	if err != nil || size.Sign() <= 0 {
		return 0, false
	}
	return size.Value(), true
}

// checkResourceName refuses names that a container cannot ask for: the API server knows cpu, memory, ephemeral-storage,
// hugepages of a size, and extended resources, whose names have a domain that is not kubernetes.io.
func checkResourceName(name corev1.ResourceName) *SizeError {
	text := string(name)
	refuse := func(reason, hint string) *SizeError { return fault(ErrResourceName, "resource", text, reason, hint) }
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return nil
	case "":
		return refuse("has no name", "")
	case "gpu":
		return refuse("has no domain", "write "+string(GPUResource)+" or the name that your device plugin registers")
	}
	if strings.HasPrefix(text, corev1.ResourceHugePagesPrefix) {
		if _, ok := pageSize(name); !ok {
			return refuse("has no page size", "such as hugepages-2Mi")
		}
		return nil
	}
	domain, _, qualified := strings.Cut(text, "/")
	switch {
	case !qualified:
		return refuse("is not a resource that a container can request", "cpu, memory, ephemeral-storage, hugepages-<size> or domain/name")
	case strings.HasPrefix(text, corev1.DefaultResourceRequestsPrefix):
		return refuse("is the name of a quota, not of a resource", "")
	case domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io"):
		return refuse("is in a domain that is reserved for Kubernetes", "")
	case len(text) > maxResourceName:
		return refuse("is too long", "")
	}
	// A quota names an extended resource with "requests." before it, so that form has to be a qualified name too.
	if faults := validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix + text); len(faults) > 0 {
		return refuse("is not a qualified name", faults[0])
	}
	return nil
}
