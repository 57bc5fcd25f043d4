package controller_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bursar-dev/bursar/budget/controller"
)

// oldTask is a task in an API version that has neither usage nor conditions.
type oldTask struct{ metav1.ObjectMeta }

type hostUsage struct {
	CostUSD string `json:"costUSD"`
}

func TestA20_StatusSurvivesARoundTripThroughAnOlderVersion(t *testing.T) {
	t.Parallel()
	status := controller.Stashed[hostUsage]{
		Usage:      &hostUsage{CostUSD: "0.5 <&>"},
		Conditions: []metav1.Condition{{Type: "BudgetBlocked", Status: metav1.ConditionTrue, Reason: "BudgetExceeded", Message: "spent"}},
	}
	shared := map[string]string{"note": "mine"}
	for sentence, key := range map[string][]byte{"without a key": nil, "with a key": []byte("secret")} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			older := &oldTask{metav1.ObjectMeta{Namespace: "team", Name: "a", UID: "u1", Annotations: shared}}
			if err := controller.Stash(older, status, key); err != nil {
				t.Fatal(err)
			}
			newer := &oldTask{*older.DeepCopy()}
			got, err := controller.Restore[hostUsage](older, newer, key)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(status, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(map[string]string{"note": "mine"}, newer.Annotations); diff != "" {
				t.Error("the stash stays in the newer form: ", diff)
			}
		})
	}
	if diff := cmp.Diff(map[string]string{"note": "mine"}, shared); diff != "" {
		t.Error("the annotations of the form that was converted were changed: ", diff)
	}
}

func TestA20_NothingIsStashedWhereThereIsNothing(t *testing.T) {
	t.Parallel()
	older := &oldTask{metav1.ObjectMeta{Annotations: map[string]string{controller.StashAnnotation: "{}"}}}
	if err := controller.Stash(older, controller.Stashed[hostUsage]{}, nil); err != nil {
		t.Fatal(err)
	}
	if len(older.Annotations) > 0 {
		t.Errorf("%v", older.Annotations)
	}
	got, err := controller.Restore[hostUsage](older, older, []byte("secret"))
	if err != nil || got.Usage != nil || got.Conditions != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestA20_WhatWasMadeUpIsRefused(t *testing.T) {
	t.Parallel()
	key := []byte("secret")
	sealed := func(uid string) string {
		task := &oldTask{metav1.ObjectMeta{Namespace: "team", Name: "a", UID: "u1"}}
		if uid != "" {
			task.UID = "other"
		}
		if err := controller.Stash(task, controller.Stashed[hostUsage]{Usage: &hostUsage{CostUSD: "0"}}, key); err != nil {
			t.Fatal(err)
		}
		return task.Annotations[controller.StashAnnotation]
	}
	if _, err := controller.Restore[hostUsage](withStash(sealed("")), &oldTask{}, key); err != nil {
		t.Fatalf("what is right is refused: %v", err)
	}
	for sentence, text := range map[string]string{
		"no JSON":               "x",
		"no seal":               `{"content":{"usage":{"costUSD":"0"}}}`,
		"an empty seal":         `{"content":{"usage":{"costUSD":"0"}},"seal":""}`,
		"another object's seal": sealed("other"),
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			got, err := controller.Restore[hostUsage](withStash(text), &oldTask{}, key)
			if err == nil || got.Usage != nil {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func withStash(text string) *oldTask {
	return &oldTask{metav1.ObjectMeta{
		Namespace: "team", Name: "a", UID: "u1", Annotations: map[string]string{controller.StashAnnotation: text},
	}}
}
