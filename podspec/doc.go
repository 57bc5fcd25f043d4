// Package podspec decides what a pod may consume: it reads sizes exactly, writes them on pods without touching
// anything else, and says beforehand what a namespace will answer.
//
// # Sizes
//
// A [Size] holds one exact amount per dimension (cpu, memory, ephemeral storage, GPUs and other extended resources)
// together with the place it came from. A dimension that nobody set is absent, which is not zero. Sizes are written
// in code with [NewSize], read from an environment with [ProfilesFromEnv], merged per dimension with [Resolve], and
// become the resources of a container with [BuildPodResources], where request equals limit (Guaranteed QoS).
//
//	size, err := podspec.NewSize(podspec.Cores(2), podspec.MiB(1024))
//	resources, err := podspec.BuildPodResources(size)        // cpu "2", memory "1Gi", requests and limits
//	sized, report, err := podspec.Apply(pod, podspec.Plan{Main: "bot", Size: size, Identity: podspec.Identity{Workload: id}})
//
// Policies may bound a size: [Review] asks a hook before BuildPodResources answers, or [Heed] takes a verdict that is there
// already. The lesser wins in each dimension, and what was lowered is reported.
//
// # What the namespace will say
//
// [Predict] takes a [Snapshot] of a namespace and a pod through the stages of the API server, and says what it will
// answer and why, with the pod as it would be stored. [Fit] uses it to find a size that is admitted. [Harden] makes a pod
// pass PodSecurity "restricted", [NodeRoom] and [Outcome.QuotaRoom] count how many more fit. After the fact, [ExplainError]
// and [ExplainPod] turn refusals and failures into a category, figures and a remedy, [VerifyAccepted] compares what was
// accepted with what was meant, and [StaleUsage] finds quotas that count too much. A snapshot is read by package
// podspec/live, or written in a test, on top of [PlainCluster].
//
//	snapshot := podspec.PlainCluster(37)
//	snapshot.ResourceQuotas = podspec.Known(quotas)
//	prediction, err := podspec.Predict(snapshot, pod)
//	if prediction.Verdict != podspec.Admit {
//		for _, finding := range prediction.Findings {
//			log.Print(finding)
//		}
//	}
//
// # Laws
//
//   - Numbers are exact. A cpu amount is a whole number of millicores, memory a whole number of bytes; what is finer is
//     refused or rounded up once, by a rule that is written down (see [Rules]). NaN, infinities and overflow cannot be
//     stored.
//   - One value per dimension sets both request and limit. Nothing in this package writes a request above a limit.
//   - Layers merge per dimension: a spec that sets cpu only keeps the memory of its profile.
//   - Apply changes resource amounts and two labels and nothing else, never changes its argument, and applying it twice
//     is applying it once.
//   - A prediction is exact or says that it is not: what hangs on something unknown is Unknown, never Admit, and where the
//     server's own order is not fixed, all outcomes are given. It is advice all the same: between the reading of a
//     snapshot and the creation of a pod, others may use up the quota. The authority is a dry-run create.
//   - An explanation never guesses: text that is not recognised keeps its words and gets no category but Other.
//   - Every fault is reported, not only the first one, and each names the field, the text and what to write instead.
//
// # What it does not do
//
// The package has no client, no clock and no environment: callers pass in what they read. It never sends a pod anywhere
// and never retries; package podspec/live reads, asks and creates. Every function but Review, which asks a hook, is pure;
// all are safe for concurrent use as long as no one writes to their arguments.
package podspec
