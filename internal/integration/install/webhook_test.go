package install_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/budget/install"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/budget/webhook"
	"github.com/bursar-dev/bursar/internal/integration/cluster"
	"github.com/bursar-dev/bursar/policy/cel"
)

// An authority is a certificate for 127.0.0.1 that vouches for itself.
type authority struct {
	bundle      []byte
	certificate tls.Certificate
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return authority{
		bundle:      pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		certificate: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
	}
}

// register tells the API server of a webhook, for as long as the test runs.
func register(t *testing.T, host string, bundle []byte) {
	t.Helper()
	c := webhook.Configuration("bursar", admissionregistrationv1.WebhookClientConfig{
		URL: new(strings.TrimSuffix(host, "/") + webhook.DefaultPath), CABundle: bundle,
	})
	if err := shared.Client.Create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shared.Client.Delete(context.Background(), c); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second) // the API server reads the configurations from an informer
	})
	time.Sleep(time.Second)
}

// serve runs a manager with the validator on its webhook server, for as long as the test runs.
func serve(t *testing.T) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("it listens at %v", listener.Addr())
	}
	port := address.Port
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	a := newAuthority(t)
	mgr, err := ctrl.NewManager(shared.Config, ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: "0"},
		WebhookServer: ctrlwebhook.NewServer(ctrlwebhook.Options{Host: "127.0.0.1", Port: port, TLSOpts: []func(*tls.Config){func(c *tls.Config) {
			c.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &a.certificate, nil }
		}}}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := webhook.SetupWithManager(mgr, webhook.Options{
		Validator: webhook.Validator{Compile: []budget.CompileOption{budget.WithPolicies(cel.CompileRules)}},
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the manager: %v", err)
		}
	})
	cluster.Eventually(t, "the webhook server listens", func(context.Context) error { return mgr.GetWebhookServer().StartedChecker()(nil) })
	register(t, fmt.Sprintf("https://127.0.0.1:%d", port), a.bundle)
}

// heard gathers the warnings of the API server.
type heard struct {
	mu    sync.Mutex
	texts []string
}

// HandleWarningHeader is called by the client.
func (h *heard) HandleWarningHeader(_ int, _, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.texts = append(h.texts, text)
}

// A12: bad selectors, and everything else that only Compile knows, are refused on create and on update.
func TestA12_TheWebhookRefuses(t *testing.T) {
	clean(t)
	if err := install.Install(t.Context(), shared.Client, install.Options{}); err != nil {
		t.Fatal(err)
	}
	namespace := shared.Namespace(t, nil)
	stale := newBudget(namespace, "stale") // stored before the webhook is there
	stale.Spec.TaskSelector.MatchLabels = map[string]string{"team": "a b"}
	stale.Finalizers = []string{"example.com/clean-up"}
	if err := shared.Client.Create(t.Context(), stale); err != nil {
		t.Fatal(err)
	}
	serve(t)

	for name, test := range map[string]struct {
		change func(*budgetv1alpha1.TaskBudgetSpec)
		says   string
	}{
		"selector": {
			func(s *budgetv1alpha1.TaskBudgetSpec) { s.TaskSelector.MatchLabels = map[string]string{"team": "a b"} },
			`admission webhook "taskbudgets.bursar.dev" denied the request: TaskBudget.bursar.dev "selector" is invalid: ` +
				`spec.taskSelector.matchLabels: Invalid value: "a b"`,
		},
		"ttl": {
			func(s *budgetv1alpha1.TaskBudgetSpec) { s.RecordTTLSeconds = new(int64(5)) },
			"spec.recordTTLSeconds: Invalid value: 5: a window of this period can last 86400 seconds",
		},
		"amount": {
			func(s *budgetv1alpha1.TaskBudgetSpec) { s.MaxCostUSD = usd("1E") },
			`spec.maxCostUSD: Invalid value: "1E": a dollar amount is at most`,
		},
		"policy": {
			func(s *budgetv1alpha1.TaskBudgetSpec) {
				s.Policies = []budgetv1alpha1.PolicyRule{
					{Name: "good", When: `task.model == "opus"`, Effect: "deny", Message: "no opus"},
					{Name: "bad", When: `task.model == "opus" && budget.cost.usedPermile > 800`, Effect: "deny", Message: "no opus"},
				}
			},
			`spec.policies[1].when: Invalid value: "task.model == \"opus\" && budget.cost.usedPermile > 800": 1:36: undefined field 'usedPermile'`,
		},
	} {
		bad := newBudget(namespace, name)
		test.change(&bad.Spec)
		if err := shared.Client.Create(t.Context(), bad); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("create %s: %v", name, err)
		}
		good := newBudget(namespace, name)
		if err := shared.Client.Create(t.Context(), good); err != nil {
			t.Fatal(err)
		}
		test.change(&good.Spec)
		if err := shared.Client.Update(t.Context(), good); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("update %s: %v", name, err)
		}
	}
	staleBudgetMayGo(t, stale)
}

