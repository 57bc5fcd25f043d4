package podspec_test

import (
	"context"
	"errors"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/internal/integration/cluster"
	"github.com/bursar-dev/bursar/podspec"
)

// B6: every class of refusal that the API server has is explained. Quotas are in TestB4 and TestB8, PodSecurity in TestB9.

func TestB6_AnInvalidPodIsExplained(t *testing.T) {
	namespace := shared.Namespace(t, nil)
	pod := newPod(namespace, "bot", amounts("cpu", "1"))
	pod.Spec.Containers[0].Resources.Limits = amounts("cpu", "200m")
	got := judge(t, pod)
	if d := got.Answer.Diagnosis; d.Category != podspec.CategoryInvalid || d.Retry != podspec.RetryNever || len(d.Causes) != 1 {
		t.Fatalf("got %+v", d)
	}
	refusal := got.Prediction.Refusals()[0]
	if refusal.Have.String() != "1" || refusal.Bound.String() != "200m" || refusal.Resource != "cpu" {
		t.Errorf("predicted %+v", refusal)
	}
}

func TestB6_ALimitRangeThatRefusesIsExplained(t *testing.T) {
	items := map[string]struct {
		item corev1.LimitRangeItem
		pod  corev1.ResourceRequirements
		want podspec.Figure
	}{
		"above the maximum": {
			corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Max: amounts("cpu", "1")},
			corev1.ResourceRequirements{Limits: amounts("cpu", "2")},
			podspec.Figure{Resource: "cpu", Field: "limits", Have: new(resource.MustParse("2")), Bound: new(resource.MustParse("1"))},
		},
		"below the minimum": {
			corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Min: amounts("memory", "128Mi")},
			corev1.ResourceRequirements{Limits: amounts("memory", "64Mi")},
			podspec.Figure{Resource: "memory", Field: "requests", Have: new(resource.MustParse("64Mi")), Bound: new(resource.MustParse("128Mi"))},
		},
		"above the ratio": {
			corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Default: amounts("cpu", "100m"), MaxLimitRequestRatio: amounts("cpu", "1500m")},
			corev1.ResourceRequirements{Requests: amounts("cpu", "1"), Limits: amounts("cpu", "2")},
			podspec.Figure{Resource: "cpu", Field: "ratio", Bound: new(resource.MustParse("1500m"))},
		},
	}
	for sentence, c := range items {
		t.Run(sentence, func(t *testing.T) {
			namespace := shared.Namespace(t, nil)
			newLimits(t, namespace, func(pod *corev1.Pod, err error) bool {
				return err != nil || len(pod.Spec.Containers[0].Resources.Requests) > 0
			}, c.item)
			pod := newPod(namespace, "bot", nil)
			pod.Spec.Containers[0].Resources = c.pod
			got := judge(t, pod)
			d := got.Answer.Diagnosis
			if d.Category != podspec.CategoryLimitRange || len(d.Figures) != 1 {
				t.Fatalf("got %+v", d)
			}
			figure := d.Figures[0]
			if figure.Resource != c.want.Resource || figure.Field != c.want.Field || figure.Bound.Cmp(*c.want.Bound) != 0 || c.want.Have != nil && figure.Have.Cmp(*c.want.Have) != 0 {
				t.Errorf("got %+v, want %+v", figure, c.want)
			}
			for _, finding := range got.Prediction.Refusals() {
				if finding.Resource != figure.Resource || finding.Bound.Cmp(*figure.Bound) != 0 {
					t.Errorf("predicted %+v", finding)
				}
			}
		})
	}
}

func TestB6_ClassesThatDoNotExistAreExplained(t *testing.T) {
	namespace := shared.Namespace(t, nil)
	pod := newPod(namespace, "bot", nil)
	pod.Spec.PriorityClassName = "nowhere"
	if d := judge(t, pod).Answer.Diagnosis; d.Category != podspec.CategoryPriorityClass || d.Object != "PriorityClass nowhere" {
		t.Errorf("got %+v", d)
	}
	pod.Spec.PriorityClassName, pod.Spec.RuntimeClassName = "", new("nowhere")
	if d := judge(t, pod).Answer.Diagnosis; d.Category != podspec.CategoryRuntimeClass || d.Object != "RuntimeClass nowhere" {
		t.Errorf("got %+v", d)
	}
}

