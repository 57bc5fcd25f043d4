package mutants

import "path/filepath"

// Podspec is the suite of package podspec in the repository that has its root in a folder.
func Podspec(root string) (Suite, error) {
	dir, err := filepath.Abs(filepath.Join(root, "podspec"))
	return Suite{
		Dir: dir, Package: "podspec", Recorded: "^(TestWorlds|TestFailures)$", Slow: "Preserves",
		Mutants: append(append(sizesAndDefaults(), checks()...), quotas()...),
	}, err
}

// sizesAndDefaults are mistakes in what a pod becomes and what it uses.
func sizesAndDefaults() []Mutant {
	return []Mutant{
		{"LimitRanges fill in before limits become requests", "predict.go", "	decode(pod, minor)\n	for _, limits := range ranges {",
			"	defer decode(pod, minor)\n	for _, limits := range ranges {"},
		{"a max is no default limit", "limitrange.go", "fallback(&own, rounded(item.Max))", ""},
		{"a default limit is no default request", "limitrange.go", "fallback(&ownRequests, own)", ""},
		{"a min is no default request", "limitrange.go", "fallback(&ownRequests, rounded(item.Min))", ""},
		{"a LimitRange overrides what is declared", "limitrange.go", "if _, ok := (*list)[name]; !ok {\n					put(list, name, from[name])", "{\n					put(list, name, from[name])"},
		{"a LimitRange leaves init containers alone", "limitrange.go", "fill(&spec.InitContainers[i], true)", "_ = i"},
		{"one order of LimitRanges is enough", "limitrange.go", "case len(base) < 2 || !contradict(base):", "default:"},
		{"amounts are not rounded", "defaulting.go", "exact := quantity.RoundUp(resource.Milli); !exact", "exact := true; !exact"},
		{"the pod level is filled in before admission on every server", "defaulting.go", "	if minor < minorPodLevelFixed {", "	if true {"},
		{"the pod level is filled in after admission on every server", "defaulting.go", "	if minor < minorPodLevelFixed {", "	if minor < 0 {"},
		{"no server drops the pod level", "defaulting.go", "	if minor < minorPodLevel {", "	if minor < 0 {"},
		{"there is no default priority class", "classes.go", `case name == "" && class.GlobalDefault && `, "case false && "},
		{"init containers are ignored", "usage.go", "	if len(spec.InitContainers) == 0 {", "	if len(spec.InitContainers) >= 0 {"},
		{"init containers are added up", "usage.go", "	raise(running, starting)", "	add(running, starting)"},
		{"sidecars are taken for init containers", "usage.go", "		if isSidecar(init) {", "		if isSidecar(init) && init.Name == \"\" {"},
		{"init containers run without the sidecars before them", "usage.go", "together := sidecars.DeepCopy()", "together := corev1.ResourceList{}"},
		{"requests have no overhead", "usage.go", "	add(total, pod.Spec.Overhead)\n", ""},
		{"limits have no overhead", "usage.go", "if limit, ok := total[name]; ok && !limit.IsZero() {", "if limit, ok := total[name]; ok && false {"},
		{"a limit of zero has overhead", "usage.go", "if limit, ok := total[name]; ok && !limit.IsZero() {", "if limit, ok := total[name]; ok {"},
		{"the pod level is added to its containers", "usage.go", "		if may(name) {\n			total[name] = quantity.DeepCopy()", "		if may(name) {\n			add(total, corev1.ResourceList{name: quantity})"},
		{"a GPU makes a pod Burstable", "qos.go", "	if cpu != memory {", "	for name := range r.Limits {\n		if isDevice(name) {\n			return corev1.PodQOSBurstable\n		}\n	}\n	if cpu != memory {"},
		{"init containers do not count for the class", "qos.go", "[][]corev1.Container{spec.InitContainers, spec.Containers}", "[][]corev1.Container{spec.Containers}"},
		{"an empty pod level decides the class on every server", "qos.go", "(serverMinor < minorPodLevelFixed || hasPodLevel(spec))", "true"},
	}
}

