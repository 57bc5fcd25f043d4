package webhook

import (
	"bytes"
	"context"
	"encoding/json"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

// Handler serves a Validator. Before it reads a TaskBudget, it lets pass what
// must never be blocked: deletions, every update of an object that is being
// deleted, and updates that leave the spec alone. So a stored object that no
// program can read (from a time when the API server checked less) can be got rid
// of. An update that replaces an unreadable spec is judged like a create.
func Handler(scheme *runtime.Scheme, v Validator) admission.Handler {
	return handler{judge: admission.WithValidator(scheme, v).Handler}
}

type handler struct {
	judge admission.Handler
}

// Handle answers one request.
func (h handler) Handle(ctx context.Context, req admission.Request) admission.Response {
	switch req.Operation {
	case admissionv1.Delete, admissionv1.Connect:
		return admission.Allowed("")
	case admissionv1.Update:
		if settled(req.OldObject.Raw, req.Object.Raw) {
			return admission.Allowed("")
		}
		if !readable(req.OldObject.Raw) {
			req.Operation = admissionv1.Create
		}
	default:
	}
	return h.judge.Handle(ctx, req)
}

// shape is what can be read of every object.
type shape struct {
	Metadata struct {
		DeletionTimestamp *metav1.Time `json:"deletionTimestamp"`
	} `json:"metadata"`
	Spec json.RawMessage `json:"spec"`
}

// settled says that an update is none of the validator's business.
func settled(old, updated []byte) bool {
	var before, after shape
	if json.Unmarshal(old, &before) != nil || json.Unmarshal(updated, &after) != nil {
		return false
	}
	return after.Metadata.DeletionTimestamp != nil || same(before.Spec, after.Spec)
}

// same compares JSON texts by what they say.
func same(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, errX := decode(a)
	y, errY := decode(b)
	return errX == nil && errY == nil && equality.Semantic.DeepEqual(x, y)
}

// decode keeps numbers as they are written.
func decode(text json.RawMessage) (any, error) {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err := decoder.Decode(&value)
	return value, err
}

func readable(raw []byte) bool { return json.Unmarshal(raw, &budgetv1alpha1.TaskBudget{}) == nil }
