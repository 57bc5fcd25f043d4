package podspec_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/bursar-dev/bursar/examples/spawner/preflight"
	"github.com/bursar-dev/bursar/examples/spawner/spawn"
	"github.com/bursar-dev/bursar/podspec"
)

// newSpawner is a spawner as a process that has just started has it: without a memory.
func newSpawner(t *testing.T, namespace string) *httptest.Server {
	t.Helper()
	s := &spawn.Spawner{Reader: reader(t), Namespace: namespace, Image: "example.com/agent:1", Profiles: profiles(t)}
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return server
}

// call gives the status and the body of an answer.
func call(t *testing.T, server *httptest.Server, method, path, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	_, err = text.ReadFrom(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, text.String()
}

// workloads lists "id profile phase".
func workloads(t *testing.T, server *httptest.Server) []string {
	t.Helper()
	code, body := call(t, server, http.MethodGet, "/workloads", "")
	var all []spawn.Status
	if err := json.Unmarshal([]byte(body), &all); err != nil || code != http.StatusOK {
		t.Fatalf("%d %s: %v", code, body, err)
	}
	var list []string
	for _, status := range all {
		list = append(list, fmt.Sprintf("%s %s %s", status.ID, status.Profile, status.Phase))
	}
	return list
}

// TestB5_ASpawnerFindsItsPodsAfterARestart: two profiles under the quota of row B4, a restart, a full quota, room again.
func TestB5_ASpawnerFindsItsPodsAfterARestart(t *testing.T) {
	namespace := shared.Namespace(t, map[string]string{"pod-security.kubernetes.io/enforce": "restricted"})
	quota := newQuota(t, namespace, amounts("requests.cpu", "1500m", "requests.memory", "8Gi", "limits.cpu", "4", "limits.memory", "8Gi"))
	first := newSpawner(t, namespace)
	for _, workload := range []string{`{"id": "standup", "profile": "meeting-bot"}`, `{"id": "fix-build", "profile": "agent-worker"}`} {
		if code, body := call(t, first, http.MethodPost, "/workloads", workload); code != http.StatusCreated {
			t.Fatalf("%s: %d %s", workload, code, body)
		}
	}
	first.Close()

	second := newSpawner(t, namespace)
	want := []string{"fix-build agent-worker Pending", "standup meeting-bot Pending"}
	if diff := cmp.Diff(want, workloads(t, second)); diff != "" {
		t.Error(diff)
	}
	for range 3 {
		if code, body := call(t, second, http.MethodPost, "/workloads", `{"id": "standup", "profile": "meeting-bot"}`); code != http.StatusOK || !strings.Contains(body, `"adopted": true`) {
			t.Fatalf("the same workload again: %d %s", code, body)
		}
	}
	if got := cpuUsed(t, quota); got != "1250m" {
		t.Errorf("%s cores are used", got)
	}

	code, body := call(t, second, http.MethodPost, "/workloads", `{"id": "retro", "profile": "meeting-bot"}`)
	var refused struct {
		Retry    podspec.Retry
		Findings []podspec.Finding
	}
	if err := json.Unmarshal([]byte(body), &refused); err != nil || code != http.StatusServiceUnavailable || refused.Retry != podspec.RetryWhenUsageDrops || len(refused.Findings) != 1 {
		t.Fatalf("in a full quota: %d %s, %v", code, body, err)
	}
	if finding := refused.Findings[0]; finding.Object != "ResourceQuota compute" || finding.Have.String() != "1250m" || finding.Need.String() != "1" || finding.Bound.String() != "1500m" {
		t.Errorf("the finding is %+v", finding)
	}
	if code, body := call(t, second, http.MethodDelete, "/workloads/standup", ""); code != http.StatusNoContent {
		t.Fatalf("delete: %d %s", code, body)
	}
	for _, bad := range []string{`{"id": "Not A Label", "profile": "meeting-bot"}`, `{"id": "a", "profile": "nobody"}`, `{"id": "a"`} {
		if code, body := call(t, second, http.MethodPost, "/workloads", bad); code != http.StatusUnprocessableEntity && code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", bad, code, body)
		}
	}
}

const manifest = `apiVersion: batch/v1
kind: Job
metadata: {name: nightly}
spec:
  template:
    spec:
      restartPolicy: Never
      initContainers: [{name: prepare, image: "example.com/prepare:1"}]
      containers:
      - {name: main, image: "example.com/agent:1", resources: {requests: {cpu: "1", memory: 512Mi}, limits: {cpu: "1", memory: 512Mi}}}
`

// TestB6_PreflightSaysWhatWillHappenAndWhy runs the command on a manifest and a live namespace.
func TestB6_PreflightSaysWhatWillHappenAndWhy(t *testing.T) {
	namespace := shared.Namespace(t, nil)
	newQuota(t, namespace, amounts("requests.cpu", "4", "limits.memory", "8Gi"))
	file := filepath.Join(t.TempDir(), "job.yaml")
	if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(stdin string, args ...string) (int, string) {
		var out, faults bytes.Buffer
		code := preflight.Run(t.Context(), append([]string{"-kubeconfig", shared.Kubeconfig, "-namespace", namespace, "-pod-security-upstream"}, args...), strings.NewReader(stdin), &out, &faults)
		if faults.Len() > 0 {
			t.Logf("standard error: %s", &faults)
		}
		return code, out.String()
	}
	code, table := command("", file)
	for _, part := range []string{
		"verdict    Reject", "predicted  Reject, QuotaMissing", "dry run    Reject, QuotaMissing:", "init prepare  -",
		"container prepare declares no limits.memory, which ResourceQuota compute demands of every container",
		"container prepare declares no requests.cpu, which ResourceQuota compute demands of every container",
	} {
		if !strings.Contains(table, part) {
			t.Errorf("%q is missing in\n%s", part, table)
		}
	}
	if code != 3 {
		t.Errorf("exit code %d", code)
	}

	code, text := command(strings.Replace(manifest, "      initContainers: [{name: prepare, image: \"example.com/prepare:1\"}]\n", "", 1), "-json", "-")
	var judged struct {
		Verdict    podspec.Verdict
		Prediction podspec.Prediction
		Answer     struct{ Accepted *corev1.Pod }
	}
	if err := json.Unmarshal([]byte(text), &judged); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if code != 0 || judged.Verdict != podspec.Admit || judged.Prediction.QOS != corev1.PodQOSGuaranteed || judged.Answer.Accepted == nil || len(judged.Prediction.Quotas) != 1 {
		t.Errorf("exit code %d, %s", code, text)
	}
	for _, bad := range [][]string{{}, {"-nonsense"}, {file, file}} {
		if code, _ := command("", bad...); code != 2 {
			t.Errorf("%v: exit code %d", bad, code)
		}
	}
	for _, bad := range []string{"kind: Service\nspec: {}", "kind: Pod\nspec: {containrs: []}", "spec: {}", ":"} {
		if code, _ := command(bad, "-"); code != 1 {
			t.Errorf("%q: exit code %d", bad, code)
		}
	}
}
