package controller

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StashAnnotation is where [Stash] keeps what an older API version has no
// fields for.
const StashAnnotation = "bursar.dev/stashed-status"

// Stashed is what a task's status says and an older API version of the host
// lacks. Usage is of the host's own type.
type Stashed[U any] struct {
	// Usage is status.usage, nil if there is none.
	Usage *U `json:"usage,omitempty"`
	// Conditions are status.conditions.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Stash puts the usage and the conditions of a task into an annotation of its
// older form, for ConvertFrom of a conversion webhook. What was stashed before
// is replaced, and removed where there is nothing to keep.
//
// Who may edit the older form may edit its annotations. With a key, which the
// webhook's processes share and nobody else knows, what is stashed is bound to
// the object and can't be made up. Without one, nil, a user can plant usage that
// was not recorded yet; what is recorded is safe either way.
func Stash[U any](older metav1.Object, s Stashed[U], key []byte) error {
	annotations := without(older.GetAnnotations()) // conversions share maps between forms
	if s.Usage == nil && len(s.Conditions) == 0 {
		older.SetAnnotations(annotations)
		return nil
	}
	content, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("stash the status: %w", err)
	}
	text, err := json.Marshal(envelope{Content: content, Seal: seal(older, content, key)})
	if err != nil {
		return fmt.Errorf("stash the status: %w", err)
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[StashAnnotation] = string(text)
	older.SetAnnotations(annotations)
	return nil
}

// Restore gives what [Stash] has put into the older form of a task, for
// ConvertTo, and takes the annotation off newer, the task's newer form. The zero
// Stashed says that there was nothing. What can't be read, or carries a wrong
// seal, is an error, and the annotation is taken off all the same.
func Restore[U any](older, newer metav1.Object, key []byte) (Stashed[U], error) {
	text := older.GetAnnotations()[StashAnnotation]
	newer.SetAnnotations(without(newer.GetAnnotations()))
	if text == "" {
		return Stashed[U]{}, nil
	}
	var e envelope
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return Stashed[U]{}, fmt.Errorf("annotation %s: %w", StashAnnotation, err)
	}
	if len(key) > 0 && !hmac.Equal([]byte(e.Seal), []byte(seal(older, e.Content, key))) {
		return Stashed[U]{}, errors.New("annotation " + StashAnnotation + ": its seal is wrong: it was edited, or belongs to another object")
	}
	var s Stashed[U]
	if err := json.Unmarshal(e.Content, &s); err != nil {
		return Stashed[U]{}, fmt.Errorf("annotation %s: %w", StashAnnotation, err)
	}
	return s, nil
}

// without copies annotations but the stash; none are nil.
func without(annotations map[string]string) map[string]string {
	var kept map[string]string
	for k, v := range annotations {
		if k == StashAnnotation {
			continue
		}
		if kept == nil {
			kept = make(map[string]string, len(annotations))
		}
		kept[k] = v
	}
	return kept
}

// envelope is what the annotation carries.
type envelope struct {
	Content json.RawMessage `json:"content"`
	Seal    string          `json:"seal,omitempty"`
}

// seal binds content to an object; it is "" without a key.
func seal(object metav1.Object, content, key []byte) string {
	if len(key) == 0 {
		return ""
	}
	mac := hmac.New(sha256.New, key)
	// A byte that no name has keeps the parts apart.
	for _, part := range []string{object.GetNamespace(), object.GetName(), string(object.GetUID())} {
		_, _ = mac.Write(append([]byte(part), 0))
	}
	_, _ = mac.Write(content)
	return base64.RawStdEncoding.EncodeToString(mac.Sum(nil))
}
