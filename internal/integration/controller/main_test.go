package controller_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/bursar-dev/bursar/budget/install"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

var shared cluster.Cluster

func TestMain(m *testing.M) {
	os.Exit(shared.Main(ready{m}, cluster.Options{
		AddToScheme: []func(*runtime.Scheme) error{budgetv1alpha1.AddToScheme, addAgents},
	}))
}

// ready are tests that need the resource definitions.
type ready struct{ m *testing.M }

func (r ready) Run() int {
	log.SetLogger(zap.New(zap.WriteTo(logFile()), zap.UseDevMode(true)))
	if err := prepare(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return r.m.Run()
}

// logFile is where the controllers' log goes: nowhere, if nobody asks for it.
func logFile() *os.File {
	if name := os.Getenv("BURSAR_TEST_LOG"); name != "" {
		if file, err := os.Create(name); err == nil {
			return file
		}
	}
	file, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	return file
}

// prepare stores what is bad while the API server checks nothing, as an older
// release might have, and then installs what is to be installed.
func prepare(ctx context.Context) error {
	crds, err := install.CRDs()
	if err != nil {
		return err
	}
	for _, crd := range crds {
		for i := range crd.Spec.Versions {
			if s := crd.Spec.Versions[i].Schema; s != nil {
				unchecked(s.OpenAPIV3Schema)
			}
		}
		if err := shared.Client.Create(ctx, crd); err != nil {
			return err
		}
	}
	if err := storeFaults(ctx); err != nil {
		return err
	}
	return install.Install(ctx, shared.Client, install.Options{
		Force: true, Also: []*apiextensionsv1.CustomResourceDefinition{agentTaskCRD()},
	})
}

// unchecked takes the rules out of a schema.
func unchecked(s *apiextensionsv1.JSONSchemaProps) {
	s.XValidations, s.Enum, s.Pattern = nil, nil, ""
	for key, property := range s.Properties {
		unchecked(&property)
		s.Properties[key] = property
	}
	if s.Items != nil && s.Items.Schema != nil {
		unchecked(s.Items.Schema)
	}
}

// The namespaces in which something bad is stored.
const (
	storedSelector = "stored-selector"
	storedPeriod   = "stored-period"
	storedZone     = "stored-zone"
	storedRecord   = "stored-record"
)

func storeFaults(ctx context.Context) error {
	daily := func(namespace string, change func(*budgetv1alpha1.TaskBudgetSpec)) *budgetv1alpha1.TaskBudget {
		tb := &budgetv1alpha1.TaskBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "faulty"},
			Spec: budgetv1alpha1.TaskBudgetSpec{
				TaskSelector: &metav1.LabelSelector{MatchLabels: gold}, Period: budgetv1alpha1.Period{Type: "Daily"}, MaxCostUSD: usd("5"),
			},
		}
		change(&tb.Spec)
		return tb
	}
	for _, o := range []client.Object{
		daily(storedSelector, func(s *budgetv1alpha1.TaskBudgetSpec) { s.TaskSelector = badSelector() }),
		daily(storedPeriod, func(s *budgetv1alpha1.TaskBudgetSpec) { s.Period.WeekStart = "Monday" }),
		daily(storedZone, func(s *budgetv1alpha1.TaskBudgetSpec) { s.Period.Timezone = "Mars/Base" }),
		daily(storedRecord, func(*budgetv1alpha1.TaskBudgetSpec) {}),
		unreadable(),
	} {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: o.GetNamespace()}}
		if err := client.IgnoreAlreadyExists(shared.Client.Create(ctx, namespace)); err != nil {
			return err
		}
		const patience, pause = time.Minute, 50 * time.Millisecond
		var last error
		if err := wait.PollUntilContextTimeout(ctx, pause, patience, true, func(ctx context.Context) (bool, error) {
			last = shared.Client.Create(ctx, o) // until the definition is served
			return last == nil, nil
		}); err != nil {
			return fmt.Errorf("store %T: %w", o, last)
		}
	}
	return nil
}
