package podspec_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/bursar-dev/bursar/podspec"
)

// recordedWorld is one line of testdata/worlds.
type recordedWorld struct {
	Snapshot podspec.Snapshot `json:"snapshot"`
	Pods     []struct {
		Pod     *corev1.Pod                           `json:"pod"`
		Quotas  map[string]corev1.ResourceQuotaStatus `json:"quotas"`
		Answers []recordedAnswer                      `json:"answers"`
		// Seen says that the answers are those that one server gave to one request: it settled on one order of LimitRanges,
		// showed no pod that it refused, and counted only what was really created.
		Seen bool `json:"seen"`
	} `json:"pods"`
}

// recordedAnswer is what Kubernetes said for one order of LimitRanges.
type recordedAnswer struct {
	Category podspec.Category               `json:"category"`
	Message  string                         `json:"message"`
	QOS      corev1.PodQOSClass             `json:"qos"`
	Amounts  []corev1.ResourceRequirements  `json:"amounts"` // of containers, then init containers
	Level    *corev1.ResourceRequirements   `json:"level"`
	Overhead corev1.ResourceList            `json:"overhead"`
	Deltas   map[string]corev1.ResourceList `json:"deltas"`
}

// TestWorlds replays what Kubernetes answered to 2,000 random pods.
func TestWorlds(t *testing.T) {
	files, err := filepath.Glob("testdata/worlds/*.jsonl.gz")
	if err != nil || len(files) != 4 {
		t.Fatalf("worlds %v, %v", files, err)
	}
	total := 0
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			for number, world := range readWorlds(t, file) {
				for i := range world.Pods {
					total++
					if why := world.replay(t, i); why != "" {
						t.Errorf("world %d, pod %d: %s", number, i, why)
					}
				}
			}
		})
	}
	if total != 2000 {
		t.Errorf("%d pods were replayed", total)
	}
}

// TestFailures replays pods on which podspec and a real API server once disagreed, as `make differential` writes them: those
// that are kept in testdata/worlds, and those in the folder that BURSAR_FAILURES names.
func TestFailures(t *testing.T) {
	files, err := filepath.Glob("testdata/worlds/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if folder := os.Getenv("BURSAR_FAILURES"); folder != "" {
		more, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
		if err != nil || len(more) == 0 {
			t.Fatalf("no worlds in %s: %v", folder, err)
		}
		files = append(files, more...)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			for number, world := range readWorlds(t, file) {
				for i := range world.Pods {
					if why := world.replay(t, i); why != "" {
						t.Errorf("world %d, pod %d: %s", number, i, why)
					}
				}
			}
		})
	}
}

// replay says what differs for one pod, under the quotas as they were then.
func (w *recordedWorld) replay(t *testing.T, i int) string {
	t.Helper()
	recorded := &w.Pods[i]
	for j := range w.Snapshot.ResourceQuotas.Value {
		quota := &w.Snapshot.ResourceQuotas.Value[j]
		quota.Status = recorded.Quotas[quota.Name]
	}
	return disagreement(t, w.Snapshot, recorded.Pod, recorded.Answers, recorded.Seen)
}

func readWorlds(t *testing.T, file string) []recordedWorld {
	t.Helper()
	opened, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = opened.Close() }()
	var text io.Reader = opened
	if filepath.Ext(file) == ".gz" {
		if text, err = gzip.NewReader(opened); err != nil {
			t.Fatal(err)
		}
	}
	var worlds []recordedWorld
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var world recordedWorld
		if err := json.Unmarshal(lines.Bytes(), &world); err != nil {
			t.Fatal(err)
		}
		worlds = append(worlds, world)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return worlds
}

