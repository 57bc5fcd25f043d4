package podspec

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/bursar-dev/bursar/policy"
)

// Sentinels of the policies' part in sizes.
var (
	// ErrPolicy: a policy refuses the pod, or could not be asked.
	ErrPolicy = errors.New("policies refuse the pod")
	// ErrNoHook: there is nobody to ask. It comes with ErrPolicy.
	ErrNoHook = errors.New("no policy hook was given")
)

// Review asks a policy for caps on a size before [BuildPodResources] turns it into resources, and lowers the size to them. The
// operation, the pod's cpu, memory, storage and devices and everything that follows from other fields of the input are filled
// in here; the caller says the rest, such as the profile. See [Heed] for what becomes of the verdict. The hook decides how long
// it may take; an error of it and a verdict beside an error refuse. The verdict is returned in any case, with its warnings.
func Review(ctx context.Context, hook policy.Hook, in policy.Input, size Size) (Size, Report, policy.Verdict, error) {
	if hook == nil {
		return Size{}, Report{}, policy.Verdict{}, fmt.Errorf("%w: %w", ErrPolicy, ErrNoHook)
	}
	set, err := asSet(hook)
	if err != nil {
		return Size{}, Report{}, policy.Verdict{}, fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	in.Operation = policy.BuildPod
	size.describe(&in.Pod)
	in = in.Complete()
	verdict, err := set.Evaluate(ctx, &in)
	if err != nil {
		return Size{}, Report{}, verdict, fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	lowered, report, err := Heed(size, verdict)
	return lowered, report, verdict, err
}

// asSet bounds a hook in time and turns its panics into refusals, which a set does by itself.
func asSet(hook policy.Hook) (policy.Hook, error) {
	switch hook.(type) {
	case *policy.Set, *policy.Holder:
		return hook, nil
	}
	return policy.NewSet(policy.Options{}, policy.Binding{Hook: hook})
}

// describe writes what a size sets as policies see it.
func (s Size) describe(pod *policy.Pod) {
	pod.CPUMilli, pod.MemoryBytes, pod.EphemeralBytes, pod.GPUs = 0, 0, 0, 0
	for name, amount := range s.amounts {
		switch {
		case name == corev1.ResourceCPU:
			pod.CPUMilli = amount.quantity.MilliValue()
		case name == corev1.ResourceMemory:
			pod.MemoryBytes = amount.quantity.Value()
		case name == corev1.ResourceEphemeralStorage:
			pod.EphemeralBytes = amount.quantity.Value()
		case isDevice(name) && strings.HasSuffix(string(name), "gpu"):
			pod.GPUs += min(amount.quantity.Value(), math.MaxInt64-pod.GPUs)
		}
	}
}

// Heed takes a policy's verdict into a size, for [BuildPodResources]: what the verdict refuses is an ErrPolicy, and each
// dimension that it caps becomes the lesser of the size and the cap. A dimension that the size does not set becomes the cap,
// since without a limit the container could use more. What was lowered or set is reported, and carries its cap as its
// source. It is pure, and never raises an amount. A cap of 0 leaves a size that BuildPodResources refuses.
//
// The caps bound the one container whose size it is; cost, tokens and the deadline are the caller's, see [CapDeadline].
func Heed(size Size, verdict policy.Verdict) (Size, Report, error) {
	if !verdict.Allowed() {
		return Size{}, Report{}, refusal(verdict)
	}
	lowered, report := Size{amounts: maps.Clone(size.amounts)}, Report{}
	if lowered.amounts == nil {
		lowered.amounts = map[corev1.ResourceName]Amount{}
	}
	for _, limit := range []struct {
		name corev1.ResourceName
		most *int64
		cap  string
	}{
		{corev1.ResourceCPU, verdict.Caps.CPUMilli, "cpuMilli"},
		{corev1.ResourceMemory, verdict.Caps.MemoryBytes, "memoryBytes"},
	} {
		if limit.most != nil {
			lowered.limit(limit.name, quantityOf(limit.name, *limit.most), "policy cap "+limit.cap, &report)
		}
	}
	return lowered, report, nil
}

// limit lowers one dimension.
func (s Size) limit(name corev1.ResourceName, most resource.Quantity, source string, report *Report) {
	entry := Entry{Action: ActionSet, Path: "size." + string(name), Now: most.String(), Source: source}
	if had, set := s.amounts[name]; set {
		if had.quantity.Cmp(most) <= 0 {
			return
		}
		entry.Action, entry.Had = ActionReplaced, had.String()
	}
	s.amounts[name] = Amount{quantity: most, source: source}
	report.Entries = append(report.Entries, entry)
}

// CapDeadline lowers the deadline of a pod to a policy's cap, sets it where the pod has none, and reports either. A cap of 0
// is an ErrPolicy, since no pod can have that deadline. The spec is changed only where the cap is lower.
func CapDeadline(spec *corev1.PodSpec, caps policy.Caps) (Report, error) {
	most := caps.DeadlineSeconds
	if most == nil || spec.ActiveDeadlineSeconds != nil && *spec.ActiveDeadlineSeconds <= *most {
		return Report{}, nil
	}
	if *most <= 0 {
		return Report{}, fmt.Errorf("%w: cap deadlineSeconds %d leaves it no time", ErrPolicy, *most)
	}
	entry := Entry{Action: ActionSet, Path: "spec.activeDeadlineSeconds", Now: strconv.FormatInt(*most, 10), Source: "policy cap deadlineSeconds"}
	if had := spec.ActiveDeadlineSeconds; had != nil {
		entry.Action, entry.Had = ActionReplaced, strconv.FormatInt(*had, 10)
	}
	deadline := *most
	spec.ActiveDeadlineSeconds = &deadline
	return Report{Entries: []Entry{entry}}, nil
}

// refusal says why a policy refuses the pod.
func refusal(verdict policy.Verdict) error {
	reasons := make([]string, 0, len(verdict.Reasons))
	for _, r := range verdict.Reasons {
		reasons = append(reasons, strings.TrimPrefix(fmt.Sprintf("%s: %s (%s)", r.Policy, r.Message, r.Code), ": "))
	}
	if len(reasons) == 0 {
		return fmt.Errorf("%w and give no reason", ErrPolicy)
	}
	return fmt.Errorf("%w: %s", ErrPolicy, strings.Join(reasons, "; "))
}
