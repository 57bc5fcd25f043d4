package live

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bursar-dev/bursar/podspec"
)

// Answer is what the API server said to a dry run.
type Answer struct {
	// Verdict is Admit, Reject, or VerdictUnknown where the server did not say: the caller may not create pods, the server
	// was not reached or was too busy.
	Verdict podspec.Verdict `json:"verdict"`
	// Diagnosis explains everything but Admit; it is the zero value there.
	Diagnosis podspec.Diagnosis `json:"diagnosis,omitzero"`
	// Accepted is the pod as it would be stored; nil unless the verdict is Admit and the name is free.
	Accepted *corev1.Pod `json:"accepted,omitempty"`
	// Taken says that a pod of this name exists. It would be admitted under another name.
	Taken bool `json:"taken,omitempty"`
}

// DryRun asks the API server what it would do with a pod, webhooks included, without doing it: nothing is stored and no
// quota is charged. The answer is that of this moment. The caller needs the right to create pods.
func DryRun(ctx context.Context, c client.Client, pod *corev1.Pod) Answer {
	sent := pod.DeepCopy()
	err := c.Create(ctx, sent, client.DryRunAll)
	if err == nil {
		return Answer{Verdict: podspec.Admit, Accepted: sent}
	}
	answer := Answer{Verdict: podspec.Reject, Diagnosis: podspec.ExplainError(err)}
	switch answer.Diagnosis.Category {
	case podspec.CategoryAlreadyExists:
		return Answer{Verdict: podspec.Admit, Taken: true}
	case podspec.CategoryRBAC, podspec.CategoryNetwork, podspec.CategoryThrottled, podspec.CategoryQuotaConflict, podspec.CategoryQuotaTimeout, podspec.CategoryOther:
		answer.Verdict = podspec.VerdictUnknown
	case podspec.CategoryWebhook:
		if answer.Diagnosis.Retry == podspec.RetryBackoff {
			answer.Verdict = podspec.VerdictUnknown // it could not be asked
		}
	default: // the others are the namespace's own words
	}
	return answer
}

// Judgement is what will happen to a pod, from both sides.
type Judgement struct {
	// Verdict is the server's own where it gave one, the prediction's otherwise.
	Verdict podspec.Verdict `json:"verdict"`
	// Prediction says why, with all findings, and what the pod will be.
	Prediction podspec.Prediction `json:"prediction"`
	// Answer is that of the dry run; nil if there was none.
	Answer *Answer `json:"answer,omitempty"`
	// Disagreements say where the server did otherwise than predicted: another verdict, or amounts that someone changed.
	// Webhooks, OpenShift and the provider of a cluster do such things, and a namespace may have changed in between.
	Disagreements []string `json:"disagreements,omitempty"`
}

// Checker predicts and asks.
type Checker struct {
	// Reader reads what the prediction needs. Required.
	Reader Reader
	// Options are those of the prediction.
	Options []podspec.PredictOption
	// Offline leaves out the dry run.
	Offline bool
}

// Check says what will happen to a pod in its namespace. The error tells what could not be read; the judgement is usable all
// the same unless the pod is nil.
func (c Checker) Check(ctx context.Context, pod *corev1.Pod) (Judgement, error) {
	if pod == nil {
		return Judgement{}, errors.New("check a pod: it is nil")
	}
	snapshot, unread := c.Reader.Read(ctx, pod.Namespace)
	prediction, err := podspec.Predict(snapshot, pod, c.Options...)
	if err != nil {
		return Judgement{}, err
	}
	judgement := Judgement{Verdict: prediction.Verdict, Prediction: prediction}
	if c.Offline {
		return judgement, unread
	}
	answer := DryRun(ctx, c.Reader.Client, pod)
	judgement.Answer = &answer
	if answer.Verdict == podspec.VerdictUnknown {
		return judgement, unread
	}
	// What the caller's options refuse is the caller's own will: the server has no say in it.
	plain := prediction
	if len(c.Options) > 0 {
		if plain, err = podspec.Predict(snapshot, pod); err != nil {
			return Judgement{}, err
		}
	}
	judgement.Disagreements = disagreements(&plain, &answer, snapshot.ServerMinor.Value)
	if prediction.Verdict != podspec.Reject || plain.Verdict == podspec.Reject {
		judgement.Verdict = answer.Verdict
	}
	return judgement, unread
}

// disagreements holds an answer against all outcomes that were predicted.
func disagreements(prediction *podspec.Prediction, answer *Answer, minor int) []string {
	outcomes := prediction.Alternatives
	if outcomes == nil {
		outcomes = []podspec.Outcome{prediction.Outcome}
	}
	var all []string
	for i := range outcomes {
		against := disagreement(&outcomes[i], answer, minor)
		if len(against) == 0 {
			return nil
		}
		if all == nil {
			all = against
		}
	}
	return all
}

func disagreement(o *podspec.Outcome, answer *Answer, minor int) []string {
	switch {
	case o.Verdict == podspec.VerdictUnknown:
		return nil
	case o.Verdict != answer.Verdict:
		return []string{fmt.Sprintf("predicted %s, and the server says %s: %s", o.Verdict, answer.Verdict, answer.Diagnosis.Message)}
	case o.Verdict == podspec.Reject && o.Category != answer.Diagnosis.Category:
		return []string{fmt.Sprintf("predicted %s, and the server refuses for %s: %s", o.Category, answer.Diagnosis.Category, answer.Diagnosis.Message)}
	case answer.Accepted == nil:
		return nil
	}
	var all []string
	accepted := podspec.VerifyAccepted(o.Effective, answer.Accepted, minor)
	for _, drift := range accepted.Drifts {
		all = append(all, drift.String())
	}
	return all
}
