package crds_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/bursar-dev/bursar/budget/install"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

var shared cluster.Cluster

func TestMain(m *testing.M) {
	os.Exit(shared.Main(installed{m}, cluster.Options{
		AddToScheme: []func(*runtime.Scheme) error{budgetv1alpha1.AddToScheme},
	}))
}

// installed are tests that find the CRDs on the API server.
type installed struct{ m *testing.M }

func (i installed) Run() int {
	if err := install.Install(context.Background(), shared.Client, install.Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return i.m.Run()
}

// An object is a manifest, with every value as it was written.
type object map[string]any

// parse reads YAML.
func parse(t rapid.TB, text string) object {
	t.Helper()
	written, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	read := object{}
	decoder := json.NewDecoder(bytes.NewReader(written))
	decoder.UseNumber()
	if err := decoder.Decode(&read); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return read
}

// with puts other fields into a copy of spec; null takes a field away.
func (o object) with(t rapid.TB, fields string) object {
	t.Helper()
	changed := maps.Clone(o)
	for name, value := range parse(t, fields) {
		if value == nil {
			delete(changed, name)
		} else {
			changed[name] = value
		}
	}
	return changed
}

const namespace = "default"

// manifest is the object of a kind with a spec.
func manifest(kind, name string, spec any) object {
	return object{
		"apiVersion": "bursar.dev/v1alpha1", "kind": kind,
		"metadata": map[string]any{"namespace": namespace, "name": name}, "spec": spec,
	}
}

func (o object) json(t rapid.TB) []byte {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// dryRun sends a body, byte for byte, to be created in a dry run. The error is the API server's.
func dryRun(t rapid.TB, resource string, body []byte) error {
	t.Helper()
	return post(t, resource, namespace).Param("dryRun", "All").Body(body).Do(context.Background()).Error()
}

// send has a body created, byte for byte.
func send(t *testing.T, resource, namespace string, body []byte) error {
	t.Helper()
	return post(t, resource, namespace).Body(body).Do(t.Context()).Error()
}

func post(t rapid.TB, resource, namespace string) *rest.Request {
	t.Helper()
	config := rest.CopyConfig(shared.Config)
	config.GroupVersion = &budgetv1alpha1.GroupVersion
	config.APIPath = "/apis"
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	c, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return c.Post().Namespace(namespace).Resource(resource).Param("fieldValidation", "Strict").SetHeader("Content-Type", "application/json")
}
