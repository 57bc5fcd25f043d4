package install_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/bursar-dev/bursar/budget/controller"
	"github.com/bursar-dev/bursar/budget/install"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

const budgets = "taskbudgets.bursar.dev"

func getCRD(t *testing.T, name string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := shared.Client.Get(t.Context(), client.ObjectKey{Name: name}, crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

// A22: when Install returns, the resources are served. The client's scheme knows nothing of CRDs.
func TestA22_InstallServesTheResources(t *testing.T) {
	clean(t)
	plain, err := client.New(shared.Config, client.Options{Scheme: runtime.NewScheme()})
	if err != nil {
		t.Fatal(err)
	}
	if err := install.Install(t.Context(), plain, install.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := shared.Client.Create(t.Context(), newBudget(shared.Namespace(t, nil), "daily")); err != nil {
		t.Errorf("right after Install: %v", err)
	}
	before := getCRD(t, budgets)
	if len(before.ManagedFields) == 0 || before.ManagedFields[0].Manager != install.DefaultFieldManager || before.ManagedFields[0].Operation != "Apply" {
		t.Errorf("managed by %+v", before.ManagedFields)
	}
	if before.Spec.Conversion != nil && before.Spec.Conversion.Webhook != nil {
		t.Error("A22: it has got a conversion webhook")
	}
	if err := install.Install(t.Context(), plain, install.Options{}); err != nil {
		t.Fatal(err)
	}
	if after := getCRD(t, budgets); after.ResourceVersion != before.ResourceVersion {
		t.Error("a second Install writes")
	}
}

// Until then a manager can be made, and what is to keep budgets says what to do.
func TestWithoutInstallTheRemedyIsTold(t *testing.T) {
	clean(t)
	scheme := runtime.NewScheme()
	if err := budgetv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	mgr, err := ctrl.NewManager(shared.Config, ctrl.Options{Scheme: scheme, Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = controller.SetupWithManager(t.Context(), mgr, controller.Options{Metrics: prometheus.NewRegistry()})
	if err == nil || !strings.Contains(err.Error(), "does not serve TaskBudget of bursar.dev/v1alpha1: call install.Install of budget/install") {
		t.Errorf("%v", err)
	}
}

// A22: a webhook that is not up, and refuses everything, keeps nobody from installing.
func TestA22_InstallWaitsForNoWebhook(t *testing.T) {
	clean(t)
	register(t, "https://127.0.0.1:1/", newAuthority(t).bundle)
	if err := install.Install(t.Context(), shared.Client, install.Options{Timeout: 20 * time.Second}); err != nil {
		t.Fatal(err)
	}
	err := shared.Client.Create(t.Context(), newBudget(shared.Namespace(t, nil), "daily"))
	if err == nil || !strings.Contains(err.Error(), "failed calling webhook") {
		t.Errorf("the webhook was not in force: %v", err)
	}
}

// Another manager's fields stay where they do not matter, and are a conflict where they do.
func TestInstallBesideAnotherManager(t *testing.T) {
	clean(t)
	if err := install.Install(t.Context(), shared.Client, install.Options{}); err != nil {
		t.Fatal(err)
	}
	theirs := getCRD(t, budgets)
	theirs.Labels = map[string]string{"app.kubernetes.io/managed-by": "helm"}
	theirs.Spec.Names.ShortNames = []string{"budget"}
	if err := shared.Client.Update(t.Context(), theirs, client.FieldOwner("helm")); err != nil {
		t.Fatal(err)
	}
	err := install.Install(t.Context(), shared.Client, install.Options{})
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), "install CRD taskbudgets.bursar.dev: another manager owns fields of it") ||
		!strings.Contains(err.Error(), `"helm"`) || !strings.Contains(err.Error(), ".spec.names.shortNames") {
		t.Errorf("a conflict says %v", err)
	}
	if err := install.Install(t.Context(), shared.Client, install.Options{Force: true}); err != nil {
		t.Fatal(err)
	}
	after := getCRD(t, budgets)
	if !slices.Equal(after.Spec.Names.ShortNames, []string{"tb"}) || after.Labels["app.kubernetes.io/managed-by"] != "helm" {
		t.Errorf("short names %v, labels %v", after.Spec.Names.ShortNames, after.Labels)
	}
}

func TestInstallWithoutPermission(t *testing.T) {
	clean(t)
	config := rest.CopyConfig(shared.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "host"}
	host, err := client.New(config, client.Options{Scheme: shared.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	err = install.Install(t.Context(), host, install.Options{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "install CRD taskbudgets.bursar.dev: the client may not") {
		t.Errorf("no permission at all: %v", err)
	}
	grant(t, "host", "get")
	err = install.Install(t.Context(), host, install.Options{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "it takes the verbs get, create and patch on customresourcedefinitions") {
		t.Errorf("it may only read: %v", err)
	}
	grant(t, "host", "get", "create", "patch")
	if err := install.Install(t.Context(), host, install.Options{}); err != nil {
		t.Errorf("with what the error asks for: %v", err)
	}
}

// grant lets a user do something with CRDs, and waits until it is in force.
func grant(t *testing.T, user string, verbs ...string) {
	t.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "crds-"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, Verbs: verbs,
	}}}
	if err := shared.Client.Create(t.Context(), role); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: "User", APIGroup: "rbac.authorization.k8s.io", Name: user}},
	}
	if err := shared.Client.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shared.Client.Delete(context.Background(), binding); err != nil {
			t.Error(err)
		}
	})
	time.Sleep(time.Second) // the authorizer reads it from an informer
}

