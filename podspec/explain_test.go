package podspec_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/bursar-dev/bursar/podspec"
)

var podResource = schema.GroupResource{Resource: "pods"}

func forbidden(text string) error {
	return apierrors.NewForbidden(podResource, "bot-1", errors.New(text))
}

// figures shows the figures of a diagnosis: "container/resource.field have need bound".
func figures(d podspec.Diagnosis) []string {
	show := func(q *resource.Quantity) string {
		if q == nil {
			return "-"
		}
		return q.String()
	}
	var list []string
	for _, f := range d.Figures {
		list = append(list, strings.TrimPrefix(fmt.Sprintf("%s/%s", f.Container, f.Resource), "/")+strings.TrimSuffix("."+f.Field, ".")+" "+show(f.Have)+" "+show(f.Need)+" "+show(f.Bound))
	}
	return list
}

func TestExplainError(t *testing.T) {
	tests := map[string]struct {
		err      error
		category podspec.Category
		retry    podspec.Retry
		object   string
		figures  []string
		reasons  []string
		webhook  string
	}{
		"a quota that is exceeded": {
			err:      forbidden("exceeded quota: team.a, requested: limits.cpu=2,pods=1, used: limits.cpu=3500m,pods=4, limited: limits.cpu=4,pods=4"),
			category: podspec.CategoryQuotaExceeded, retry: podspec.RetryWhenUsageDrops, object: "ResourceQuota team.a", figures: []string{"limits.cpu 3500m 2 4", "pods 4 1 4"},
		},
		"a quota that is too small for it": {
			err:      fmt.Errorf("create: %w", forbidden("exceeded quota: q, requested: memory=8Gi, used: memory=0, limited: memory=4Gi")),
			category: podspec.CategoryQuotaExceeded, retry: podspec.RetryNever, object: "ResourceQuota q", figures: []string{"memory 0 8Gi 4Gi"},
		},
		"amounts missing, with containers": {
			err:      forbidden("failed quota: q.1: must specify limits.cpu for: a,b; requests.memory for: a"),
			category: podspec.CategoryQuotaMissing, retry: podspec.RetryNever, object: "ResourceQuota q.1", figures: []string{"a/limits.cpu - - -", "b/limits.cpu - - -", "a/requests.memory - - -"},
		},
		"amounts missing, of an older server": {
			err:      forbidden("failed quota: q: must specify limits.cpu,limits.memory"),
			category: podspec.CategoryQuotaMissing, retry: podspec.RetryNever, object: "ResourceQuota q", figures: []string{"limits.cpu - - -", "limits.memory - - -"},
		},
		"usage not counted": {
			err:      forbidden("status unknown for quota: q, resources: cpu,pods"),
			category: podspec.CategoryQuotaUnknownStatus, retry: podspec.RetryWhenSynced, object: "ResourceQuota q", figures: []string{"cpu - - -", "pods - - -"},
		},
		"a resource that no quota covers": {
			err: forbidden("insufficient quota to consume: requests.nvidia.com/gpu"), category: podspec.CategoryQuotaUncovered, retry: podspec.RetryNever, figures: []string{"requests.nvidia.com/gpu - - -"},
		},
		"a scope that no quota covers": {
			err:      apierrors.NewInternalError(errors.New("insufficient quota to match these scopes: [{PriorityClass In [high]}]")),
			category: podspec.CategoryQuotaUncovered, retry: podspec.RetryNever,
		},
		"a quota that others write": {
			err:      apierrors.NewConflict(schema.GroupResource{Resource: "resourcequotas"}, "q", errors.New("the object has been modified")),
			category: podspec.CategoryQuotaConflict, retry: podspec.RetryBackoff, object: "ResourceQuota q",
		},
		"quota conflict by status alone": {
			err:      &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonConflict, Message: "again", Details: &metav1.StatusDetails{Kind: "resourcequotas"}}},
			category: podspec.CategoryQuotaConflict, retry: podspec.RetryBackoff,
		},
		"quota evaluation in vain": {
			err: apierrors.NewInternalError(errors.New("resource quota evaluation timed out")), category: podspec.CategoryQuotaTimeout, retry: podspec.RetryBackoff,
		},
		"one bound of a LimitRange": {
			err:      forbidden("maximum cpu usage per Container is 1, but limit is 2"),
			category: podspec.CategoryLimitRange, retry: podspec.RetryNever, figures: []string{"cpu.limits 2 - 1"},
		},
		"several bounds of a LimitRange": {
			err:      forbidden("[maximum cpu usage per Container is 1, but limit is 1500m, minimum memory usage per Pod is 64Mi, but request is 1Mi, maximum nvidia.com/gpu usage per Container is 1.  No limit is specified, minimum cpu usage per Container is 100m.  No request is specified]"),
			category: podspec.CategoryLimitRange, retry: podspec.RetryNever, figures: []string{"cpu.limits 1500m - 1", "memory.requests 1Mi - 64Mi", "nvidia.com/gpu.limits - - 1", "cpu.requests - - 100m"},
		},
		"ratios of a LimitRange": {
			err:      forbidden("[cpu max limit to request ratio per Container is 1500m, but provided ratio is 2.000000, memory max limit to request ratio per Pod is 2, but no request is specified or request is 0]"),
			category: podspec.CategoryLimitRange, retry: podspec.RetryNever, figures: []string{"cpu.ratio 2 - 1500m", "memory.ratio - - 2"},
		},
		"PodSecurity": {
			err:      forbidden(`violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (containers "a", "b" must set securityContext.allowPrivilegeEscalation=false), odd (name "x)," kept), runAsNonRoot != true`),
			category: podspec.CategoryPodSecurity, retry: podspec.RetryNever, object: "PodSecurity restricted:latest",
			reasons: []string{`allowPrivilegeEscalation != false (containers "a", "b" must set securityContext.allowPrivilegeEscalation=false)`, `odd (name "x)," kept)`, "runAsNonRoot != true"},
		},
		"SCC": {
			err:      forbidden(`unable to validate against any security context constraint: [provider "anyuid": Forbidden: not usable by user or serviceaccount, provider restricted-v2: .spec.securityContext.fsGroup: Invalid value: []int64{65532}: 65532 is not an allowed group, provider "nonroot": Forbidden: not usable by user or serviceaccount]`),
			category: podspec.CategorySCC, retry: podspec.RetryNever,
			reasons: []string{"anyuid: Forbidden: not usable by user or serviceaccount", "restricted-v2: .spec.securityContext.fsGroup: Invalid value: []int64{65532}: 65532 is not an allowed group", "nonroot: Forbidden: not usable by user or serviceaccount"},
		},
		"SCC without providers": {err: forbidden("unable to validate against any security context constraint: []"), category: podspec.CategorySCC, retry: podspec.RetryNever, reasons: []string{""}},
		"an invalid pod": {
			err: apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", field.ErrorList{field.Invalid(field.NewPath("spec", "x"), "1", "must be 2")}), category: podspec.CategoryInvalid, retry: podspec.RetryNever,
		},
		"an invalid pod without causes": {err: &apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusUnprocessableEntity, Message: "no"}}, category: podspec.CategoryInvalid, retry: podspec.RetryNever},
		"a service account": {
			err: forbidden(`error looking up service account ns/default: serviceaccount "default" not found`), category: podspec.CategoryServiceAccount, retry: podspec.RetryBackoff, object: "ServiceAccount ns/default",
		},
		"a namespace that ends":             {err: forbidden("unable to create new content in namespace old because it is being terminated"), category: podspec.CategoryNamespaceTerminating, retry: podspec.RetryNever, object: "Namespace old"},
		"a namespace that is not there":     {err: apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "x"), category: podspec.CategoryNamespaceMissing, retry: podspec.RetryNever},
		"a priority class":                  {err: forbidden("no PriorityClass with name high was found"), category: podspec.CategoryPriorityClass, retry: podspec.RetryNever, object: "PriorityClass high"},
		"a priority":                        {err: forbidden("the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name"), category: podspec.CategoryPriorityClass, retry: podspec.RetryNever},
		"a runtime class":                   {err: forbidden(`pod rejected: RuntimeClass "kata" not found`), category: podspec.CategoryRuntimeClass, retry: podspec.RetryNever, object: "RuntimeClass kata"},
		"overhead":                          {err: forbidden("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"), category: podspec.CategoryRuntimeClass, retry: podspec.RetryNever},
		"a pod that exists":                 {err: apierrors.NewAlreadyExists(podResource, "bot-1"), category: podspec.CategoryAlreadyExists, retry: podspec.RetryNever},
		"a webhook":                         {err: apierrors.NewBadRequest(`admission webhook "guard.example" denied the request: not on Fridays`), category: podspec.CategoryWebhook, retry: podspec.RetryNever, webhook: "guard.example"},
		"a webhook without words":           {err: apierrors.NewBadRequest(`admission webhook "guard.example" denied the request without explanation`), category: podspec.CategoryWebhook, retry: podspec.RetryNever, webhook: "guard.example"},
		"a policy":                          {err: forbidden("ValidatingAdmissionPolicy 'p' with binding 'b' denied request: too large"), category: podspec.CategoryWebhook, retry: podspec.RetryNever, webhook: "p"},
		"a webhook that speaks of a quota":  {err: forbidden(`admission webhook "q.example" denied the request: exceeded quota: all, requested: cpu=1, used: cpu=1, limited: cpu=1`), category: podspec.CategoryQuotaExceeded, retry: podspec.RetryWhenUsageDrops, object: "ResourceQuota all", figures: []string{"cpu 1 1 1"}, webhook: "q.example"},
		"a webhook that does not answer":    {err: apierrors.NewInternalError(errors.New(`failed calling webhook "w.example": failed to call webhook: context deadline exceeded`)), category: podspec.CategoryWebhook, retry: podspec.RetryBackoff, webhook: "w.example"},
		"no permission":                     {err: apierrors.NewForbidden(podResource, "", errors.New(`User "u" cannot create resource "pods" in API group "" in the namespace "ns"`)), category: podspec.CategoryRBAC, retry: podspec.RetryNever},
		"too many requests":                 {err: apierrors.NewTooManyRequests("slow", 1), category: podspec.CategoryThrottled, retry: podspec.RetryBackoff},
		"too many requests, by code":        {err: &apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusTooManyRequests, Message: "slow"}}, category: podspec.CategoryThrottled, retry: podspec.RetryBackoff},
		"a conflict about something else":   {err: apierrors.NewConflict(podResource, "p", errors.New("x")), category: podspec.CategoryOther, retry: podspec.RetryNever},
		"something else is not there":       {err: apierrors.NewNotFound(podResource, "p"), category: podspec.CategoryOther, retry: podspec.RetryNever},
		"a server that is late":             {err: apierrors.NewTimeoutError("late", 1), category: podspec.CategoryNetwork, retry: podspec.RetryBackoff},
		"no answer":                         {err: &url.Error{Op: "Post", URL: "x", Err: errors.New("connection refused")}, category: podspec.CategoryNetwork, retry: podspec.RetryBackoff},
		"a deadline":                        {err: context.DeadlineExceeded, category: podspec.CategoryNetwork, retry: podspec.RetryBackoff},
		"words that nobody knows":           {err: errors.New("the moon is full"), category: podspec.CategoryOther, retry: podspec.RetryNever},
		"a refusal that nobody knows":       {err: forbidden("the moon is full"), category: podspec.CategoryOther, retry: podspec.RetryNever},
		"words that only look like a quota": {err: forbidden("exceeded quota: none of the usual"), category: podspec.CategoryOther, retry: podspec.RetryNever},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := podspec.ExplainError(test.err)
			if d.Category != test.category || d.Retry != test.retry || d.Object != test.object || d.Webhook != test.webhook {
				t.Errorf("got %s, %s, %q, %q", d.Category, d.Retry, d.Object, d.Webhook)
			}
			if diff := cmp.Diff(test.figures, figures(d)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.reasons, d.Reasons); diff != "" {
				t.Error(diff)
			}
			if d.Original != test.err.Error() || d.Message == "" {
				t.Errorf("original %q, message %q", d.Original, d.Message)
			}
			if d.Category != podspec.CategoryOther && (d.Remedy == "" || !strings.HasSuffix(d.String(), d.Remedy)) {
				t.Errorf("no remedy: %+v", d)
			}
		})
	}
	if d := podspec.ExplainError(nil); d.Category != "" || d.String() != "" {
		t.Errorf("no error gives %+v", d)
	}
}