// disagreement says what differs: every answer has to be among the outcomes, and every outcome among the answers, unless
// they are what one server was seen to say.
func disagreement(t *testing.T, snapshot podspec.Snapshot, pod *corev1.Pod, answers []recordedAnswer, seen bool) string {
	t.Helper()
	prediction := predict(t, snapshot, pod)
	outcomes := prediction.Alternatives
	if outcomes == nil {
		outcomes = []podspec.Outcome{prediction.Outcome}
	}
	for _, outcome := range outcomes {
		theirs := outcome.Effective.DeepCopy() // their PodRequests can change its argument
		if !sameList(podspec.PodRequests(outcome.Effective), resourcehelper.PodRequests(theirs, resourcehelper.PodResourcesOptions{})) ||
			!sameList(podspec.PodLimits(outcome.Effective), resourcehelper.PodLimits(outcome.Effective.DeepCopy(), resourcehelper.PodResourcesOptions{})) {
			return "the effective usage is not that of component-helpers"
		}
	}
	matched := make([]bool, len(outcomes))
	for _, answer := range answers {
		why := "no outcome"
		found := slices.IndexFunc(outcomes, func(outcome podspec.Outcome) bool { why = answer.differs(outcome, seen); return why == "" })
		if found < 0 {
			return fmt.Sprintf("Kubernetes said %s %s: %s", answer.Category, answer.Message, why)
		}
		matched[found] = true
		if answer.Message != "" && podspec.ExplainMessage(answer.Message).Category != answer.Category {
			return fmt.Sprintf("%q is explained as %s, not %s", answer.Message, podspec.ExplainMessage(answer.Message).Category, answer.Category)
		}
	}
	if missing := slices.Index(matched, false); missing >= 0 && !seen {
		return fmt.Sprintf("outcome %d of %d is none of %d answers", missing, len(outcomes), len(answers))
	}
	return ""
}

// differs says what an outcome has otherwise.
func (a recordedAnswer) differs(outcome podspec.Outcome, seen bool) string {
	spec := &outcome.Effective.Spec
	var own []corev1.ResourceRequirements
	for _, list := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
		for i := range list {
			own = append(own, list[i].Resources)
		}
	}
	switch {
	case seen && outcome.Verdict == podspec.Reject && a.Category != "" && refusedFor(outcome, a.Category) && outcome.Stage == podspec.StageQuota:
		return "" // the server takes quotas in no fixed order
	case outcome.Category != a.Category || (outcome.Verdict == podspec.Admit) != (a.Category == ""):
		return fmt.Sprintf("the verdict is %s %s", outcome.Verdict, outcome.Category)
	case seen && a.Category != "":
		return ""
	case outcome.QOS != a.QOS:
		return fmt.Sprintf("the class is %s, not %s", outcome.QOS, a.QOS)
	case !slices.EqualFunc(own, a.Amounts, sameRequirements):
		return "the amounts of containers differ"
	case (spec.Resources == nil) != (a.Level == nil), spec.Resources != nil && !sameRequirements(*spec.Resources, *a.Level):
		return "the amounts at pod level differ"
	case !sameList(stored(spec.Overhead), stored(a.Overhead)):
		return "the overhead differs"
	}
	if a.Category != "" || seen && a.Deltas == nil {
		return ""
	}
	for _, use := range outcome.Quotas {
		delta := use.Delta
		if seen {
			delta = stored(delta)
		}
		if !sameList(delta, a.Deltas[use.Name]) {
			return fmt.Sprintf("quota %s gets %v, not %v", use.Name, texts(use.Delta), texts(a.Deltas[use.Name]))
		}
	}
	return ""
}

// refusedFor says whether quotas refuse for a category.
func refusedFor(outcome podspec.Outcome, category podspec.Category) bool {
	return slices.ContainsFunc(outcome.Refusals(), func(f podspec.Finding) bool { return f.Stage == podspec.StageQuota && f.Category == category })
}

// stored rounds amounts as the API server does when it stores them; recorded answers are from the moment before.
func stored(list corev1.ResourceList) corev1.ResourceList {
	rounded := list.DeepCopy()
	for name, amount := range rounded {
		amount.RoundUp(resource.Milli)
		rounded[name] = amount
	}
	return rounded
}

func sameRequirements(a, b corev1.ResourceRequirements) bool {
	return sameList(a.Requests, b.Requests) && sameList(a.Limits, b.Limits)
}

func sameList(a, b corev1.ResourceList) bool {
	if len(a) != len(b) {
		return false
	}
	for name, quantity := range a {
		if other, ok := b[name]; !ok || quantity.Cmp(other) != 0 {
			return false
		}
	}
	return true
}