func TestB6_NamesAndNamespacesAreExplained(t *testing.T) {
	namespace := shared.Namespace(t, nil)
	pod := newPod(namespace, "bot", nil)
	if err := shared.Client.Create(t.Context(), pod.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	if d := podspec.ExplainError(shared.Client.Create(t.Context(), pod.DeepCopy())); d.Category != podspec.CategoryAlreadyExists {
		t.Errorf("the second of a name: %+v", d)
	}
	if answer := judge(t, pod).Answer; answer.Verdict != podspec.Admit || !answer.Taken {
		t.Errorf("a dry run of a name that is taken: %+v", answer)
	}
	pod.Namespace = "nowhere"
	if d := podspec.ExplainError(shared.Client.Create(t.Context(), pod.DeepCopy())); d.Category != podspec.CategoryNamespaceMissing {
		t.Errorf("in no namespace: %+v", d)
	}

	ending := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "ending-"}, Spec: corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{"kubernetes", "example.com/hold"}}}
	if err := shared.Client.Create(t.Context(), ending); err != nil {
		t.Fatal(err)
	}
	if err := shared.Client.Delete(t.Context(), ending); err != nil {
		t.Fatal(err)
	}
	pod.Namespace = ending.Name
	cluster.Eventually(t, "a namespace that ends takes no pods, as is predicted", func(ctx context.Context) error {
		err := shared.Client.Create(ctx, pod.DeepCopy(), client.DryRunAll)
		if d := podspec.ExplainError(err); d.Category != podspec.CategoryNamespaceTerminating || d.Object != "Namespace "+ending.Name {
			return errors.Join(err, errors.New(string(d.Category)))
		}
		return nil
	})
	if got := judge(t, pod); got.Prediction.Category != podspec.CategoryNamespaceTerminating {
		t.Errorf("predicted %s %s", got.Prediction.Verdict, got.Prediction.Category)
	}
}

// A policy that refuses pods without a team, and a webhook that nobody answers.
func TestB6_PoliciesAndWebhooksAreExplained(t *testing.T) {
	namespace := shared.Namespace(t, map[string]string{"policy": "strict"})
	in := &metav1.LabelSelector{MatchLabels: map[string]string{"policy": "strict"}}
	rule := admissionv1.RuleWithOperations{Operations: []admissionv1.OperationType{admissionv1.Create}, Rule: admissionv1.Rule{
		APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"},
	}}
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "team.example.com"}, Spec: admissionv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: rule}}},
		Validations:      []admissionv1.Validation{{Expression: "has(object.metadata.labels) && 'team' in object.metadata.labels", Message: "every pod needs a team"}},
	}}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "team.example.com"}, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: policy.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}, MatchResources: &admissionv1.MatchResources{NamespaceSelector: in},
	}}
	made(t, policy)
	made(t, binding)
	pod := newPod(namespace, "bot", nil)
	cluster.Eventually(t, "the policy refuses the pod", func(ctx context.Context) error {
		err := shared.Client.Create(ctx, pod.DeepCopy(), client.DryRunAll)
		if d := podspec.ExplainError(err); d.Category != podspec.CategoryWebhook || d.Webhook != policy.Name || d.Retry != podspec.RetryNever {
			return errors.Join(err, errors.New(string(d.Category)))
		}
		return nil
	})

	made(t, &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "silent.example.com"}, Webhooks: []admissionv1.ValidatingWebhook{{
		Name: "silent.example.com", NamespaceSelector: in, Rules: []admissionv1.RuleWithOperations{rule}, AdmissionReviewVersions: []string{"v1"},
		SideEffects: new(admissionv1.SideEffectClassNone), ClientConfig: admissionv1.WebhookClientConfig{URL: new("https://127.0.0.1:1/")},
	}}})
	pod.Labels = map[string]string{"team": "a"}
	cluster.Eventually(t, "a webhook that cannot be asked is said to be one", func(ctx context.Context) error {
		err := shared.Client.Create(ctx, pod.DeepCopy(), client.DryRunAll)
		if d := podspec.ExplainError(err); d.Category != podspec.CategoryWebhook || d.Webhook != "silent.example.com" || d.Retry != podspec.RetryBackoff {
			return errors.Join(err, errors.New(string(d.Category)))
		}
		return nil
	})
	if hooks := snapshot(t, namespace).Webhooks; !hooks.Known || len(hooks.Value) != 2 {
		t.Errorf("the webhooks of the namespace are %+v", hooks)
	}
	if hooks := snapshot(t, shared.Namespace(t, nil)).Webhooks; !hooks.Known || len(hooks.Value) != 0 {
		t.Errorf("the webhooks of another namespace are %+v", hooks)
	}
}

// made creates an object for the time of a test.
func made(t *testing.T, object client.Object) {
	t.Helper()
	if err := shared.Client.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.IgnoreNotFound(shared.Client.Delete(context.Background(), object)); err != nil {
			t.Error(err)
		}
	})
}