func TestExplainErrorKeepsCausesAndContainers(t *testing.T) {
	d := podspec.ExplainError(apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", field.ErrorList{field.Invalid(field.NewPath("spec", "x"), "1", "must be 2")}))
	if len(d.Causes) != 1 || d.Causes[0].Field != "spec.x" || !strings.Contains(d.Message, "spec.x: Invalid value") {
		t.Errorf("got %+v", d)
	}
	d = podspec.ExplainError(forbidden("failed quota: q: must specify cpu for: b,a; memory for: b"))
	if diff := cmp.Diff([]string{"a", "b"}, d.Containers); diff != "" {
		t.Error(diff)
	}
}

func TestExplainMessageReadsEvents(t *testing.T) {
	d := podspec.ExplainMessage(`Error creating: pods "job-x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=5, limited: pods=5`)
	if d.Category != podspec.CategoryQuotaExceeded || len(d.Figures) != 1 {
		t.Errorf("got %+v", d)
	}
}

func TestR22FailuresAreTyped(t *testing.T) {
	d := podspec.ExplainError(forbidden("failed quota: q: must specify limits.cpu for: main"))
	if d.Category != podspec.CategoryQuotaMissing || d.Message == "" || d.Remedy == "" {
		t.Errorf("got %+v", d)
	}
}

func TestR25FixedUserOutsideTheRange(t *testing.T) {
	namespace := &corev1.Namespace{}
	namespace.Annotations = map[string]string{"openshift.io/sa.scc.uid-range": "1000750000/10000"}
	user := int64(65532)
	p := with(main(whole), func(p *corev1.Pod) {
		p.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: &user, FSGroup: &user}
	})
	hard, result, err := podspec.Harden(p, podspec.Hardening{OpenShift: true, Namespace: namespace})
	if err != nil || len(result.Conflicts) != 2 || result.Conflicts[0].Category != podspec.CategorySCC || *hard.Spec.SecurityContext.RunAsUser != 65532 {
		t.Errorf("conflicts %v, error %v", result.Conflicts, err)
	}
	plain, result, err := podspec.Harden(main(whole), podspec.Hardening{OpenShift: true, Namespace: namespace, RequiredSCC: "restricted-v2"})
	context := plain.Spec.SecurityContext
	if err != nil || len(result.Conflicts) != 0 || context.RunAsUser != nil || context.FSGroup != nil || context.SELinuxOptions != nil {
		t.Errorf("conflicts %v, error %v, context %+v", result.Conflicts, err, context)
	}
	if plain.Annotations["openshift.io/required-scc"] != "restricted-v2" {
		t.Errorf("annotations %v", plain.Annotations)
	}
}
