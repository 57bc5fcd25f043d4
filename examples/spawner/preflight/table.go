package preflight

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	corev1 "k8s.io/api/core/v1"

	"github.com/bursar-dev/bursar/podspec"
	"github.com/bursar-dev/bursar/podspec/live"
)

func (o options) print(w io.Writer, pod *corev1.Pod, j live.Judgement) error {
	if o.asJSON {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(struct {
			Namespace string `json:"namespace"`
			Pod       string `json:"pod"`
			live.Judgement
		}{pod.Namespace, pod.Name, j})
	}
	t := &table{out: tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	t.head(pod, &j)
	t.containers(&j.Prediction.Effective.Spec)
	t.quotas(j.Prediction.Quotas)
	t.findings(&j)
	if t.err != nil {
		return t.err
	}
	return t.out.Flush()
}

// table writes lines until one fails.
type table struct {
	out *tabwriter.Writer
	err error
}

func (t *table) line(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.out, format+"\n", args...)
	}
}

func (t *table) head(pod *corev1.Pod, j *live.Judgement) {
	t.line("pod\t%s/%s", pod.Namespace, pod.Name)
	t.line("verdict\t%s", j.Verdict)
	predicted := string(j.Prediction.Verdict)
	if j.Prediction.Category != "" {
		predicted += ", " + string(j.Prediction.Category)
	}
	t.line("predicted\t%s", predicted)
	switch {
	case j.Answer == nil:
		t.line("dry run\tnot made")
	case j.Answer.Taken:
		t.line("dry run\t%s, but the name is taken", j.Answer.Verdict)
	case j.Answer.Verdict == podspec.Admit:
		t.line("dry run\t%s", j.Answer.Verdict)
	default:
		t.line("dry run\t%s, %s: %s", j.Answer.Verdict, j.Answer.Diagnosis.Category, j.Answer.Diagnosis)
	}
	t.line("QoS class\t%s", j.Prediction.QOS)
}

// containers are the amounts that the pod will have.
func (t *table) containers(spec *corev1.PodSpec) {
	t.line("\nCONTAINER\tREQUESTS\tLIMITS")
	row := func(kind string, list []corev1.Container) {
		for i := range list {
			t.line("%s%s\t%s\t%s", kind, list[i].Name, amounts(list[i].Resources.Requests), amounts(list[i].Resources.Limits))
		}
	}
	row("", spec.Containers)
	row("init ", spec.InitContainers)
	if spec.Resources != nil {
		t.line("(pod)\t%s\t%s", amounts(spec.Resources.Requests), amounts(spec.Resources.Limits))
	}
}

func (t *table) quotas(uses []podspec.QuotaUse) {
	if len(uses) == 0 {
		return
	}
	t.line("\nQUOTA\tNEEDS\tLEFT\tFITS")
	for i := range uses {
		use := &uses[i]
		fits := "yes"
		switch {
		case !use.Matches:
			fits = "does not apply"
		case !use.Fits && !use.CanEverFit:
			fits = "never"
		case !use.Fits:
			fits = "not now"
		case !use.Synced:
			fits = "not counted yet"
		}
		t.line("%s\t%s\t%s\t%s", use.Name, amounts(use.Delta), amounts(use.Headroom), fits)
	}
}

func (t *table) findings(j *live.Judgement) {
	if len(j.Prediction.Findings) > 0 {
		t.line("\nSTAGE\tFINDING\tWHAT AND WHY")
	}
	for _, finding := range j.Prediction.Findings {
		t.line("%s\t%s\t%s", finding.Stage, finding.Severity, finding)
	}
	for _, disagreement := range j.Disagreements {
		t.line("\nThe server does otherwise: %s", disagreement)
	}
	for i, caveat := range j.Prediction.Caveats {
		if i == 0 {
			t.line("")
		}
		t.line("Note: %s.", caveat)
	}
}

// amounts are written on one line, a dash for none.
func amounts(list corev1.ResourceList) string {
	if len(list) == 0 {
		return "-"
	}
	all := make([]string, 0, len(list))
	for name, quantity := range list {
		all = append(all, string(name)+"="+quantity.String())
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}