// checks are mistakes in what makes a pod invalid or breaks a LimitRange or PodSecurity.
func checks() []Mutant {
	return []Mutant{
		{"a request may exceed its limit", "validity.go", "case p.request.Cmp(p.limit) > 0:", "case p.request.Cmp(p.limit) > 1:"},
		{"devices may be overcommitted", "validity.go", "return nativeResource(name) && !isHugepages(name)", "return !isHugepages(name)"},
		{"devices may be shared", "validity.go", "if extendedResource(name) && quantity.MilliValue()%1000 != 0 {", "if false {"},
		{"hugepages need nothing beside them", "validity.go", "	if pages && !compute {", "	if false {"},
		{"the pod level need not cover the containers", "validity.go", "sum.Cmp(own) > 0 {", "sum.Cmp(own) > 1 {"},
		{"a LimitRange for pods counts overhead", "limitrange_check.go", "			overlay(sums, level(spec).Limits, computeResource)\n", "			overlay(sums, level(spec).Limits, computeResource)\n			add(requests, spec.Overhead)\n			add(sums, spec.Overhead)\n"},
		{"a LimitRange for pods knows no pod level", "limitrange_check.go", "			overlay(sums, level(spec).Limits, computeResource)\n", ""},
		{"a minimum is a bound that is never reached", "limitrange_check.go", "func(request, _, bound int64) bool { return request < bound }", "func(request, _, bound int64) bool { return request <= bound }"},
		{"a maximum needs no limit", "limitrange_check.go", "	case !p.limited:\n		return b.finding(name, \"limits\", nil, most, \"has no limit", "	case !p.limited && name == \"\":\n		return b.finding(name, \"limits\", nil, most, \"has no limit"},
		{"a ratio takes zero", "limitrange_check.go", "return comparable3(p, most, func(request, limit, bound int64) bool { return which(request, limit, bound) == 0 })", "return false"},
		{"ratios are whole numbers", "limitrange_check.go", "	if most.Value() <= resource.MaxMilliValue {", "	if most.Value() < 0 {"},
		{"a LimitRange does not bound init containers", "limitrange_check.go", "			each(spec, func(container *corev1.Container) {\n", "			each(&corev1.PodSpec{Containers: spec.Containers}, func(container *corev1.Container) {\n"},
		{"latest is the latest of the library", "podsecurity.go", "newest.Older(level.Version)", "newest.Older(level.Version) && minor < 0"},
		{"PodSecurity that is not known admits", "podsecurity.go", "	if len(failed) == 0 {", "	if len(failed) >= 0 {"},
		{"a volume without source is none", "defaulting.go", "volumes[i].EmptyDir = &corev1.EmptyDirVolumeSource{}", "continue"},
	}
}

// quotas are mistakes in what quotas see of a pod.
func quotas() []Mutant {
	return []Mutant{
		{"quotas are enforced from their spec", "quota.go", "podResources(rounded(quota.Status.Hard)), rounded(quota.Status.Used)", "podResources(rounded(quota.Spec.Hard)), rounded(quota.Status.Used)"},
		{"zero is missing", "quota.go", "		_, declared := r.Limits[corev1.ResourceName(name)]\n		return declared", "		amount, declared := r.Limits[corev1.ResourceName(name)]\n		return declared && !amount.IsZero()"},
		{"only the main container has to declare", "quota.go", "			if declares(&container.Resources, key) {", "			if declares(&container.Resources, key) || container != &s.pod.Spec.Containers[0] {"},
		{"init containers need not declare", "quota.go", "		each(&s.pod.Spec, func(container *corev1.Container) {", "		each(&corev1.PodSpec{Containers: s.pod.Spec.Containers}, func(container *corev1.Container) {"},
		{"the pod level does not excuse containers", "quota.go", "if s.minor >= minorPodLevel && hasPodLevel(&s.pod.Spec) {", "if false {"},
		{"storage is mandatory", "quota_match.go", "corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory:\n		return true\n	}\n	return false", "corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory:\n		return true\n	}\n	return name == corev1.ResourceRequestsEphemeralStorage"},
		{"a delta of zero is checked", "quota.go", "		if !uses || need.IsZero() {", "		if !uses {"},
		{"keys of a quota that the pod does not use are checked", "quota.go", "		if !uses || need.IsZero() {", "		if uses && need.IsZero() {"},
		{"a full quota is exceeded", "quota.go", "if after.Cmp(limit) <= 0 {", "if after.Cmp(limit) < 0 {"},
		{"what is used does not count", "quota.go", "		after := spent.DeepCopy()\n", "		after := resource.Quantity{}\n"},
		{"usage that is not counted yet passes", "quota.go", "if _, counted := used[key]; !counted {", "if _, counted := used[key]; !counted && len(used) > 99 {"},
		{"pods are not counted", "quota_match.go", "		return *resource.NewQuantity(1, resource.DecimalSI), true", "		return resource.Quantity{}, false"},
		{"the plain names are not those of requests", "quota_match.go", "	return chargeFor(c.requests, key, func(name", "	return chargeFor(nil, key, func(name"},
		{"hugepages are not counted", "quota_match.go", "return storable(name) || isHugepages(name) || extendedResource(name)", "return storable(name) || extendedResource(name)"},
		{"scopes are ignored", "quota_match.go", "	for _, scope := range quota.Spec.Scopes {", "	for _, scope := range quota.Spec.Scopes[:0] {"},
		{"scope selectors are ignored", "quota_match.go", "	if quota.Spec.ScopeSelector == nil {", "	if quota != nil {"},
		{"scope NotBestEffort matches all", "quota_match.go", "return class != corev1.PodQOSBestEffort, nil", "return true, nil"},
		{"scope Terminating matches all", "quota_match.go", "		return terminating(pod), nil", "		return true, nil"},
		{"affinity never looks at other namespaces", "quota_match.go", "		return crossesNamespaces(pod.Spec.Affinity), nil", "		return false, nil"},
		{"a class that is not there matches no selector", "quota_match.go", "	set := labels.Set{}\n", "	if class == \"\" {\n		return false, nil\n	}\n	set := labels.Set{}\n"},
	}
}
