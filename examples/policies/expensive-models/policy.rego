# METADATA
# description: Expensive models start only while less than a share of the budget is committed.
# custom:
#   params:
#     models: {type: strings, default: [opus, ultra], doc: names of expensive models}
#     ceiling: {type: int, default: 800, doc: thousandths of the budget}
package bursar.expensive_models

deny contains {"code": "expensive-model", "msg": msg} if {
	input.operation in {"Admit", "Renew"}
	input.task.model in data.params.models
	input.budget.cost.committedPermille >= data.params.ceiling
	msg := sprintf("model %s starts only below %d%% of budget %s", [input.task.model, floor(data.params.ceiling / 10), input.budget.name])
}
