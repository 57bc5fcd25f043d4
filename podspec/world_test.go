package podspec_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/bursar-dev/bursar/podspec"
)

// amounts reads "cpu=1 memory=1Gi".
func amounts(text string) corev1.ResourceList { return resources(text).Requests }

// world is a snapshot of which everything is known and nothing is in the way.
func world(parts ...any) podspec.Snapshot {
	s := podspec.PlainCluster(37)
	for _, part := range parts {
		switch part := part.(type) {
		case corev1.LimitRange:
			s.LimitRanges.Value = append(s.LimitRanges.Value, part)
		case corev1.ResourceQuota:
			s.ResourceQuotas.Value = append(s.ResourceQuotas.Value, part)
		case schedulingv1.PriorityClass:
			s.PriorityClasses.Value = append(s.PriorityClasses.Value, part)
		case nodev1.RuntimeClass:
			s.RuntimeClasses.Value = append(s.RuntimeClasses.Value, part)
		case corev1.Namespace:
			s.Namespace.Value = part
		case int:
			s.ServerMinor.Value = part
		}
	}
	return s
}

// quota is a quota that is counted: hard, and used of it (zero where nothing is said).
func quota(name, hard, used string) corev1.ResourceQuota {
	q := corev1.ResourceQuota{}
	q.Name = name
	q.Spec.Hard = amounts(hard)
	q.Status.Hard = amounts(hard)
	q.Status.Used = amounts(used)
	if q.Status.Used == nil {
		q.Status.Used = corev1.ResourceList{}
	}
	for key := range q.Status.Hard {
		if _, ok := q.Status.Used[key]; !ok {
			q.Status.Used[key] = resource.Quantity{}
		}
	}
	return q
}

func scoped(q corev1.ResourceQuota, scopes ...corev1.ResourceQuotaScope) corev1.ResourceQuota {
	q.Spec.Scopes = scopes
	return q
}

// limitRange has one item: "default cpu=1; min cpu=1".
func limitRange(name string, kind corev1.LimitType, text string) corev1.LimitRange {
	item := corev1.LimitRangeItem{Type: kind}
	for part := range strings.SplitSeq(text, ";") {
		what, list, _ := strings.Cut(strings.TrimSpace(part), " ")
		switch what {
		case "default":
			item.Default = amounts(list)
		case "defaultRequest":
			item.DefaultRequest = amounts(list)
		case "min":
			item.Min = amounts(list)
		case "max":
			item.Max = amounts(list)
		case "ratio":
			item.MaxLimitRequestRatio = amounts(list)
		}
	}
	lr := corev1.LimitRange{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{item}}}
	lr.Name = name
	return lr
}

func priorityClass(name string, isDefault bool) schedulingv1.PriorityClass {
	class := schedulingv1.PriorityClass{Value: 7, GlobalDefault: isDefault}
	class.Name = name
	return class
}

// kataClass is the runtime class of that name; an empty overhead is none.
func kataClass(overhead string) nodev1.RuntimeClass {
	class := nodev1.RuntimeClass{}
	class.Name = "kata"
	if overhead != "" {
		class.Overhead = &nodev1.Overhead{PodFixed: amounts(overhead)}
	}
	return class
}

func labelled(labels ...string) corev1.Namespace {
	namespace := corev1.Namespace{}
	namespace.Labels = map[string]string{}
	for i := 0; i < len(labels); i += 2 {
		namespace.Labels["pod-security.kubernetes.io/"+labels[i]] = labels[i+1]
	}
	return namespace
}

func predict(t testing.TB, s podspec.Snapshot, p *corev1.Pod, options ...podspec.PredictOption) podspec.Prediction {
	t.Helper()
	prediction, err := podspec.Predict(s, p, options...)
	if err != nil {
		t.Fatal(err)
	}
	return prediction
}

// answer is a prediction in short: the verdict, and the category of a refusal.
func answer(p podspec.Prediction) string {
	if p.Verdict == podspec.Reject {
		return string(p.Category)
	}
	return string(p.Verdict)
}

// refusals are the messages of all refusals.
func refusals(p podspec.Prediction) []string {
	var messages []string
	for _, finding := range p.Refusals() {
		messages = append(messages, finding.Message)
	}
	return messages
}

// with changes a pod in place and returns it.
func with(p *corev1.Pod, change func(*corev1.Pod)) *corev1.Pod {
	change(p)
	return p
}
