package controller

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// UnstructuredConditions are the [OwnConditions] of tasks for which a host has no
// type in Go: the metav1.Conditions in status.conditions, where by convention
// they are. What is there in the place of one and can't be read is replaced.
func UnstructuredConditions() OwnConditions[*unstructured.Unstructured] {
	return OwnConditions[*unstructured.Unstructured]{
		Find: func(task *unstructured.Unstructured, conditionType string) *metav1.Condition {
			list := conditionsOf(task)
			i := slices.IndexFunc(list, ofType(conditionType))
			if i < 0 {
				return nil
			}
			fields, _ := list[i].(map[string]any)
			var c metav1.Condition
			if runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &c) != nil {
				return &metav1.Condition{Type: conditionType}
			}
			return &c
		},
		Set: func(task *unstructured.Unstructured, conditionType string, condition *metav1.Condition) {
			list := conditionsOf(task)
			if condition == nil {
				setConditionsOf(task, slices.DeleteFunc(list, ofType(conditionType)))
				return
			}
			fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(condition)
			if err == nil { // a condition can always be written
				setConditionsOf(task, put(list, ofType(conditionType), any(fields)))
			}
		},
	}
}

func ofType(conditionType string) func(any) bool {
	return func(element any) bool {
		fields, _ := element.(map[string]any)
		return fields["type"] == conditionType
	}
}

// conditionsOf are the task's own conditions, not a copy.
func conditionsOf(task *unstructured.Unstructured) []any {
	status, _ := task.Object["status"].(map[string]any)
	list, _ := status["conditions"].([]any)
	return list
}

// setConditionsOf puts conditions into the task, or takes out the list where
// there are none.
func setConditionsOf(task *unstructured.Unstructured, list []any) {
	status, ok := task.Object["status"].(map[string]any)
	switch {
	case len(list) == 0:
		delete(status, "conditions")
		return
	case task.Object == nil:
		task.Object = map[string]any{}
	}
	if !ok {
		status = map[string]any{}
		task.Object["status"] = status
	}
	status["conditions"] = list
}
