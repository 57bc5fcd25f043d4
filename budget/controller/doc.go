// Package controller lets hosts that are built on controller-runtime govern what
// their tasks spend: it reads budgets, records and holds from the API server,
// asks package budget, and writes down what follows.
//
// # Tour
//
//   - [SetupWithManager] adds to a manager what keeps budgets, and gives the
//     [Book]: the rules and the ledger, in memory.
//   - [Host] says once how the host's tasks are read.
//   - [Gate.Admit] asks whether a task may start; [Gate.Wakeups] wakes those
//     that wait when that changes. [Gate.Release] lets go of a task that will
//     not start.
//   - [Recorder.Record] records what a finished task has spent.
//   - [Check] puts a decision into the words of a queue such as Kueue, and
//     [Stash] and [Restore] help with conversion webhooks.
//
// # Wiring
//
// Bursar's types have to be in the scheme, and its resources installed (package
// [github.com/bursar-dev/bursar/budget/install] does that), before the manager is
// made: a cache with [CacheObjects] asks for them at once.
//
//	err := budgetv1alpha1.AddToScheme(scheme)         // beside the host's own
//	err = install.Install(ctx, c, install.Options{}) // with a client that has no cache
//	mgr, err := ctrl.NewManager(config, ctrl.Options{
//		Scheme: scheme, Cache: cache.Options{ByObject: controller.CacheObjects()},
//	})
//	book, err := controller.SetupWithManager(ctx, mgr, controller.Options{})
//	host := controller.Host[*v1.AgentTask]{
//		New:        func() *v1.AgentTask { return &v1.AgentTask{} },
//		Conditions: func(t *v1.AgentTask) *[]metav1.Condition { return &t.Status.Conditions },
//		Completion: completionOf, // phase, times and results of a finished task
//	}
//	gate, err := controller.NewGate(book, host)
//	recorder, err := controller.NewRecorder(book, host)
//	err = ctrl.NewControllerManagedBy(mgr).For(&v1.AgentTask{}).
//		WatchesRawSource(gate.Wakeups()).Complete(reconciler)
//
// Where tasks are Jobs or Pods, whose conditions are of types of their own, the
// host has OwnConditions: controller.JobConditions() in place of Conditions, and
// controller.UnstructuredConditions() where tasks have no type in Go.
//
// And in the reconciler, for a task that has finished and one that has not
// started:
//
//	if finished(task) {
//		return ctrl.Result{}, errors.Join(r.cleanUp(ctx, task), r.recorder.Record(ctx, task))
//	}
//	answer, err := r.gate.Admit(ctx, task)
//	if err != nil || !answer.Admitted {
//		return ctrl.Result{RequeueAfter: answer.RequeueAfter}, err
//	}
//	return ctrl.Result{}, r.startPod(ctx, task)
//
// Policies are the host's to bring in, with the engine of its choice: CEL inside
// budgets, and a folder of Rego for all tasks. The same options go to the
// webhook:
//
//	compile := []budget.CompileOption{budget.WithPolicies(cel.CompileRules)}
//	holder := &policy.Holder{}
//	book, err := controller.SetupWithManager(ctx, mgr, controller.Options{Compile: compile, Policies: holder})
//	err = book.ReloadPolicies(ctx, load) // and again when the folder has changed
//
// load reads the folder with rego.Load or cel.LoadFS and makes a policy.Set of
// the hooks, see the example.
//
// # Laws
//
// Hold, then work; record, then the hold is deleted. Whatever a process was doing
// when it ended, the next one comes to the same sums: no spend is lost, none
// counts twice, and no hold stays for ever. A hold counts until its record is
// seen or is known not to be, in whatever order watches deliver the two.
//
// Nothing is admitted before the caches have synced, nor when a hold can't be
// stored. A record or a hold that can't be read makes every budget that it might
// count in refuse, and the budget says so.
//
// Policies only tighten. They are asked where the budgets have room, on a
// snapshot of the figures and outside of every lock; the arithmetic is made anew
// before the hold is entered. Each answer comes from one set of policies. One that
// fails, or was never loaded, refuses.
//
// The labels that decide where a task's spend counts are taken down in its
// TaskHold when it is admitted for the first time. Nothing that a user may edit
// afterwards changes them.
//
// Spend exceeds a limit by no more than the sum, over the tasks, of what each
// spent beyond what was held for it. Under [LeaderElection] that rests on one
// replica admitting at a time, and under [Fenced] on the API server alone.
//
// Deleting a task is no way out: see [ChargeOrphans]. A host that wants the exact
// figures of tasks that are deleted while they run keeps them, with a finalizer,
// until they are recorded.
//
// # Metrics
//
// None has a label per task. Amounts are in the unit of the meter, dollars for
// costUSD.
//
//	bursar_admissions_total{outcome, reason}         answers of gates
//	bursar_admission_duration_seconds                how long they take, API calls included
//	bursar_waiting_tasks{namespace}                  tasks that wait for a budget
//	bursar_records_total{meter, basis}               figures of records that were written
//	bursar_budget_used{namespace, budget, meter}     and _held, _limit and _ratio, in the current window
//	bursar_policy_errors_total{code}                 errors of policies, each of which refuses
//	bursar_policy_reloads_total{outcome}             and bursar_policies_stale, 1 after one that failed
//	bursar_ledger_items{namespace, kind}             records and holds in memory
//
// # What it does not do
//
// It starts no task and stops none, and it links no policy engine. It does not
// list anything on the way of an admission, and it watches no folder.
package controller
