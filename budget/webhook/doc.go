// Package webhook judges TaskBudgets before they are stored, on the webhook
// server that the host has already:
//
//	err := webhook.SetupWithManager(mgr, webhook.Options{})
//
// and one ValidatingWebhookConfiguration, which [Configuration] gives.
//
// # Laws
//
// Errors come from [budget.Compile] and from nothing else, so that the webhook,
// the gate and the budget's status cannot disagree, as long as they are given the
// same [Validator.Compile]. What the API server checks by
// itself (the CRD's schema and CEL rules) is a part of that; what only Compile
// knows is the rest: label syntax in selectors, record lifetimes that are shorter
// than a window, amounts above 64 bits.
//
// Only a change of the spec is judged. A budget that was stored before the
// webhook was there, and is bad, still refuses what it matches; its labels and
// finalizers can be changed all the same, and it can be deleted, whether or not
// it can be read. Its spec can only be replaced by one that compiles.
//
// [Warnings] are for what is legal and suspicious. They are shown by kubectl and
// forbid nothing.
//
// # What it does not do
//
// It does not look at TaskRecords and TaskHolds: the API server checks them, and
// a webhook that is down must never keep what was spent from being written. It
// reads nothing from the cluster and serves no certificate.
package webhook