// What is not finished when the context ends is said, with the context's reason.
func TestInstallEndsWithItsContext(t *testing.T) {
	clean(t)
	if err := install.Install(t.Context(), shared.Client, install.Options{}); err != nil {
		t.Fatal(err)
	}
	held := getCRD(t, budgets)
	held.Finalizers = append(held.Finalizers, "example.com/keep")
	if err := shared.Client.Update(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	if err := shared.Client.Delete(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	tired := errors.New("the host shuts down")
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, tired)
	defer cancel()
	err := install.Install(ctx, shared.Client, install.Options{})
	if !errors.Is(err, tired) || !strings.Contains(err.Error(), "install CRD taskbudgets.bursar.dev: it is being deleted, and waits for") {
		t.Errorf("the context ends: %v", err)
	}
	err = install.Install(t.Context(), shared.Client, install.Options{Timeout: time.Second})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "it is being deleted") {
		t.Errorf("the time is up: %v", err)
	}

	// Once it is let go, an Install that waits goes on and makes it anew.
	done := make(chan error, 1)
	go func() { done <- install.Install(t.Context(), shared.Client, install.Options{}) }()
	time.Sleep(300 * time.Millisecond)
	held = getCRD(t, budgets)
	held.Finalizers = slices.DeleteFunc(held.Finalizers, func(f string) bool { return f == "example.com/keep" })
	if err := shared.Client.Update(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("it was let go: %v", err)
	}
}

// A CRD whose names are taken is never established; the error says by what.
func TestInstallSaysWhoseNamesAreTaken(t *testing.T) {
	clean(t)
	squatter := taskCRD("squatters", nil)
	squatter.Spec.Group = "bursar.dev"
	squatter.Name = "squatters.bursar.dev"
	squatter.Spec.Names.Kind, squatter.Spec.Names.ListKind = "TaskBudget", "TaskBudgetList"
	if err := shared.Client.Create(t.Context(), squatter); err != nil {
		t.Fatal(err)
	}
	defer remove(t, squatter.Name)
	time.Sleep(time.Second)
	err := install.Install(t.Context(), shared.Client, install.Options{Timeout: 2 * time.Second})
	if err == nil || !strings.Contains(err.Error(), `another CRD has its names (`) || !strings.Contains(err.Error(), `is already in use`) {
		t.Error(err)
	}
}

func taskCRD(plural string, conversion *apiextensionsv1.CustomResourceConversion) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + ".example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped, Conversion: conversion,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: plural, Singular: plural[:len(plural)-1], Kind: strings.ToUpper(plural[:1]) + plural[1:], ListKind: plural + "List",
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}
}

// A22: of the host's CRDs, only the one with a conversion webhook gets the CA bundle.
func TestA22_CABundleGoesToConversionWebhooksOnly(t *testing.T) {
	clean(t)
	converted := taskCRD("converted", &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ConversionReviewVersions: []string{"v1"},
			ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: new("https://127.0.0.1:1/convert")},
		},
	})
	plain := taskCRD("plains", &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter})
	bundle := newAuthority(t).bundle
	also := []*apiextensionsv1.CustomResourceDefinition{converted, plain}
	if err := install.Install(t.Context(), shared.Client, install.Options{Also: also, CABundle: bundle}); err != nil {
		t.Fatal(err)
	}
	defer remove(t, converted.Name)
	defer remove(t, plain.Name)
	if len(converted.Spec.Conversion.Webhook.ClientConfig.CABundle) > 0 {
		t.Error("the caller's object was changed")
	}
	if got := getCRD(t, converted.Name).Spec.Conversion.Webhook.ClientConfig.CABundle; !bytes.Equal(got, bundle) {
		t.Errorf("the bundle is %q", got)
	}
	for _, name := range []string{plain.Name, budgets} {
		if conversion := getCRD(t, name).Spec.Conversion; conversion != nil && conversion.Webhook != nil {
			t.Errorf("%s has got %+v", name, conversion.Webhook)
		}
	}

	// A bundle that somebody injected stays when the host applies without one.
	if err := install.Install(t.Context(), shared.Client, install.Options{Also: also, FieldManager: "another"}); err != nil {
		t.Fatal(err)
	}
	if got := getCRD(t, converted.Name).Spec.Conversion.Webhook.ClientConfig.CABundle; !bytes.Equal(got, bundle) {
		t.Errorf("without a bundle it becomes %q", got)
	}
}

// Several replicas start at once.
func TestInstallAtOnce(t *testing.T) {
	clean(t)
	done := make(chan error)
	const replicas = 4
	for i := range replicas {
		go func() {
			if err := install.Install(t.Context(), shared.Client, install.Options{}); err != nil {
				done <- fmt.Errorf("replica %d: %w", i, err)
				return
			}
			done <- nil
		}()
	}
	for range replicas {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
