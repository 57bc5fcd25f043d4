package policies_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursar-dev/bursar/policy"
)

// goPolicies are the eight policies once more, in Go.
var goPolicies = map[string]func(*policy.Input) policy.Verdict{
	"bigger-pod":       biggerPod,
	"burn-rate":        burnRate,
	"business-hours":   businessHours,
	"denied-models":    deniedModels,
	"expensive-models": expensiveModels,
	"memory-cap":       memoryCap,
	"owner-label":      ownerLabel,
	"task-cost-cap":    taskCostCap,
}

func goPolicy(name string) (policy.Hook, error) {
	evaluate, ok := goPolicies[name]
	if !ok {
		return nil, fmt.Errorf("no policy in Go for %s", name)
	}
	return policy.Func(name, func(_ context.Context, in *policy.Input) (policy.Verdict, error) {
		return evaluate(in), nil
	}), nil
}

func expensiveModels(in *policy.Input) policy.Verdict {
	asked := in.Operation == policy.Admit || in.Operation == policy.Renew
	if asked && slices.Contains([]string{"opus", "ultra"}, in.Task.Model) && in.Budget.Cost.CommittedPermille >= 800 {
		return policy.Refuse("expensive-model", fmt.Sprintf("model %s starts only below 80%% of budget %s", in.Task.Model, in.Budget.Name))
	}
	return policy.Pass()
}

func taskCostCap(in *policy.Input) policy.Verdict {
	v := policy.Pass()
	ceiling := int64(500_000)
	switch in.Task.Priority {
	case "high":
		ceiling = 25_000_000
	case "normal":
		ceiling = 5_000_000
	}
	if in.Operation != policy.Admit && in.Operation != policy.Renew {
		return v
	}
	if in.Operation == policy.Admit && in.Estimate.CostKnown && in.Estimate.CostMicros > ceiling {
		v = policy.Refuse("estimate-too-high", fmt.Sprintf("the estimate of %.2f USD exceeds %.2f USD per task",
			float64(in.Estimate.CostMicros)/1e6, float64(ceiling)/1e6))
	}
	if in.Operation == policy.Admit && !in.Estimate.CostKnown {
		v.Warnings = []policy.Reason{{Code: "estimate-unknown", Message: "the cost of the task is not known; it is capped"}}
	}
	v.Caps.MaxCostMicros = &ceiling
	return v
}

func businessHours(in *policy.Input) policy.Verdict {
	zone, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		return policy.Verdict{}
	}
	local := in.Now.In(zone)
	workday := local.Weekday() != time.Saturday && local.Weekday() != time.Sunday
	if in.Operation != policy.Admit || in.Task.Priority == "urgent" || workday && local.Hour() >= 9 && local.Hour() < 18 {
		return policy.Pass()
	}
	return policy.HoldFor(15*time.Minute, "outside-business-hours", "tasks start on workdays from 9:00 to 18:00, Europe/Paris")
}

func deniedModels(in *policy.Input) policy.Verdict {
	switch model := in.Task.Model; {
	case in.Operation != policy.Admit:
	case model == "":
		return policy.Refuse("model-missing", "the task names no model")
	case model == "legacy-1" || strings.HasPrefix(model, "preview-"):
		return policy.Refuse("model-denied", "model "+model+" may not be used")
	}
	return policy.Pass()
}

func biggerPod(in *policy.Input) policy.Verdict {
	if in.Operation != policy.BuildPod {
		return policy.Pass()
	}
	if in.Task.Labels["size"] == "large" {
		return policy.Verdict{Outcome: policy.Allow, Labels: map[string]string{"bursar.dev/size": "large"}}
	}
	if in.Pod.CPUMilli > 4000 || in.Pod.MemoryBytes > 8<<30 || in.Pod.GPUs > 0 {
		return policy.Refuse("too-big", "a pod of this size needs the label size=large")
	}
	return policy.Pass()
}

func memoryCap(in *policy.Input) policy.Verdict {
	v := policy.Pass()
	if in.Operation != policy.BuildPod {
		return v
	}
	limit, listed := map[string]int64{"meeting-bot": 2 << 30, "agent-worker": 6 << 30}[in.Pod.Profile]
	if !listed {
		limit = 1 << 30
	}
	if in.Pod.Profile == "agent-worker" && in.Pod.MemoryBytes > limit {
		v.Warnings = []policy.Reason{{Code: "capped", Message: "the profile agent-worker has at most 6Gi"}}
	}
	v.Caps.MemoryBytes = &limit
	return v
}

func burnRate(in *policy.Input) policy.Verdict {
	cost, period := in.Budget.Cost, in.Budget.Period
	excess := cost.CommittedPermille - 200 - period.ElapsedPermille
	if in.Operation != policy.Admit || !period.Bounded || cost.Unlimited || excess <= 0 {
		return policy.Pass()
	}
	seconds := (period.EndUnixMs - period.StartUnixMs) / 1000
	return policy.HoldFor(time.Duration(excess*seconds/1000+1)*time.Second, "burning-too-fast",
		fmt.Sprintf("budget %s is %d thousandths ahead of its pace", in.Budget.Name, excess))
}

func ownerLabel(in *policy.Input) policy.Verdict {
	owner := in.Task.Labels["owner"]
	switch {
	case in.Operation == policy.Admit && in.Task.Namespace != "sandbox" && owner == "":
		return policy.Refuse("owner-missing", "the label owner is required")
	case in.Operation == policy.RecordUsage && owner != "":
		return policy.Verdict{Outcome: policy.Allow, Labels: map[string]string{"bursar.dev/owner": owner}}
	}
	return policy.Pass()
}
