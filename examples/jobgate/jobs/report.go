package jobs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/bursar-dev/bursar/usage"
)

// ReadReport reads what a Job or a pod reports: a JSON object of texts and numbers, such as {"cost-usd": "0.75"}. What is
// null is not reported.
func ReadReport(text string) (map[string]string, error) {
	var object map[string]any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber() // money never passes through a float
	if err := decoder.Decode(&object); err != nil {
		return nil, fmt.Errorf("it is no JSON object: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON object")
	}
	results := make(map[string]string, len(object))
	for name, value := range object {
		if value != nil {
			results[name] = fmt.Sprint(value)
		}
	}
	return results, nil
}

// WriteReport is the inverse of ReadReport.
func WriteReport(results map[string]string) (string, error) {
	text, err := json.Marshal(results)
	return string(text), err
}

// ResultsOf gives the results of a Job that has its report in its annotation. A report that can't be read makes the cost
// unknown, which is not zero, and the record quotes it.
func ResultsOf(job *batchv1.Job) map[string]string {
	text, ok := job.Annotations[AnnotationUsage]
	if !ok {
		return nil
	}
	results, err := ReadReport(text)
	if err != nil {
		return map[string]string{"cost-usd": text}
	}
	return results
}

// AddUp adds up what the pods of a Job report in their termination messages: there is one pod for each try, and each try
// costs something. A figure that one of them does not tell is not known for the Job, and is left out.
func AddUp(pods []corev1.Pod) map[string]string {
	var reports []map[string]string
	for i := range pods {
		message, ran := lastWords(&pods[i])
		if !ran {
			continue
		}
		report, err := ReadReport(message)
		if err != nil {
			report = nil // it says something else, or nothing
		}
		reports = append(reports, report)
	}
	total := map[string]string{}
	for name, meter := range usage.StandardResults() {
		if sum, known := addUp(reports, name, meter); known {
			total[name] = sum
		}
	}
	return total
}

// addUp adds up one figure. A text that nobody can read is the sum: the record will quote it.
func addUp(reports []map[string]string, name string, meter usage.Meter) (string, bool) {
	var sum int64
	for _, report := range reports {
		amounts, problems := usage.ReadResults(report, usage.ResultNames{name: meter})
		if len(problems) > 0 {
			return report[name], true
		}
		amount, known := amounts[meter]
		if !known {
			return "", false
		}
		sum += min(amount, math.MaxInt64-sum)
	}
	return meter.Format(sum), len(reports) > 0
}

// lastWords gives the termination message of a pod's first container, and reports whether it ran at all. One that was started
// again in its pod has spent more than its last words tell: it has said nothing.
func lastWords(pod *corev1.Pod) (message string, ran bool) {
	if len(pod.Spec.Containers) == 0 {
		return "", false
	}
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name != pod.Spec.Containers[0].Name {
			continue
		}
		switch {
		case status.RestartCount > 0:
			return "", true
		case status.State.Terminated != nil:
			return status.State.Terminated.Message, true
		}
		return "", status.State.Running != nil
	}
	return "", false
}
