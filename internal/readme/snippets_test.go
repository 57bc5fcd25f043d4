package readme_test

import (
	"context"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/bursar-dev/bursar/budget"
	"github.com/bursar-dev/bursar/podspec"
	"github.com/bursar-dev/bursar/usage"
)

// The pieces of code that the README shows and no example has in these words.
// They only have to compile.
var (
	_ = reserve
	_ = size
	_ = predict
	_ = retry
)

func retry(decision budget.Decision) {
	fmt.Println(decision.RetryAt.Format(time.RFC3339))
}

func reserve(_ context.Context, clock clock.Clock, task budget.Task, rules []*budget.Rule, rule *budget.Rule, prices *usage.PriceList, finished time.Time) (ctrl.Result, error) {
	ledger := usage.NewMemory(rule.Scope())
	d := budget.Reserve(ledger, budget.Input{Task: task, Rules: rules, Now: clock.Now()}, 8*time.Hour)
	if !d.Allowed {
		return ctrl.Result{RequeueAfter: d.RequeueAfter()}, nil
	}
	record, err := usage.RecordUsage(usage.Completion{
		Task:           usage.Task{UID: task.UID, Namespace: task.Namespace, Model: "opus"},
		Phase:          usage.Succeeded,
		CompletionTime: finished,
		Results:        map[string]string{"cost-usd": "3.20"},
		Hold:           d.Hold,
		Prices:         prices,
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := ledger.Add(record); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, nil
}

func size(pod *corev1.Pod, fromSpec podspec.Size, id string) (*corev1.Pod, error) {
	profiles, err := podspec.ProfilesFromEnv(os.LookupEnv)
	if err != nil {
		return nil, err
	}
	size, err := profiles.Size("meeting-bot", fromSpec)
	if err != nil {
		return nil, err
	}
	resources, err := podspec.BuildPodResources(size)
	if err != nil {
		return nil, err
	}
	sized, report, err := podspec.Apply(pod, podspec.Plan{Main: "bot", Size: size, Identity: podspec.Identity{Workload: id}})
	fmt.Println(resources, report)
	return sized, err
}

func predict(sized *corev1.Pod, quotas []corev1.ResourceQuota) (podspec.Verdict, error) {
	snapshot := podspec.PlainCluster(37)
	snapshot.ResourceQuotas = podspec.Known(quotas)
	prediction, err := podspec.Predict(snapshot, sized)
	return prediction.Verdict, err
}