// What was stored before the webhook was there, and is bad: it fails closed, its metadata may change, its spec may be repaired
// and not made worse, and it can be deleted.
func staleBudgetMayGo(t *testing.T, stale *budgetv1alpha1.TaskBudget) {
	t.Helper()
	if err := shared.Client.Get(t.Context(), client.ObjectKeyFromObject(stale), stale); err != nil {
		t.Fatal(err)
	}
	rule, _ := budget.Compile(stale)
	if rule.Fault() == nil || rule.Fault().Reason != budget.ReasonInvalidSelector || !rule.Matches(stale.Namespace, nil) {
		t.Errorf("A12: the stored budget has fault %+v", rule.Fault())
	}
	stale.Labels = map[string]string{"seen": "yes"}
	if err := shared.Client.Update(t.Context(), stale); err != nil {
		t.Errorf("its labels: %v", err)
	}
	worse := stale.DeepCopy()
	worse.Spec.MaxCostUSD = usd("11")
	if err := shared.Client.Update(t.Context(), worse); !apierrors.IsInvalid(err) {
		t.Errorf("another limit, and still bad: %v", err)
	}
	repaired := stale.DeepCopy()
	repaired.Spec.TaskSelector.MatchLabels = nil
	if err := shared.Client.Update(t.Context(), repaired, client.DryRunAll); err != nil {
		t.Errorf("a repair: %v", err)
	}
	if err := shared.Client.Delete(t.Context(), stale); err != nil {
		t.Fatalf("deletion: %v", err)
	}
	if err := shared.Client.Get(t.Context(), client.ObjectKeyFromObject(stale), stale); err != nil {
		t.Fatal(err)
	}
	stale.Finalizers = nil
	if err := shared.Client.Update(t.Context(), stale); err != nil {
		t.Errorf("the finalizer of a bad budget: %v", err)
	}
	if err := shared.Client.Get(t.Context(), client.ObjectKeyFromObject(stale), stale); !apierrors.IsNotFound(err) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestWarningsReachTheUser(t *testing.T) {
	clean(t)
	if err := install.Install(t.Context(), shared.Client, install.Options{}); err != nil {
		t.Fatal(err)
	}
	serve(t)
	said := &heard{}
	config := rest.CopyConfig(shared.Config)
	config.WarningHandler = said
	c, err := client.New(config, client.Options{Scheme: shared.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	zero := newBudget(shared.Namespace(t, nil), "zero")
	zero.Spec.MaxCostUSD = usd("0")
	zero.Spec.TaskSelector.MatchExpressions = []metav1.LabelSelectorRequirement{
		{Key: "team", Operator: "Exists"}, {Key: "team", Operator: "DoesNotExist"},
	}
	if err := c.Create(t.Context(), zero); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"spec.taskSelector: what it demands of label team contradicts itself, so that the budget selects no task",
		"spec.maxCostUSD: 0 refuses every task that the budget selects; leave it out for no limit",
	}
	if diff := cmp.Diff(want, said.texts); diff != "" {
		t.Error(diff)
	}
}
