package crds_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	uid        = "6f1c2a4e-0000-4000-8000-000000000001"
	goodRecord = `{taskRef: {uid: ` + uid + `, name: fix-bug}, phase: Succeeded, completionTime: "2026-03-14T12:00:00Z", usage: {costUSD: "0.5"}}`
	goodHold   = `{taskRef: {uid: ` + uid + `, name: fix-bug}, admittedAt: "2026-03-14T12:00:00Z", expiresAt: "2026-03-14T13:00:00Z",
		taskLabels: {team: a}, amounts: {costUSD: "0.5"}}`
)

func recordRules() map[string]rule {
	return map[string]rule{
		"A7: completionTime is required": {
			`{completionTime: null}`, "spec.completionTime: Required value", `{completionTime: "2026-03-14T12:00:00+01:00"}`,
		},
		"completionTime is a time": {`{completionTime: "2026-03-14"}`, "spec.completionTime in body should match", `{completionTime: "2026-03-14T12:00:00Z"}`},
		"A7: a phase is one of two": {
			`{phase: Running}`, `spec.phase: Unsupported value: "Running": supported values: "Succeeded", "Failed"`, `{phase: Failed}`,
		},
		"a phase is required":   {`{phase: null}`, "spec.phase: Required value", `{phase: Failed}`},
		"a record is of a task": {`{taskRef: null}`, "spec.taskRef: Required value", `{}`},
		"a task has a UID":      {`{taskRef: {name: fix-bug}}`, "spec.taskRef.uid: Required value", `{taskRef: {uid: ` + uid + `}}`},
		"A7: it is named after it": {
			`{taskRef: {uid: other}}`, "metadata.name must be the task's UID, which is spec.taskRef.uid", `{taskRef: {uid: ` + uid + `}}`,
		},
		"cost is not negative":    {`{usage: {costUSD: "-1"}}`, "must be an amount of dollars that is not negative", `{usage: {costUSD: "0"}}`},
		"cost can be read":        {`{usage: {costUSD: "1e1.5"}}`, "must be an amount of dollars that is not negative", `{usage: {costUSD: "1e1"}}`},
		"tokens are not negative": {`{usage: {inputTokens: -1}}`, "should be greater than or equal to 0", `{usage: {inputTokens: 0}}`},
		"a basis is one of four": {
			`{basis: [{meter: costUSD, basis: Guessed}]}`, `spec.basis[0].basis: Unsupported value: "Guessed"`, `{basis: [{meter: costUSD, basis: Priced}]}`,
		},
		"only a correction replaces": {
			`{replaces: {usage: {costUSD: "1"}}}`, "only a correction replaces figures", `{corrects: x, replaces: {usage: {costUSD: "1"}}}`,
		},
		"a TTL is positive": {`{ttlSeconds: 0}`, "spec.ttlSeconds in body should be greater than or equal to 1", `{ttlSeconds: 1}`},
	}
}

func TestA7_RecordRules(t *testing.T) {
	for sentence, r := range recordRules() {
		t.Run(sentence, func(t *testing.T) { r.check(t, "taskrecords", "TaskRecord", uid, parse(t, goodRecord)) })
	}
	if err := dryRun(t, "taskrecords", manifest("TaskRecord", uid, nil).json(t)); err == nil || !strings.Contains(err.Error(), "spec: Required value") {
		t.Errorf("A7: no spec: %v", err)
	}
}

func holdRules() map[string]rule {
	return map[string]rule{
		"an expiry is required":     {`{expiresAt: null}`, "spec.expiresAt: Required value", `{expiresAt: "2026-03-14T12:00:01Z"}`},
		"an admission is required":  {`{admittedAt: null}`, "spec.admittedAt: Required value", `{admittedAt: "2026-03-14T12:00:00Z"}`},
		"a hold is of a task":       {`{taskRef: null}`, "spec.taskRef: Required value", `{}`},
		"it is named after its UID": {`{taskRef: {uid: other}}`, "metadata.name must be the task's UID, which is spec.taskRef.uid", `{taskRef: {uid: ` + uid + `}}`},
		"cost is not negative":      {`{amounts: {costUSD: -1}}`, "must be an amount of dollars that is not negative", `{amounts: {costUSD: 0}}`},
		"a meter is held once":      {`{amounts: {meters: [{meter: a, amount: 1}, {meter: a, amount: 1}]}}`, "spec.amounts.meters[1]: Duplicate value", `{amounts: {meters: [{meter: a, amount: 1}]}}`},
	}
}

