package install_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/bursar-dev/bursar/budget/install"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

// newBundle is a certificate in PEM.
func newBundle(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func TestEveryKindOfTheSchemeHasACRD(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := budgetv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for kind, goType := range scheme.KnownTypes(budgetv1alpha1.GroupVersion) {
		if goType.PkgPath() == "github.com/bursar-dev/bursar/budget/v1alpha1" && !strings.HasSuffix(kind, "List") {
			want = append(want, strings.ToLower(kind)+"s.bursar.dev")
		}
	}
	crds, err := install.CRDs()
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range crds {
		got = append(got, crd.Name)
		if install.Converts(crd) {
			t.Errorf("%s has a conversion webhook", crd.Name)
		}
		if crd.Spec.Scope != apiextensionsv1.NamespaceScoped {
			t.Errorf("%s is not namespaced", crd.Name)
		}
		if !slices.Equal(crd.Spec.Names.Categories, []string{"bursar"}) || len(crd.Spec.Names.ShortNames) != 1 {
			t.Errorf("%s: categories %v, short names %v", crd.Name, crd.Spec.Names.Categories, crd.Spec.Names.ShortNames)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadRefuses(t *testing.T) {
	const head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
	for sentence, test := range map[string]struct{ text, want string }{
		"what is no CRD":          {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n", "a.yaml: no apiextensions.k8s.io/v1 CustomResourceDefinition"},
		"a CRD without a name":    {head, `CustomResourceDefinition ""`},
		"a field that no CRD has": {head + "metadata: {name: x}\nspce: {}\n", `unknown field "spce"`},
		"what is no YAML":         {"{", "a.yaml: "},
		"an empty file":           {"", "a.yaml: no apiextensions"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := install.Read(fstest.MapFS{"a.yaml": {Data: []byte(test.text)}}, "*.yaml")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
	if _, err := install.Read(fstest.MapFS{}, "*.yaml"); err == nil || !strings.Contains(err.Error(), "no CRD file matches *.yaml") {
		t.Errorf("no files: %v", err)
	}
	if _, err := install.Read(fstest.MapFS{}, "["); err == nil {
		t.Error("a pattern that is none is accepted")
	}
}

func TestCheckCABundle(t *testing.T) {
	good := newBundle(t)
	for sentence, test := range map[string]struct {
		bundle []byte
		want   string
	}{
		"a certificate":             {good, ""},
		"two certificates":          {slices.Concat(good, good), ""},
		"nothing":                   {nil, "CA bundle: it has no certificate in PEM"},
		"base64 without its frame":  {[]byte("TUlJQg=="), "CA bundle: it has no certificate in PEM"},
		"a private key":             {pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY"}), "CA bundle: block 1 is EC PRIVATE KEY, want CERTIFICATE"},
		"a certificate of no bytes": {slices.Concat(good, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE"})), "CA bundle: certificate 2: "},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := install.CheckCABundle(test.bundle)
			if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// What is unfit is refused before the API server is asked: there is no client here.
func TestInstallRefusesBeforeItWrites(t *testing.T) {
	own, err := install.CRDs()
	if err != nil {
		t.Fatal(err)
	}
	named := func(conversion *apiextensionsv1.CustomResourceConversion) *apiextensionsv1.CustomResourceDefinition {
		return &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: "tasks.example.com"},
			Spec:       apiextensionsv1.CustomResourceDefinitionSpec{Conversion: conversion},
		}
	}
	for sentence, test := range map[string]struct {
		options install.Options
		want    string
	}{
		"a nil CRD":     {install.Options{Also: []*apiextensionsv1.CustomResourceDefinition{nil}}, "also[0]: it is nil or has no name"},
		"a CRD of ours": {install.Options{Also: own[1:2]}, "CRD taskholds.bursar.dev: it is there twice"},
		"a bad bundle":  {install.Options{CABundle: []byte("x")}, "CA bundle: it has no certificate in PEM"},
		"a webhook that is nowhere": {
			install.Options{Also: []*apiextensionsv1.CustomResourceDefinition{named(&apiextensionsv1.CustomResourceConversion{Strategy: "Webhook"})}},
			"CRD tasks.example.com: spec.conversion.webhook.clientConfig: required where the strategy is Webhook",
		},
		"a bundle that a CRD brings": {
			install.Options{Also: []*apiextensionsv1.CustomResourceDefinition{named(&apiextensionsv1.CustomResourceConversion{
				Strategy: "Webhook", Webhook: &apiextensionsv1.WebhookConversion{
					ClientConfig: &apiextensionsv1.WebhookClientConfig{CABundle: []byte("x")},
				},
			})}},
			"CRD tasks.example.com: spec.conversion.webhook.clientConfig.caBundle: CA bundle: it has no certificate in PEM",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := install.Install(t.Context(), nil, test.options)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}
