package podspec

// Category is the class of a refusal or failure. Predictions and explanations share it, so that what was foreseen can be
// compared with what came.
type Category string

// Categories of refusals by an API server.
const (
	// CategoryInvalid: the object itself breaks a rule of the API (422); never retry it unchanged.
	CategoryInvalid Category = "Invalid"
	// CategoryLimitRange: a container or the pod is outside a LimitRange's min, max or ratio.
	CategoryLimitRange Category = "LimitRange"
	// CategoryPodSecurity: the pod breaks the namespace's PodSecurity level.
	CategoryPodSecurity Category = "PodSecurity"
	// CategoryQuotaMissing: a quota demands amounts that a container does not declare ("must specify").
	CategoryQuotaMissing Category = "QuotaMissing"
	// CategoryQuotaExceeded: the pod does not fit in what a quota has left.
	CategoryQuotaExceeded Category = "QuotaExceeded"
	// CategoryQuotaUnknownStatus: a quota's usage has not been counted yet; it passes.
	CategoryQuotaUnknownStatus Category = "QuotaUnknownStatus"
	// CategoryQuotaConflict: the quota's status was written by others too often at once (409).
	CategoryQuotaConflict Category = "QuotaConflict"
	// CategoryQuotaTimeout: the quota was not evaluated in time (500).
	CategoryQuotaTimeout Category = "QuotaTimeout"
	// CategoryQuotaUncovered: the cluster limits a resource or scope that no quota of the namespace covers.
	CategoryQuotaUncovered Category = "QuotaUncovered"
	// CategoryPriorityClass: the priority class does not exist, or contradicts the pod's priority.
	CategoryPriorityClass Category = "PriorityClass"
	// CategoryRuntimeClass: the runtime class does not exist, or contradicts the pod's overhead or node selector.
	CategoryRuntimeClass Category = "RuntimeClass"
	// CategoryServiceAccount: the service account does not exist.
	CategoryServiceAccount Category = "ServiceAccountMissing"
	// CategoryNamespaceTerminating: the namespace is being deleted.
	CategoryNamespaceTerminating Category = "NamespaceTerminating"
	// CategoryNamespaceMissing: the namespace does not exist.
	CategoryNamespaceMissing Category = "NamespaceMissing"
	// CategorySCC: no SecurityContextConstraints of OpenShift admits the pod.
	CategorySCC Category = "SCC"
	// CategoryAlreadyExists: a pod of this name exists. The failed attempt has been charged to the quotas all the same.
	CategoryAlreadyExists Category = "AlreadyExists"
	// CategoryWebhook: an admission webhook or policy refused, or could not be reached.
	CategoryWebhook Category = "Webhook"
	// CategoryRBAC: the caller may not create pods.
	CategoryRBAC Category = "RBAC"
	// CategoryThrottled: the API server asks to slow down (429).
	CategoryThrottled Category = "Throttled"
	// CategoryNetwork: the API server was not reached or did not answer.
	CategoryNetwork Category = "Network"
	// CategoryOther: anything else; the original text says what.
	CategoryOther Category = "Other"
)

// Categories of pods that were accepted and do not run.
const (
	// CategoryUnschedulable: no node takes the pod.
	CategoryUnschedulable Category = "Unschedulable"
	// CategorySchedulingGated: scheduling gates hold the pod back.
	CategorySchedulingGated Category = "SchedulingGated"
	// CategoryOutOfResource: the node itself refused the pod for want of a resource (OutOfcpu).
	CategoryOutOfResource Category = "OutOfResource"
	// CategoryEvicted: the node pushed the pod out.
	CategoryEvicted Category = "Evicted"
	// CategoryOOMKilled: a container used more memory than its limit.
	CategoryOOMKilled Category = "OOMKilled"
	// CategoryRunAsNonRoot: the image wants to run as root, or as a user without a number, and may not.
	CategoryRunAsNonRoot Category = "RunAsNonRoot"
	// CategoryContainerConfig: a container cannot be configured, for another reason.
	CategoryContainerConfig Category = "ContainerConfig"
	// CategoryImagePull: an image cannot be pulled.
	CategoryImagePull Category = "ImagePull"
	// CategoryKilled: a container ended by SIGKILL (137) and nothing says why.
	CategoryKilled Category = "Killed"
)

// Retry says whether and when to try again.
type Retry string

// What a retry waits for.
const (
	// RetryNever: the same object will be refused again.
	RetryNever Retry = "Never"
	// RetryBackoff: it may pass by itself; try again, later each time.
	RetryBackoff Retry = "Backoff"
	// RetryWhenUsageDrops: try again when something in the namespace ended.
	RetryWhenUsageDrops Retry = "WhenUsageDrops"
	// RetryWhenSynced: try again when the quota controller has counted, in seconds.
	RetryWhenSynced Retry = "WhenSynced"
)

// retryOf is the usual advice for a category.
func retryOf(category Category) Retry {
	switch category {
	case CategoryQuotaExceeded, CategoryUnschedulable, CategoryOutOfResource:
		return RetryWhenUsageDrops
	case CategoryQuotaUnknownStatus:
		return RetryWhenSynced
	case CategoryQuotaConflict, CategoryQuotaTimeout, CategoryServiceAccount, CategoryThrottled, CategoryNetwork, CategoryEvicted, CategoryImagePull:
		return RetryBackoff
	default:
		return RetryNever
	}
}