func TestHoldRules(t *testing.T) {
	for sentence, r := range holdRules() {
		t.Run(sentence, func(t *testing.T) { r.check(t, "taskholds", "TaskHold", uid, parse(t, goodHold)) })
	}
}

const (
	recordIsImmutable  = "a record is immutable; write a correction instead"
	labelsAreImmutable = "taskLabels are immutable: they are the snapshot of the admission"
)

// stored creates an object for good.
func stored(t *testing.T, resource, kind, namespace, spec string) *unstructured.Unstructured {
	t.Helper()
	body := manifest(kind, uid, parse(t, spec))
	body["metadata"] = map[string]any{"name": uid, "labels": map[string]any{"team": "a"}}
	if err := send(t, resource, namespace, body.json(t)); err != nil {
		t.Fatal(err)
	}
	read := &unstructured.Unstructured{}
	read.SetAPIVersion("bursar.dev/v1alpha1")
	read.SetKind(kind)
	if err := shared.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: uid}, read); err != nil {
		t.Fatal(err)
	}
	return read
}

// A7: every field of a record's spec is immutable, also for who may do anything; its metadata are not.
func TestA7_RecordsAreImmutable(t *testing.T) {
	record := stored(t, "taskrecords", "TaskRecord", shared.Namespace(t, nil), goodRecord)
	for name, change := range map[string]func(spec map[string]any) error{
		"another cost": func(s map[string]any) error { return unstructured.SetNestedField(s, "0.4", "usage", "costUSD") },
		"no cost":      func(s map[string]any) error { unstructured.RemoveNestedField(s, "usage", "costUSD"); return nil },
		"more tokens":  func(s map[string]any) error { return unstructured.SetNestedField(s, int64(1), "usage", "inputTokens") },
		"later": func(s map[string]any) error {
			return unstructured.SetNestedField(s, "2026-03-15T12:00:00Z", "completionTime")
		},
		"other labels": func(s map[string]any) error { return unstructured.SetNestedField(s, "b", "taskLabels", "team") },
		"a TTL":        func(s map[string]any) error { return unstructured.SetNestedField(s, int64(1), "ttlSeconds") },
		"another name": func(s map[string]any) error { return unstructured.SetNestedField(s, "x", "taskRef", "name") },
		"failed":       func(s map[string]any) error { return unstructured.SetNestedField(s, "Failed", "phase") },
		"a correction": func(s map[string]any) error { return unstructured.SetNestedField(s, "x", "corrects") },
	} {
		changed := record.DeepCopy()
		spec, _, _ := unstructured.NestedMap(changed.Object, "spec")
		if err := change(spec); err != nil {
			t.Fatal(err)
		}
		changed.Object["spec"] = spec
		err := shared.Client.Update(t.Context(), changed)
		if err == nil || !strings.Contains(err.Error(), "spec: Invalid value: "+recordIsImmutable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	record.SetLabels(map[string]string{"team": "b"})
	if err := shared.Client.Update(t.Context(), record); err != nil {
		t.Errorf("its own labels: %v", err)
	}
}

// The snapshot of a hold is immutable; an admission that is renewed moves its times.
func TestA10_TheSnapshotOfAHoldIsImmutable(t *testing.T) {
	hold := stored(t, "taskholds", "TaskHold", shared.Namespace(t, nil), goodHold)
	for name, labels := range map[string]map[string]any{"other": {"team": "b"}, "more": {"team": "a", "x": "y"}, "none": nil} {
		changed := hold.DeepCopy()
		unstructured.RemoveNestedField(changed.Object, "spec", "taskLabels")
		if labels != nil {
			if err := unstructured.SetNestedMap(changed.Object, labels, "spec", "taskLabels"); err != nil {
				t.Fatal(err)
			}
		}
		err := shared.Client.Update(t.Context(), changed)
		if err == nil || !strings.Contains(err.Error(), labelsAreImmutable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, field := range []string{"admittedAt", "expiresAt"} {
		if err := unstructured.SetNestedField(hold.Object, "2026-03-15T12:00:00Z", "spec", field); err != nil {
			t.Fatal(err)
		}
	}
	if err := shared.Client.Update(t.Context(), hold); err != nil {
		t.Errorf("other times: %v", err)
	}
}
