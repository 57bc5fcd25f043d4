package controller_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/yaml"

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
	if err := install(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return r.m.Run()
}

func logFile() *os.File {
	if name := os.Getenv("BURSAR_TEST_LOG"); name != "" {
		if file, err := os.Create(name); err == nil {
			return file
		}
	}
	file, err := os.Open(os.DevNull)
	if err != nil {
		panic(err)
	}
	return file
}

// install creates the resource definitions and waits until they are served.
func install(ctx context.Context) error {
	crds := []*apiextensionsv1.CustomResourceDefinition{agentTaskCRD()}
	files, err := filepath.Glob("../../../budget/v1alpha1/crds/*.yaml")
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no resource definitions: %w", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var tree map[string]any
		if err := yaml.Unmarshal(text, &tree); err != nil {
			return err
		}
		strip(tree)
		if text, err = yaml.Marshal(tree); err != nil {
			return err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, crd); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		crds = append(crds, crd)
	}
	for _, crd := range crds {
		if err := shared.Client.Create(ctx, crd); err != nil {
			return err
		}
	}
	for _, list := range []client.ObjectList{
		&AgentTaskList{}, &budgetv1alpha1.TaskBudgetList{}, &budgetv1alpha1.TaskRecordList{}, &budgetv1alpha1.TaskHoldList{},
	} {
		for err = fmt.Errorf("not tried"); err != nil; {
			err = shared.Client.List(ctx, list)
		}
	}
	return nil
}

func strip(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "x-kubernetes-validations")
		for _, c := range v {
			strip(c)
		}
	case []any:
		for _, c := range v {
			strip(c)
		}
	}
}
