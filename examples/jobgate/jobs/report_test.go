package jobs_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/bursar-dev/bursar/examples/jobgate/jobs"
)

func TestReadReport(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		text  string
		want  map[string]string
		fault string
	}{
		"texts and numbers":          {`{"cost-usd": "0.75", "input-tokens": 12000}`, map[string]string{"cost-usd": "0.75", "input-tokens": "12000"}, ""},
		"no digit is lost":           {`{"cost-usd": 0.1234567891234567891}`, map[string]string{"cost-usd": "0.1234567891234567891"}, ""},
		"an exponent stays":          {`{"cost-usd": 1e-05}`, map[string]string{"cost-usd": "1e-05"}, ""},
		"null is no report":          {`{"cost-usd": null}`, map[string]string{}, ""},
		"nothing is reported":        {"{}\n", map[string]string{}, ""},
		"an empty text":              {"", nil, "no JSON object"},
		"a text":                     {"all went well", nil, "no JSON object"},
		"a list":                     {`["0.75"]`, nil, "no JSON object"},
		"a message that was cut":     {`{"cost-usd": "0.7`, nil, "no JSON object"},
		"two objects":                {`{"cost-usd": "1"} {"cost-usd": "2"}`, nil, "something follows"},
		"an object and what follows": {`{"cost-usd": "1"} done`, nil, "something follows"},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			got, err := jobs.ReadReport(c.text)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if c.fault == "" && err != nil || c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
				t.Errorf("want %q, got %v", c.fault, err)
			}
			if err != nil {
				return
			}
			again, err := jobs.WriteReport(got)
			if err != nil {
				t.Fatal(err)
			}
			back, err := jobs.ReadReport(again)
			if diff := cmp.Diff(got, back); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
	}
}

func TestTheResultsOfAJob(t *testing.T) {
	t.Parallel()
	job := &batchv1.Job{}
	if got := jobs.ResultsOf(job); got != nil {
		t.Errorf("without an annotation: %v", got)
	}
	for text, want := range map[string]map[string]string{
		`{"cost-usd": 1}`: {"cost-usd": "1"},
		"too much":        {"cost-usd": "too much"},
	} {
		job.Annotations = map[string]string{jobs.AnnotationUsage: text}
		if diff := cmp.Diff(want, jobs.ResultsOf(job)); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// pod is one whose first container is in a state.
func pod(status ...corev1.ContainerStatus) corev1.Pod {
	return corev1.Pod{
		Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: "agent"}, {Name: "sidecar"}}},
		Status: corev1.PodStatus{ContainerStatuses: status},
	}
}

func said(name, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: message}}}
}

func TestWhatThePodsOfAJobHaveSpent(t *testing.T) {
	t.Parallel()
	again := said("agent", `{"cost-usd": "1"}`)
	again.RestartCount = 1
	running := corev1.ContainerStatus{Name: "agent", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	waiting := corev1.ContainerStatus{Name: "agent", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}}
	most := strconv.FormatInt(math.MaxInt64, 10)
	for sentence, c := range map[string]struct {
		pods []corev1.Pod
		want map[string]string
	}{
		"no pod": {nil, map[string]string{}},
		"one": {
			[]corev1.Pod{pod(said("agent", `{"cost-usd": "0.42", "input-tokens": 12000, "verdict": "fine"}`))},
			map[string]string{"cost-usd": "0.42", "input-tokens": "12000"},
		},
		"the sum of two tries": {
			[]corev1.Pod{pod(said("agent", `{"cost-usd": "0.3"}`)), pod(said("agent", `{"cost-usd": "0.3000000001"}`))},
			map[string]string{"cost-usd": "0.600000001"},
		},
		"what one of them does not tell is not known": {
			[]corev1.Pod{pod(said("agent", `{"cost-usd": "0.3", "input-tokens": 5}`)), pod(said("agent", `{"input-tokens": 6}`))},
			map[string]string{"input-tokens": "11"},
		},
		"one that says something else": {
			[]corev1.Pod{pod(said("agent", `{"cost-usd": "0.3"}`)), pod(said("agent", "out of memory"))}, map[string]string{},
		},
		"what nobody can read is told": {
			[]corev1.Pod{pod(said("agent", `{"cost-usd": "0.3", "input-tokens": 5}`)), pod(said("agent", `{"cost-usd": "a lot", "input-tokens": 6}`))},
			map[string]string{"cost-usd": "a lot", "input-tokens": "11"},
		},
		"zero is a report":                    {[]corev1.Pod{pod(said("agent", `{"cost-usd": 0}`))}, map[string]string{"cost-usd": "0"}},
		"a sidecar has no say":                {[]corev1.Pod{pod(said("sidecar", `{"cost-usd": "9"}`), said("agent", `{"cost-usd": "1"}`))}, map[string]string{"cost-usd": "1"}},
		"who was started again has told half": {[]corev1.Pod{pod(again)}, map[string]string{}},
		"who never ran has spent nothing":     {[]corev1.Pod{pod(), pod(waiting), pod(said("agent", `{"cost-usd": "1"}`)), {}}, map[string]string{"cost-usd": "1"}},
		"who still runs has not told":         {[]corev1.Pod{pod(running), pod(said("agent", `{"cost-usd": "1"}`))}, map[string]string{}},
		"no overflow": {
			[]corev1.Pod{pod(said("agent", `{"input-tokens": `+most+`}`)), pod(said("agent", `{"input-tokens": 1}`))},
			map[string]string{"input-tokens": most},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, jobs.AddUp(c.pods)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
