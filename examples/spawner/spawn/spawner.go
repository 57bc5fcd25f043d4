package spawn

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/podspec"
	"github.com/bursar-dev/bursar/podspec/live"
)

// LabelProfile carries the profile of a pod.
const LabelProfile = "bursar.dev/profile"

// Workload is what somebody wants to run.
type Workload struct {
	// ID is unique in the namespace: a DNS label of at most 40 characters.
	ID string `json:"id"`
	// Profile is the name of the size.
	Profile string `json:"profile"`
}

// Spawner runs workloads. It may be used by several goroutines at once.
type Spawner struct {
	// Reader reads what decides in the namespace, and its Client creates and lists the pods.
	Reader live.Reader
	// Namespace is where all pods are.
	Namespace string
	// Image is what they run.
	Image string
	// Profiles are the sizes.
	Profiles podspec.Profiles
}

// Spawned is a workload that has a pod.
type Spawned struct {
	Pod     *corev1.Pod
	Adopted bool
	// Said are the adjustments and cautions that somebody should read.
	Said []string
}

// A RejectedError is a pod that was not sent, because the namespace would refuse it.
type RejectedError struct {
	Workload Workload
	Outcome  podspec.Outcome
}

// Error lists what is wrong and what to change.
func (e *RejectedError) Error() string {
	reasons := make([]string, 0, len(e.Outcome.Findings))
	for _, finding := range e.Outcome.Refusals() {
		reasons = append(reasons, finding.String())
	}
	return fmt.Sprintf("workload %s (%s) would be refused: %s", e.Workload.ID, e.Workload.Profile, strings.Join(reasons, "; "))
}

// Retry says whether the same workload may fit later: only where every refusal may pass.
func (e *RejectedError) Retry() podspec.Retry {
	advice := podspec.RetryNever
	for _, finding := range e.Outcome.Refusals() {
		if finding.Retry == podspec.RetryNever {
			return podspec.RetryNever
		}
		advice = finding.Retry
	}
	return advice
}

// Pod is the pod of a workload: named after it, sized by its profile, labelled so that it is found again, and hardened.
func (s *Spawner) Pod(w Workload) (*corev1.Pod, []string, error) {
	if wrong := validation.IsDNS1123Label(w.ID); len(wrong) > 0 || len(w.ID) > 40 {
		return nil, nil, fmt.Errorf("workload id %.50q: it must be a DNS label of at most 40 characters: %s", w.ID, strings.Join(wrong, "; "))
	}
	size, err := s.Profiles.Size(w.Profile)
	if err != nil {
		return nil, nil, err
	}
	plain := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "run-" + w.ID, Labels: map[string]string{LabelProfile: w.Profile}},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "main", Image: s.Image, Env: []corev1.EnvVar{{Name: "WORKLOAD_ID", Value: w.ID}}}},
		},
	}
	sized, _, err := podspec.Apply(plain, podspec.Plan{Size: size, Identity: podspec.Identity{Workload: w.ID}})
	if err != nil {
		return nil, nil, fmt.Errorf("size the pod of workload %s: %w", w.ID, err)
	}
	hard, result, err := podspec.Harden(sized, podspec.Hardening{})
	return hard, result.Notes, err
}

// Spawn gives a workload its pod, the one it has already or a new one. A pod that the namespace would refuse is not sent: the
// error is a *RejectedError that says why. What the prediction did not foresee is a *live.RefusedError.
func (s *Spawner) Spawn(ctx context.Context, w Workload) (Spawned, error) {
	pod, notes, err := s.Pod(w)
	if err != nil {
		return Spawned{}, err
	}
	creator := live.Creator{Client: s.Reader.Client}
	// A pod that is there needs no room: look before judging, in a full namespace too.
	switch err := s.Reader.Client.Get(ctx, client.ObjectKeyFromObject(pod), &corev1.Pod{}); {
	case err == nil:
	case client.IgnoreNotFound(err) != nil:
		return Spawned{}, err
	default:
		said, err := s.foresee(ctx, w, pod)
		if err != nil {
			return Spawned{}, err
		}
		notes = append(notes, said...)
	}
	made, err := creator.Create(ctx, pod)
	if err != nil {
		return Spawned{}, err
	}
	return Spawned{Pod: made.Pod, Adopted: made.Adopted, Said: notes}, nil
}

// foresee predicts what the namespace will say; amounts that a LimitRange would make up count as refused.
func (s *Spawner) foresee(ctx context.Context, w Workload, pod *corev1.Pod) ([]string, error) {
	snapshot, err := s.Reader.Read(ctx, s.Namespace)
	if err != nil {
		return nil, err
	}
	prediction, err := podspec.Predict(snapshot, pod, podspec.StrictSizing())
	if err != nil {
		return nil, err
	}
	if prediction.Verdict == podspec.Reject {
		return nil, &RejectedError{Workload: w, Outcome: prediction.Outcome}
	}
	said := slices.Clone(prediction.Caveats)
	for _, finding := range prediction.Findings {
		said = append(said, finding.String())
	}
	return said, nil
}

// Status is how a workload is doing.
type Status struct {
	Workload

	Pod   string          `json:"pod"`
	Phase corev1.PodPhase `json:"phase"`
	// Troubles say why the pod does not run, or ended badly.
	Troubles []podspec.Diagnosis `json:"troubles,omitempty"`
}

// Workloads are all that have a pod, whoever made it, sorted by id.
func (s *Spawner) Workloads(ctx context.Context) ([]Status, error) {
	var pods corev1.PodList
	if err := s.Reader.Client.List(ctx, &pods, client.InNamespace(s.Namespace), client.MatchingLabelsSelector{Selector: podspec.Managed()}); err != nil {
		return nil, err
	}
	all := make([]Status, 0, len(pods.Items))
	for i := range pods.Items {
		pod := &pods.Items[i]
		all = append(all, Status{
			Workload: Workload{ID: pod.Labels[podspec.LabelWorkload], Profile: pod.Labels[LabelProfile]},
			Pod:      pod.Name, Phase: pod.Status.Phase, Troubles: podspec.ExplainPod(pod, nil),
		})
	}
	slices.SortFunc(all, func(a, b Status) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}

// Stop deletes the pod of a workload; one that has none is stopped already.
func (s *Spawner) Stop(ctx context.Context, id string) error {
	selector, err := podspec.Identity{Workload: id}.Selector()
	if err != nil || id == "" {
		return fmt.Errorf("workload id %.50q: %w", id, podspec.ErrLabel)
	}
	return s.Reader.Client.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(s.Namespace), client.MatchingLabelsSelector{Selector: selector})
}
