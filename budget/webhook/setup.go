package webhook

import (
	"cmp"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

// DefaultPath is where the validator listens: the path that controller-runtime
// and kubebuilder give the type.
const DefaultPath = "/validate-bursar-dev-v1alpha1-taskbudget"

// Name is the webhook's name in the configuration that Configuration gives, and
// in what users read when it refuses.
const Name = "taskbudgets.bursar.dev"

// Options say how the validator is served. The zero value will do.
type Options struct {
	// Path to serve at; empty is DefaultPath.
	Path string
	// Validator judges; the zero value uses the real clock.
	Validator Validator
}

// SetupWithManager serves the validator on the manager's webhook server. Call it
// once before the manager starts. The manager's scheme need not know TaskBudget.
func SetupWithManager(mgr ctrl.Manager, o Options) error {
	return Register(mgr.GetWebhookServer(), o)
}

// Register serves the validator on a webhook server, for hosts without a manager.
// A path that is taken panics in the server, as every registration does.
func Register(server webhook.Server, o Options) error {
	scheme := runtime.NewScheme()
	if err := budgetv1alpha1.AddToScheme(scheme); err != nil {
		return err
	}
	server.Register(cmp.Or(o.Path, DefaultPath), &admission.Webhook{Handler: Handler(scheme, o.Validator)})
	return nil
}

// Configuration is what tells the API server of the webhook: create and update of
// TaskBudgets, side effects none, and failurePolicy Fail, so that nothing passes
// unseen while the host is down. Where the host must not stand in the way of its
// own installation, set it to Ignore: a bad budget that slips through still
// refuses what it matches.
//
// client is a service or a URL with DefaultPath, and its CA bundle. The object is
// the caller's, to change and to apply.
func Configuration(name string, client admissionregistrationv1.WebhookClientConfig) *admissionregistrationv1.ValidatingWebhookConfiguration {
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		TypeMeta: metav1.TypeMeta{
			APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: "ValidatingWebhookConfiguration",
		},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name:         Name,
			ClientConfig: client,
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
				Rule: admissionregistrationv1.Rule{
					APIGroups:   []string{budgetv1alpha1.GroupVersion.Group},
					APIVersions: []string{budgetv1alpha1.GroupVersion.Version},
					Resources:   []string{"taskbudgets"},
					Scope:       new(admissionregistrationv1.NamespacedScope),
				},
			}},
			FailurePolicy:           new(admissionregistrationv1.Fail),
			MatchPolicy:             new(admissionregistrationv1.Equivalent),
			SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
			TimeoutSeconds:          new(int32(5)),
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
}
